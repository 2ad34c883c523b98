"""Small uses of each private name of TensorFlow, which fail if a release has changed it."""

from __future__ import annotations

import contextlib
import pkgutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_bridge import tensorflow_private as private

__all__ = ["PROBES"]

Probe = Callable[[], None]

# By the probed names.
PROBES: dict[tuple[str, ...], Probe] = {}

v1 = tf.compat.v1
_train = v1.train


def _probe(*names: str) -> Callable[[Probe], Probe]:
    def added(function: Probe) -> Probe:
        PROBES[names] = function
        return function

    return added


def _check(is_so: Any, what: str) -> None:
    if not is_so:
        raise AssertionError(what)


@contextlib.contextmanager
def _graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def _types(graph: tf.Graph) -> list[str]:
    return [op.type for op in graph.get_operations()]


# Imported as they are.


@_probe("eager_context", "eager_mode", "reset_eager_context")
def _eager() -> None:
    with _graph(), private.eager_mode():
        _check(tf.executing_eagerly(), "eager_mode is not eager inside a graph")
    for name in ("call_function", "configure_coordination_service", "_collective_ops_server_def"):
        _check(hasattr(private.eager_context(), name), f"the eager context has no {name}")
    _check(callable(private.reset_eager_context), "it is no function")


@_probe("SessionInterface")
def _session() -> None:
    with _graph(), v1.Session() as session:
        _check(isinstance(session, private.SessionInterface), "a Session is none")


@_probe("PerReplica")
def _per_replica() -> None:
    values = private.PerReplica([tf.constant(1), tf.constant(2)])
    _check(len(values.values) == 2, "its values are gone")


@_probe("IndexedSlicesValue")
def _slices() -> None:
    _check(private.IndexedSlicesValue._fields == ("values", "indices", "dense_shape"), "fields")


@_probe("op_def")
def _op_def() -> None:
    _check(private.op_def("RandomUniform").is_stateful, "RandomUniform is not stateful")
    _check(private.op_def("NoSuchOperation") is None, "an unknown operation is known")


@_probe("BaseResourceVariable", "UninitializedVariable")
def _resource_variable() -> None:
    with _graph():
        made = private.UninitializedVariable(shape=[2], dtype=tf.float32, name="w")
        _check(isinstance(made, private.BaseResourceVariable), "it is of another class")
        _check(made.shape == [2] and made.op.type == "VarHandleOp", "another operation")


@_probe("lookup_ops")
def _lookup() -> None:
    with _graph(), v1.Session() as session:
        table = private.lookup_ops.index_table_from_tensor(["a", "b"])
        found = table.lookup(tf.constant(["b", "z"]))
        session.run(v1.tables_initializer())
        _check(session.run(found).tolist() == [1, -1], "ids are others")


@_probe("contrib_summary", "contrib_should_record_summaries")
def _summary() -> None:
    with _graph(), v1.Session() as session, tempfile.TemporaryDirectory() as folder:
        with private.contrib_summary.create_file_writer(folder).as_default():
            silent = tf.identity(private.contrib_should_record_summaries())
            with private.contrib_summary.always_record_summaries():
                always = tf.identity(private.contrib_should_record_summaries())
        _check(session.run([silent, always]) == [False, True], "when it records has changed")
    for name in ("all_v2_summary_ops", "generic", "graph_v1", "legacy_raw_flush", "scalar"):
        _check(hasattr(private.contrib_summary, name), f"{name} is gone")


@_probe("KMeansGraph")
def _kmeans() -> None:
    with _graph():
        made = private.KMeansGraph(tf.zeros([4, 2]), 2, use_mini_batch=False)
        _check(len(made.training_graph()) >= 5, "training_graph() returns fewer values")


@_probe("saved_model_utils", "function_utils", "nest", "dataset_options")
def _modules() -> None:
    _check(private.saved_model_utils.EXPORT_TAG_MAP, "EXPORT_TAG_MAP is gone")
    _check(private.function_utils.fn_args(lambda x, y: x) == ("x", "y"), "fn_args differ")
    _check(private.nest.flatten_up_to([1, 2], [[3], 4]) == [[3], 4], "flatten_up_to differs")
    _check(private.dataset_options.Options().DESCRIPTOR.fields_by_name["deterministic"], "gone")


@_probe("tpu_feature_columns", "EMBEDDING_COLUMN", "SHARED_EMBEDDING_COLUMN", "shared_table_name",
        "CORE_EMBEDDING_COLUMNS", "columns_as_on_a_cpu", "is_v2_column")  # fmt: skip
def _columns() -> None:
    plain = [tf.feature_column.categorical_column_with_identity(key, 4) for key in "ab"]
    _check(private.is_v2_column(plain[0]), "a column of tf.feature_column is V1's")
    one = v1.tpu.experimental.embedding_column(plain[0], 2)
    shared = v1.tpu.experimental.shared_embedding_columns(plain, 2)
    _check(isinstance(one, private.EMBEDDING_COLUMN), "embedding_column is of another class")
    _check(isinstance(shared[0], private.SHARED_EMBEDDING_COLUMN), "shared ones are of another")
    _check(private.shared_table_name(shared[0]) == "a_b_shared_embedding", "the table's name")
    _check(len(private.CORE_EMBEDDING_COLUMNS) == 2, "those on a core")
    with private.columns_as_on_a_cpu():
        _check(private.tpu_feature_columns._is_running_on_cpu(), "it does not count")


@_probe("tpu_training_loop", "tpu_ops", "TPUInfeedQueue", "get_tpu_context")
def _tpu() -> None:
    context = private.get_tpu_context()
    before = context.number_of_shards
    context.set_number_of_shards(3)
    _check(v1.tpu.CrossShardOptimizer and context.number_of_shards == 3, "the number of shards")
    context.set_number_of_shards(before)
    with _graph(), v1.Session() as session:
        turns = private.tpu_training_loop.repeat(3, lambda x: x + 1, [tf.constant(0)])
        _check(session.run(turns[0] if isinstance(turns, list) else turns) == 3, "repeat")
    for name in ("infeed_dequeue_tuple", "infeed_enqueue_tuple", "outfeed_enqueue_tuple"):
        _check(hasattr(private.tpu_ops, name), f"{name} is gone")
    _check(private.TPUInfeedQueue(number_of_tuple_elements=2).number_of_tuple_elements == 2, "it")


@_probe("existing_global_step_read", "global_step_read")
def _step_read() -> None:
    with _graph():
        _check(private.existing_global_step_read() is None, "there is one before it is made")
        _train.get_or_create_global_step()
        _check(private.global_step_read() is private.existing_global_step_read(), "two reads")


@_probe("control_flow_util_v2", "gen_xla_ops", "XLAControlFlowContext", "xla_context",
        "xla_context_of_cpus", "loops_keep_what_gradients_need", "xla_all_reduce",
        "xla_replica_id")  # fmt: skip
def _xla() -> None:
    with _graph() as graph:
        with private.xla_context_of_cpus(), private.loops_keep_what_gradients_need():
            _check(private.control_flow_context(graph) is not None, "there is no XLA context")
            x = tf.zeros([4])
            tf.gradients(tf.slice(x, [1], [2]), x)
        _check("XlaDynamicUpdateSlice" not in _types(graph), "a gradient has XLA's operation")
        with private.xla_context():
            private.xla_all_reduce(tf.zeros([2]), [[0, 1]], "sum")
            private.xla_replica_id()
        _check({"XlaAllReduce", "XlaReplicaId"} <= set(_types(graph)), "operations of other types")
        _check(private.control_flow_context(graph) is None, "the context was not left")


@_probe("INHERITED")
def _inherited() -> None:
    for place, words in private.INHERITED.items():
        kind = pkgutil.resolve_name(place)
        there = {name for parent in kind.__mro__ for name in (*vars(parent), *_names_of(parent))}
        gone = sorted(set(words.split()) - there)
        _check(not gone, f"{place} has no {', '.join(gone)}")


# eager


@_probe("flat_call")
def _flat_call() -> None:
    with private.eager_mode():
        double = tf.function(lambda x: [x * 2]).get_concrete_function(tf.TensorSpec([], tf.float32))
        _check(float(private.flat_call(double)(tf.constant(3.0))[0]) == 6, "another number")


@_probe("host_address")
def _host_address() -> None:
    _check(private.host_address() == "/job:localhost/replica:0/task:0", private.host_address())


@_probe("bound_wait_for_workers")
def _bound_wait() -> None:
    config = v1.ConfigProto().experimental.coordination_config
    config.coordinated_job_list.add(name="worker", num_tasks=1)
    names = private.eager_context().configure_coordination_service.__code__.co_varnames
    _check({"service_type", "cluster_register_timeout_in_ms"} <= set(names), "other arguments")


# strategies


@_probe("server_runs", "communication_options", "merges_replicas", "device_assignment",
        "cores_per_replica", "tpu_metadata", "in_multi_worker_mode")  # fmt: skip
def _strategies() -> None:
    with private.eager_mode():
        mirrored = tf.distribute.MirroredStrategy(["CPU:0"])
    _check(private.merges_replicas(mirrored), "a MirroredStrategy of CPUs does not merge")
    _check(not private.in_multi_worker_mode(mirrored.extended), "one process is said to be more")
    _check(not private.server_runs(mirrored), "a server is said to run")
    _check(private.device_assignment(mirrored) is private.tpu_metadata(mirrored) is None, "a TPU's")
    _check(private.cores_per_replica(mirrored) == 1, "cores per replica")
    source = tf.distribute.TPUStrategy.__init__.__globals__["TPUExtended"].__init__.__code__
    _check({"_device_assignment", "_tpu_metadata"} <= set(source.co_names), "TPUStrategy's own")
    workers = tf.distribute.MultiWorkerMirroredStrategy.__init__.__globals__
    extended = workers["CollectiveAllReduceExtended"]
    names = set(extended.__init__.__code__.co_names)
    _check("_communication_options" in names, "communication options")
    _check(hasattr(extended, "_std_server_started") or "_std_server_started" in _names_of(extended),
           "whether a server runs")  # fmt: skip


@_probe("ExtendedOnCores", "OnCores", "runs_on_cores", "validate_run_function", "without_jit")
def _strategy_on_cores() -> None:
    class Strategy(private.OnCores, tf.distribute.TPUStrategy):
        def __init__(self) -> None:
            extended = private.ExtendedOnCores(self, None, ["CPU:0"])
            super(tf.distribute.TPUStrategy, self).__init__(extended)

    with private.eager_mode():
        strategy = Strategy.__new__(Strategy)
        strategy.__init__()  # type: ignore[misc]
        _check(private.runs_on_cores(strategy), "the inner part is of another class")
        _check(strategy.num_replicas_in_sync == 1, "the number of replicas")
        with strategy.scope():
            made = tf.Variable(1.0)
        doubled = tf.function(lambda: 2 * made, jit_compile=True)
        _check(private.without_jit(doubled) is not doubled, "a compiled function is not known")
        run = super(tf.distribute.TPUStrategy, strategy).run
        _check(float(run(private.without_jit(doubled))) == 2.0, "a step's result")
        try:
            private.validate_run_function(lambda: None)
        except NotImplementedError:
            return
    raise AssertionError("an eager function is allowed on a TPU")


def _names_of(kind: Any) -> set[str]:
    members = (getattr(kind, name) for name in vars(kind))
    functions = [member for member in members if hasattr(member, "__code__")]
    return {name for function in functions for name in function.__code__.co_names}


@_probe("wrap_variable_creation")
def _variable_creation() -> None:
    with private.eager_mode():
        strategy = tf.distribute.MirroredStrategy(["CPU:0"])
        seen: list[Any] = []

        def wrapped(creator: Callable[..., Any]) -> Callable[..., Any]:
            def noted(**given: Any) -> Any:
                seen.append(given)
                return creator(**given)

            return noted

        private.wrap_variable_creation(strategy, wrapped)
        with strategy.scope():
            tf.Variable(1.0)
        _check(len(seen) == 1, f"a variable of one copy was made by {len(seen)} calls")


# graphs


@_probe("Maker", "operations_made_otherwise")
def _made_otherwise() -> None:
    def make(inputs: Any, name: Any, attrs: Any) -> tf.Operation:
        del name, attrs
        return tf.raw_ops.Neg(x=inputs[0]).op

    with _graph() as graph, private.operations_made_otherwise({"Square": make}):
        tf.square(tf.constant(2.0))
        _check(_types(graph) == ["Const", "Neg"], f"{_types(graph)}")


@_probe("make_operations_otherwise")
def _make_for_good() -> None:
    private.make_operations_otherwise({})
    _check(hasattr(tf.Graph._create_op_internal, "__wrapped__"), "operations are not seen")


@_probe("import_below_control_edges")
def _import_below() -> None:
    definition = tf.Graph().as_graph_def()
    with _graph() as graph:
        x = tf.constant(1.0)
        with graph.control_dependencies([x.op]), private.import_below_control_edges():
            tf.graph_util.import_graph_def(definition, {}, [])
        _check(_types(graph) == ["Const"], "more than the graph")


@_probe("branches_in_name_scopes")
def _branches() -> None:
    names: list[str] = []

    def branch() -> tf.Tensor:
        names.append(tf.constant(1.0, name="made").name)
        return tf.constant(2.0)

    with _graph(), private.branches_in_name_scopes(), v1.name_scope("outer"):
        v1.enable_control_flow_v2()
        tf.cond(tf.constant(True), branch, branch)
    _check(names[0].startswith("outer/"), f"a branch's operation is called {names[0]}")


@_probe("clear_device", "replace_input", "control_flow_context")
def _changes_of_operations() -> None:
    with _graph() as graph, v1.Session() as session:
        with tf.device("/CPU:0"):
            x = tf.identity(tf.constant(1.0))
        private.clear_device(x.op)
        _check(x.device == "", "the device stays")
        private.replace_input(x.op, 0, tf.constant(5.0))
        _check(session.run(x) == 5, "the input stays")
        _check(private.control_flow_context(graph) is None, "there is a context")


@_probe("loss_is_scaled", "last_loss_reduction")
def _losses() -> None:
    with _graph() as graph:
        v1.losses.mean_squared_error(tf.zeros([2]), tf.zeros([2]))
        _check(private.last_loss_reduction(graph) == "weighted_sum_by_nonzero_weights", "reduction")
        _check(not private.loss_is_scaled(graph), "scaled without a strategy")
    names = _names_of(_train.Optimizer)
    _check("_is_loss_scaled_by_optimizer" in names, "optimizers note scaled losses elsewhere")


@_probe("xla_op_types")
def _xla_types() -> None:
    _check({"MatMul", "Conv2D"} <= set(private.xla_op_types()), "MatMul and Conv2D are not listed")


# hooks


@_probe("watched_loss", "final_step", "has_waited", "timer_of", "timer_periods", "logged_calls",
        "count_logged_calls", "move_next_step", "profile_path")  # fmt: skip
def _hooks() -> None:
    with _graph(), tempfile.TemporaryDirectory() as folder:
        loss = tf.constant(1.0)
        _train.get_or_create_global_step()
        _check(private.watched_loss(_train.NanTensorHook(loss)) is loss, "NanTensorHook")
        _check(private.final_step(_train.StopAtStepHook(last_step=7)) == 7, "StopAtStepHook")
        waiter = _train.GlobalStepWaiterHook(3)
        _check(private.has_waited(waiter) is False, "GlobalStepWaiterHook")
        waiter.begin()
        _check("_worker_is_started" in vars(waiter), "GlobalStepWaiterHook, when it has begun")
        log = _train.LoggingTensorHook([loss], every_n_iter=5)
        _check(private.timer_periods(private.timer_of(log)) == (5, None), "LoggingTensorHook")
        _check(private.logged_calls(log) == 0, "calls before begin()")
        log.begin()
        private.count_logged_calls(log, 4)
        _check(private.logged_calls(log) == 4, "calls that were not made")
        profiler = _train.ProfilerHook(save_steps=2, output_dir=folder)
        profiler.begin()
        private.move_next_step(profiler, 9)
        _check(profiler._next_step is None, "ProfilerHook's next step")
        _check(private.profile_path(profiler).startswith(folder), "ProfilerHook's path")
        summaries = _train.SummarySaverHook(2, output_dir=folder, summary_op=tf.constant(b""))
        _check(private.timer_periods(private.timer_of(summaries))[0] == 2, "SummarySaverHook")


@_probe("checkpoint_folder", "checkpoint_path", "saver_of", "listeners_of", "write_graph_def")
def _saver_hook() -> None:
    with _graph(), tempfile.TemporaryDirectory() as folder:
        v1.get_variable("w", [])
        saver = _train.Saver()
        hook = _train.CheckpointSaverHook(folder, save_steps=1, saver=saver)
        _check(private.checkpoint_folder(hook) == folder, "the folder")
        _check(private.checkpoint_path(hook) == f"{folder}/model.ckpt", "the path")
        _check(private.saver_of(hook) is saver, "the saver")
        private.listeners_of(hook).append("listener")
        _check(private.listeners_of(hook) == ["listener"], "the listeners are a copy")
        _check("_save_graph_def" in vars(hook), "graph.pbtxt is chosen elsewhere")
        private.write_graph_def(hook, wanted=False)


@_probe("open_event_writers")
def _writers() -> None:
    with _graph(), tempfile.TemporaryDirectory() as folder:
        writer = v1.summary.FileWriterCache.get(folder)
        _check(writer in private.open_event_writers(), "a writer of the cache is not listed")
        v1.summary.FileWriterCache.clear()


# saving, datasets, variables


@_probe("next_to_delete")
def _next_to_delete() -> None:
    with _graph(), v1.Session() as session, tempfile.TemporaryDirectory() as folder:
        v1.get_variable("w", [], initializer=tf.zeros_initializer())
        session.run(v1.global_variables_initializer())
        saver = _train.Saver(max_to_keep=1)
        saved = saver.save(session, f"{folder}/c", 1)
        _check(private.next_to_delete(saver, f"{folder}/c-2") == saved, "the first of two stays")


@_probe("last_meta_graph")
def _meta_graph() -> None:
    with _graph(), v1.Session() as session, tempfile.TemporaryDirectory() as folder:
        builder = v1.saved_model.Builder(f"{folder}/export")
        builder.add_meta_graph_and_variables(session, ["serve"])
        tags = list(private.last_meta_graph(builder).meta_info_def.tags)
        _check(tags == ["serve"], f"tags {tags}")


@_probe("read_profile")
def _profile() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.pb"
        with open(path, "wb") as file:
            file.write(b"")
        _check(len(private.read_profile(path).planes) == 0, "an empty XSpace has planes")


@_probe("iterator_state", "iterator_resource")
def _iterators() -> None:
    with private.eager_mode():
        iterator = iter(tf.data.Dataset.range(3))
        _check(private.iterator_resource(iterator).dtype == tf.resource, "it is no resource")
        _check(private.iterator_state(iterator).dtype == tf.variant, "its state is no variant")


@_probe("restore_variable_v1")
def _variable_v1() -> None:
    private.restore_variable_v1()


@_probe("saved_slice", "tensor_conversion", "replace_tensor_conversion")
def _variables() -> None:
    with _graph():
        parted = v1.get_variable("p", [4], partitioner=v1.fixed_size_partitioner(2))
        part = private.saved_slice(next(iter(parted)))
        _check((part.full_name, part.var_offset) == ("p", [0]), "the part of a variable")
        whole = v1.get_variable("w", [], use_resource=True)
        _check(private.saved_slice(whole) is None, "a whole variable is a part")
        _check(callable(private.tensor_conversion(whole)), "the conversion")
        private.replace_tensor_conversion(
            whole, lambda dtype=None, name=None, as_ref=False: tf.constant(7.0)
        )
        _check(tf.get_static_value(tf.convert_to_tensor(whole)) == 7, "another conversion is used")


# optimizers


@_probe("AdamTensors", "adam_tensors")
def _adam() -> None:
    with _graph(), v1.Session() as session:
        optimizer = _train.AdamOptimizer(0.5, beta1=0.25)
        w = v1.get_variable("w", [], use_resource=True, initializer=tf.zeros_initializer())
        optimizer.minimize(w * 2.0)
        session.run(v1.global_variables_initializer())
        found = session.run(list(private.adam_tensors(optimizer)))
        _check(found[:2] == [0.5, 0.25] and found[4] == 0.25, f"other tensors: {found}")


@_probe("shard_reduction")
def _shards() -> None:
    made = v1.tpu.CrossShardOptimizer(_train.GradientDescentOptimizer(1.0))
    _check(private.shard_reduction(made) == v1.losses.Reduction.MEAN, "the reduction")


# tf_keras


def _model() -> Any:
    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


@_probe("keras_seed_source")
def _seeds() -> None:
    _check(isinstance(private.keras_seed_source(), threading.local), "it is none of a thread's")


@_probe("keras_mask", "set_keras_mask")
def _mask() -> None:
    with _graph():
        tensor, mask = tf.zeros([2, 3]), tf.constant([True])
        private.set_keras_mask(tensor, mask)
        _check(private.keras_mask(tensor) is mask, "another mask")
        out = tf_keras.layers.Embedding(4, 2, mask_zero=True)(tf.zeros([1, 3], tf.int32))
        _check(private.keras_mask(out).dtype == tf.bool, "a layer's mask is elsewhere")


@_probe("is_graph_network", "compile_arguments", "compiled_metrics", "training_metrics",
        "metric_update", "make_train_function", "track", "hypers", "was_initialized",
        "keras_optimizer_name", "counts_steps_itself", "set_model_inputs",
        "add_sample_weights")  # fmt: skip
def _keras_model() -> None:
    with _graph():
        model = _model()
        _check(private.is_graph_network(model), "a Sequential has no known inputs")
        _check(private.compile_arguments(model)["loss"] == "mse", "arguments of compile")
        _check([m.name for m in private.compiled_metrics(model)] == ["mae"], "metrics of compile")
        x = tf.zeros([4, 2])
        private.track(model, _train.get_or_create_global_step(), "step_of_the_probe")
        functional = tf_keras.Sequential([tf_keras.layers.Dense(1)])
        private.set_model_inputs(functional, x)
        inputs = tf_keras.Input(tensor=x)
        copy = tf_keras.Model(inputs, tf_keras.layers.Dense(1)(inputs))
        copy.compile(tf_keras.optimizers.legacy.SGD(0.5), "mse", metrics=["mae"],
                     target_tensors=[tf.zeros([4, 1])])  # fmt: skip
        private.add_sample_weights(copy, [tf.ones([4])])
        private.make_train_function(copy)
        _check(copy.train_function.updates_op is not None, "the training step")
        updates = [private.metric_update(metric) for metric in private.training_metrics(copy)]
        _check(updates and all(update is not None for update in updates), "metrics' updates")
        _check("learning_rate" in private.hypers(copy.optimizer), "the learning rate")
        _check(private.keras_optimizer_name(copy.optimizer) == "SGD", "an optimizer's name")
        private.counts_steps_itself(tf_keras.optimizers.legacy.SGD())
        _check(not private.was_initialized(SimpleNamespace()), "an object counts as initialized")
