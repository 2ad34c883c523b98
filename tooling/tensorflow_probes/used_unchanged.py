"""Probes of the private names that are used as TensorFlow has them."""

from __future__ import annotations

import pkgutil
import tempfile

import tensorflow as tf

from estimator_bridge.tensorflow_private.columns import (
    EMBEDDING_COLUMN,
    PLAIN_EMBEDDING_COLUMNS,
    SHARED_EMBEDDING_COLUMN,
    column_scope,
    columns_as_on_a_cpu,
    core_lookup_width,
    embedding_lookup_device,
    is_v2_column,
    sequence_of,
    shared_table_name,
)
from estimator_bridge.tensorflow_private.graphs import (
    control_flow_context,
    loops_keep_what_gradients_need,
)
from estimator_bridge.tensorflow_private.inherited import INHERITED
from estimator_bridge.tensorflow_private.names import (
    Barrier,
    BaseResourceVariable,
    IndexedSlicesValue,
    KMeansGraph,
    PerReplica,
    SavedModel,
    SessionInterface,
    StagingArea,
    TPUInfeedQueue,
    UninitializedVariable,
    VariableDef,
    average_precision_at_top_k,
    checkpoint_management,
    confusion_matrix_at_thresholds,
    contrib_should_record_summaries,
    contrib_summary,
    dataset_options,
    eager_context,
    eager_mode,
    existing_global_step_read,
    feature_columns,
    function_def_to_graph,
    function_utils,
    get_tpu_context,
    global_step_read,
    lookup_ops,
    nest,
    op_def,
    reset_eager_context,
    saved_model_utils,
    tf_logging,
    tf_record_random_reader,
    tpu_feature_columns,
    tpu_ops,
    tpu_training_loop,
)
from estimator_bridge.tensorflow_private.tracking import (
    VARIABLE_VALUE_KEY,
    AutoTrackable,
    Trackable,
    TrackableObjectGraph,
    add_tracked_variable,
    object_checkpoints,
    trackable_structures,
)
from estimator_bridge.tensorflow_private.xla import (
    xla_all_reduce,
    xla_context,
    xla_context_of_cpus,
    xla_replica_id,
)
from tooling.tensorflow_probes.registry import check, graph_types, names_of, new_graph, probe

v1 = tf.compat.v1
_train = v1.train


@probe("eager_context", "eager_mode", "reset_eager_context")
def _eager() -> None:
    with new_graph(), eager_mode():
        check(tf.executing_eagerly(), "eager_mode is not eager inside a graph")
    for name in ("call_function", "configure_coordination_service", "_collective_ops_server_def"):
        check(hasattr(eager_context(), name), f"the eager context has no {name}")
    check(callable(reset_eager_context), "it is no function")


@probe("SessionInterface")
def _session() -> None:
    with new_graph(), v1.Session() as session:
        check(isinstance(session, SessionInterface), "a Session is none")


@probe("SavedModel")
def _saved_model() -> None:
    model = SavedModel()
    model.meta_graphs.add().meta_info_def.tags.append("serve")
    check(SavedModel.FromString(model.SerializeToString()) == model, "another message")


@probe("VariableDef")
def _variable_def() -> None:
    with new_graph():
        variable = v1.get_variable("w", [2], use_resource=True)
        proto = VariableDef.FromString(variable.to_proto().SerializeToString())
    check(proto.variable_name == "w:0" and proto.is_resource, "its fields have other meanings")
    check(proto.snapshot_name == "w/Read/ReadVariableOp:0", "the read has another name")


@probe("StagingArea")
def _staging_area() -> None:
    with new_graph(), v1.Session() as session:
        area = StagingArea([tf.float32])
        put_op, size, values = area.put([tf.constant(3.0)]), area.size(), area.get()
        session.run(put_op)
        check(session.run(size) == 1, "it counts otherwise")
        check(session.run(values) == [3.0], "another value comes out")


@probe("PerReplica")
def _per_replica() -> None:
    values = PerReplica([tf.constant(1), tf.constant(2)])
    check(len(values.values) == 2, "its values are gone")


@probe("tf_record_random_reader")
def _random_reader() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.tfrecord"
        with tf.io.TFRecordWriter(path) as writer:
            writer.write(b"abc")
        record = tf_record_random_reader(path).read(0)
        check(tuple(record) == (b"abc", 19), f"a record of 3 bytes is read as {record}")


@probe("IndexedSlicesValue")
def _slices() -> None:
    check(IndexedSlicesValue._fields == ("values", "indices", "dense_shape"), "fields")


@probe("op_def")
def _op_def() -> None:
    check(op_def("RandomUniform").is_stateful, "RandomUniform is not stateful")
    check(op_def("NoSuchOperation") is None, "an unknown operation is known")


@probe("function_def_to_graph")
def _function_graph() -> None:
    function = tf.function(lambda x: tf.expand_dims(x, 0), autograph=False)
    definition = function.get_concrete_function(tf.TensorSpec([3], tf.int32)).function_def
    graph = function_def_to_graph(definition, input_shapes=[tf.TensorShape([3])])
    shapes = [
        o.outputs[0].shape.as_list() for o in graph.get_operations() if o.type == "ExpandDims"
    ]
    check(shapes == [[1, 3]], f"the shape of a result is {shapes}")


@probe("BaseResourceVariable", "UninitializedVariable")
def _resource_variable() -> None:
    with new_graph():
        variable = UninitializedVariable(shape=[2], dtype=tf.float32, name="w")
        check(isinstance(variable, BaseResourceVariable), "it is of another class")
        check(variable.shape == [2] and variable.op.type == "VarHandleOp", "another operation")


@probe("lookup_ops")
def _lookup() -> None:
    with new_graph(), v1.Session() as session:
        table = lookup_ops.index_table_from_tensor(["a", "b"])
        ids = table.lookup(tf.constant(["b", "z"]))
        session.run(v1.tables_initializer())
        check(session.run(ids).tolist() == [1, -1], "ids are others")


@probe("confusion_matrix_at_thresholds")
def _confusion_matrix() -> None:
    with new_graph(), v1.Session() as session:
        _, updates = confusion_matrix_at_thresholds(
            tf.constant([True, False]), tf.constant([0.9, 0.8]), [0.5], includes=("tp", "fp")
        )
        check(v1.local_variables()[0].op.name == "true_positives", "other name")
        session.run(v1.local_variables_initializer())
        check(session.run(updates) == {"tp": [1.0], "fp": [1.0]}, "counts are others")


@probe("average_precision_at_top_k")
def _average_precision() -> None:
    with new_graph(), v1.Session() as session:
        best, right = tf.constant([[1, 2]], tf.int64), tf.constant([[2, 3]], tf.int64)
        _, update = average_precision_at_top_k(right, best)
        session.run(v1.local_variables_initializer())
        check(session.run(update) == 0.25, "the average precision is another")


@probe("contrib_summary", "contrib_should_record_summaries")
def _summary() -> None:
    with new_graph(), v1.Session() as session, tempfile.TemporaryDirectory() as folder:
        with contrib_summary.create_file_writer(folder).as_default():
            silent = tf.identity(contrib_should_record_summaries())
            with contrib_summary.always_record_summaries():
                always = tf.identity(contrib_should_record_summaries())
        check(session.run([silent, always]) == [False, True], "when it records has changed")
    for name in ("all_v2_summary_ops", "generic", "graph_v1", "legacy_raw_flush", "scalar"):
        check(hasattr(contrib_summary, name), f"{name} is gone")


@probe("feature_columns")
def _feature_columns() -> None:
    column = feature_columns.NumericColumn("x", (1,), None, tf.float32, None)
    check(column.parse_example_spec["x"].shape == (1,), "a column has another specification")


@probe("KMeansGraph")
def _kmeans() -> None:
    with new_graph():
        kmeans = KMeansGraph(tf.zeros([4, 2]), 2, use_mini_batch=False)
        check(len(kmeans.training_graph()) >= 5, "training_graph() returns fewer values")


@probe("Barrier")
def _barrier() -> None:
    with new_graph(), v1.Session() as session:
        barrier = Barrier(types=[tf.int32], shapes=[[]])
        session.run(barrier.insert_many(0, ["a", "b"], [1, 2]))
        _, keys, (values,) = session.run(barrier.take_many(2))
        check((list(keys), list(values)) == ([b"a", b"b"], [1, 2]), "it gives something else")


@probe("checkpoint_management", "tf_logging")
def _logs_and_checkpoints() -> None:
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = checkpoint_management.latest_checkpoint(folder)
        check(checkpoint is None, "latest_checkpoint of an empty folder")
    for name in ("info", "warning", "error"):
        check(callable(getattr(tf_logging, name)), f"tf_logging.{name} is no function")


@probe("saved_model_utils", "function_utils", "nest", "dataset_options")
def _modules() -> None:
    check(saved_model_utils.EXPORT_TAG_MAP, "EXPORT_TAG_MAP is gone")
    check(function_utils.fn_args(lambda x, y: x) == ("x", "y"), "fn_args differ")
    check(nest.flatten_up_to([1, 2], [[3], 4]) == [[3], 4], "flatten_up_to differs")
    check(dataset_options.Options().DESCRIPTOR.fields_by_name["deterministic"], "gone")


@probe("tpu_feature_columns", "EMBEDDING_COLUMN", "SHARED_EMBEDDING_COLUMN", "shared_table_name",
        "PLAIN_EMBEDDING_COLUMNS", "core_lookup_width", "embedding_lookup_device",
        "columns_as_on_a_cpu", "is_v2_column")  # fmt: skip
def _columns() -> None:
    plain = [tf.feature_column.categorical_column_with_identity(key, 4) for key in "ab"]
    check(is_v2_column(plain[0]), "a column of tf.feature_column is V1's")
    one = v1.tpu.experimental.embedding_column(plain[0], 2)
    shared = v1.tpu.experimental.shared_embedding_columns(plain, 2)
    check(isinstance(one, EMBEDDING_COLUMN), "embedding_column is of another class")
    check(isinstance(shared[0], SHARED_EMBEDDING_COLUMN), "shared ones are of another")
    check(shared_table_name(shared[0]) == "a_b_shared_embedding", "the table's name")
    usual = tf.feature_column.embedding_column(plain[0], 2)
    check(isinstance(usual, PLAIN_EMBEDDING_COLUMNS), "the usual ones are of another")
    on_core = v1.tpu.experimental.embedding_column(
        plain[0], 2, embedding_lookup_device="tpu_tensor_core", tensor_core_shape=[None, 3]
    )
    devices = [embedding_lookup_device(column) for column in (one, shared[0], on_core)]
    check(devices == [None, None, "tpu_tensor_core"], f"the devices of lookups are {devices}")
    check(core_lookup_width(on_core) == 3, "the width of a lookup on a core")
    with columns_as_on_a_cpu():
        check(tpu_feature_columns._is_running_on_cpu(), "it does not count")


@probe("tpu_training_loop", "tpu_ops", "TPUInfeedQueue", "get_tpu_context")
def _tpu() -> None:
    context = get_tpu_context()
    before = context.number_of_shards
    context.set_number_of_shards(3)
    check(v1.tpu.CrossShardOptimizer and context.number_of_shards == 3, "the number of shards")
    context.set_number_of_shards(before)
    with new_graph(), v1.Session() as session:
        turns = tpu_training_loop.repeat(3, lambda x: x + 1, [tf.constant(0)])
        check(session.run(turns[0] if isinstance(turns, list) else turns) == 3, "repeat")
    for name in ("infeed_dequeue_tuple", "infeed_enqueue_tuple", "outfeed_enqueue_tuple"):
        check(hasattr(tpu_ops, name), f"{name} is gone")
    check(TPUInfeedQueue(number_of_tuple_elements=2).number_of_tuple_elements == 2, "it")


@probe("existing_global_step_read", "global_step_read")
def _step_read() -> None:
    with new_graph():
        check(existing_global_step_read() is None, "there is one before it is made")
        _train.get_or_create_global_step()
        check(global_step_read() is existing_global_step_read(), "two reads")


@probe("control_flow_util_v2", "gen_xla_ops", "XLAControlFlowContext", "xla_context",
        "xla_context_of_cpus", "loops_keep_what_gradients_need", "xla_all_reduce",
        "xla_replica_id")  # fmt: skip
def _xla() -> None:
    with new_graph() as graph:
        with xla_context_of_cpus(), loops_keep_what_gradients_need():
            check(control_flow_context(graph) is not None, "there is no XLA context")
            x = tf.zeros([4])
            tf.gradients(tf.slice(x, [1], [2]), x)
        check("XlaDynamicUpdateSlice" not in graph_types(graph), "a gradient has XLA's operation")
        with xla_context():
            xla_all_reduce(tf.zeros([2]), [[0, 1]], "sum")
            xla_replica_id()
        check(
            {"XlaAllReduce", "XlaReplicaId"} <= set(graph_types(graph)), "operations of other types"
        )
        check(control_flow_context(graph) is None, "the context was not left")


@probe("AutoTrackable", "Trackable", "TrackableObjectGraph", "VARIABLE_VALUE_KEY",
        "add_tracked_variable", "object_checkpoints", "trackable_structures")  # fmt: skip
def _tracking() -> None:
    check(issubclass(AutoTrackable, Trackable), "AutoTrackable is no Trackable")
    check(VARIABLE_VALUE_KEY == "VARIABLE_VALUE", "the key of a variable's value")
    check(TrackableObjectGraph().nodes.add() is not None, "an object graph has no nodes")
    for name in ("_lookup_dependency", "_restore_from_tensors", "_serialize_to_tensors",
                 "_trackable_children"):  # fmt: skip
        check(hasattr(Trackable, name), f"{name} is gone, which subclasses replace")
    with eager_mode():
        owner = AutoTrackable()
        variable = add_tracked_variable(owner, "kept", v1.get_variable, shape=[2])
        check(
            owner._lookup_dependency("kept") is variable, "a checkpoint lacks an object's variable"
        )
    for name in ("capture_dependencies", "list_objects", "object_metadata"):
        check(hasattr(object_checkpoints, name), f"{name} is gone")
    for name in ("List", "Mapping", "NoDependency"):
        check(hasattr(trackable_structures, name), f"{name} is gone")


@probe("column_scope", "sequence_of")
def _sequence_columns() -> None:
    columns = v1.feature_column
    words = columns.sequence_categorical_column_with_identity("w", 3)
    numbers = columns.sequence_numeric_column("n")
    with new_graph():
        features = {"w": tf.sparse.from_dense([[1, 2], [1, 0]]), "n": tf.sparse.from_dense([[1.0]])}
        indicators = tf.feature_column.indicator_column(words)
        dense, _ = sequence_of(indicators, features, [], True)
        check(dense.shape.as_list()[-1] == 3, "an indicator column's sequence has another size")
        check(sequence_of(numbers, features, [], True)[0].shape.rank == 3, "its rank")
    check(column_scope(indicators) == "w_indicator", "a column's scope has another name")


@probe("INHERITED")
def _inherited() -> None:
    for place, words in INHERITED.items():
        kind = pkgutil.resolve_name(place)
        names = {name for parent in kind.__mro__ for name in (*vars(parent), *names_of(parent))}
        missing = sorted(set(words.split()) - names)
        check(not missing, f"{place} has no {', '.join(missing)}")
