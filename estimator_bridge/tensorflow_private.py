"""Every private TensorFlow name that the library uses, each with the reason.

A new TensorFlow release that moves one of them breaks this file and no other. Import from here;
nothing else in the package may name ``tensorflow.python``.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import tensorflow as tf

# The gradient of tf.slice takes an operation of these where XLA compiles what is traced. A sum over
# replicas, and a replica's number, are lowered to XLA by operations without a public name.
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

# A dataset's options, as its graph has them: whether it may give its elements in another order.
from tensorflow.core.framework import dataset_options_pb2 as dataset_options

# Saver.save and the hooks of old programs check isinstance(session, SessionInterface).
from tensorflow.python.client.session import SessionInterface

# A batch that is split inside a tf.function reaches strategy.run as PerReplica; the public
# experimental_distribute_values_from_function works outside functions only.
from tensorflow.python.distribute.values import PerReplica

# Collectives over several processes are a setting of TensorFlow's start, and where v2 behavior is
# off the constructor of the strategy that needs them starts TensorFlow without.
from tensorflow.python.eager.context import _reset_context as reset_eager_context

# The TF2 side (datasets, strategies, tf.function) runs eagerly even where the program called
# tf.compat.v1.disable_v2_behavior(); there is no public switch for one block of code.
# Functions that a lifted graph calls are made known to it too: import_graph_def makes them known
# to the graph alone, which runs as long as nothing but that graph's own program calls them.
from tensorflow.python.eager.context import context as eager_context
from tensorflow.python.eager.context import eager_mode

# What Session.run returns for IndexedSlices; it never had a public name.
from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

# Whether an op is stateful and what it returns; the public raw_ops do not tell.
from tensorflow.python.framework.op_def_registry import get as op_def

# How branches and loops become operations depends on whether XLA compiles what is traced. That is
# known from a context (see below), which only tf.function and tf.compat.v1.tpu.replicate enter.
#
# The index tables of tf.contrib.lookup lost their public names; the graphs of exported models have
# these tables, and ids out of the vocabulary are theirs.
from tensorflow.python.ops import control_flow_util_v2, lookup_ops

# The functions of tf.contrib.summary are still there, and no others write events like theirs.
from tensorflow.python.ops import summary_ops_v2 as contrib_summary

# The graph of k-means, whose kernels are public and whose use of them never was.
from tensorflow.python.ops.clustering_ops import KMeans as KMeansGraph
from tensorflow.python.ops.control_flow_ops import XLAControlFlowContext

# TF1 programs ask whether there is a variable by its truth, which raises for those of today.
# A TF1 graph runs its own initializers, so its variables must start uninitialized.
from tensorflow.python.ops.resource_variable_ops import (
    BaseResourceVariable,
    UninitializedVariable,
)

# What libraries import of Estimator's module of exports: TensorFlow kept it, without a public
# name.
from tensorflow.python.saved_model import model_utils as saved_model_utils

# The columns of TPU embeddings, to know them again; the public API has only what makes them.
from tensorflow.python.tpu import feature_column_v2 as tpu_feature_columns

# Loops that a program for tpu.rewrite builds; they never had a public name outside of tf.contrib.
from tensorflow.python.tpu import training_loop as tpu_training_loop

# A TPU's infeed and outfeed, as programs without TPUEstimator name them. Of the same kind.
from tensorflow.python.tpu.ops import tpu_ops
from tensorflow.python.tpu.tpu_feed import InfeedQueue as TPUInfeedQueue

# TensorFlow's and users' CrossShardOptimizer read the number of shards from this context.
from tensorflow.python.tpu.tpu_function import get_tpu_context

# The same, None where it has not been made: hooks of TensorFlow's fetch it when they are called.
from tensorflow.python.training.training_util import (
    _get_global_step_read as existing_global_step_read,
)

# The original reads the global step through this before model_fn runs; the op-level seeds of all
# that follows count its operations.
from tensorflow.python.training.training_util import (
    _get_or_create_global_step_read as global_step_read,
)

# The arguments of a function as Estimator saw them, which libraries import from its module util.
# tf.contrib.framework.nest: the public tf.nest has five of its functions.
from tensorflow.python.util import function_utils, nest


@contextlib.contextmanager
def import_below_control_edges() -> Iterator[None]:
    """Lets tf.graph_util.import_graph_def work below tf.control_dependencies, as a TPU's step is.

    It looks there for an operation among the inputs of another, and to compare an operation with
    a tensor builds an operation, which fails. Meanwhile tensors are compared by identity.
    """
    awaited = tf.compat.v1.get_default_graph()._current_control_dependencies()
    if not awaited or not tf.Tensor._USE_EQUALITY:
        yield
        return
    tf.compat.v1.disable_tensor_equality()
    try:
        yield
    finally:
        tf.compat.v1.enable_tensor_equality()


def restore_variable_v1() -> None:
    """Puts VariableV1 where libraries import it from: it has moved to a module of its own."""
    from tensorflow.python.ops import variables

    if not hasattr(variables, "VariableV1"):
        variables.VariableV1 = tf.compat.v1.Variable


def flat_call(function: Any) -> Callable[..., list[tf.Tensor]]:
    """A concrete function that takes and returns flat lists of tensors, in graph mode too.

    A public call packs and checks structures, looks for a gradient tape and has to be made in eager
    mode, which together take a quarter of the time of a small model's step. The function is to
    return a list, and no tape may watch it.
    """
    inner, captured = function.inference_fn, list(function.captured_inputs)
    context, count = inner._bound_context, len(inner.function_type.flat_outputs)
    # TensorFlow forgets a function that nobody holds, so this holds it, not its name alone.
    return lambda *args: context.call_function(inner.name, [*args, *captured], count) or []


def host_address() -> str:
    """The job and task by which this process knows its own devices.

    It is localhost's until the process starts a server for collectives: from then on the server's
    ('/job:worker/replica:0/task:1'). A public listing of devices would initialize TensorFlow.
    """
    server = eager_context()._collective_ops_server_def
    if server is None:
        return "/job:localhost/replica:0/task:0"
    return f"/job:{server.job_name}/replica:0/task:{server.task_index}"


def bound_wait_for_workers(cluster: tf.train.ClusterSpec, seconds: float) -> None:
    """Bounds the wait for the other workers while MultiWorkerMirroredStrategy is made.

    It waits an hour otherwise. Only what is configured before TensorFlow starts counts.
    """
    jobs = [job for job in ("chief", "worker") if job in cluster.jobs]
    # The message's own module has moved between releases; a ConfigProto holds it everywhere.
    listed = tf.compat.v1.ConfigProto().experimental.coordination_config.coordinated_job_list
    for job in jobs:
        listed.add(name=job, num_tasks=cluster.num_tasks(job))
    eager_context().configure_coordination_service(
        service_type="standalone",
        service_leader=f"/job:{jobs[0]}/replica:0/task:0",
        coordinated_jobs=list(listed),
        cluster_register_timeout_in_ms=int(seconds * 1000),
    )


def server_runs(strategy: tf.distribute.Strategy) -> bool:
    """Whether a MultiWorkerMirroredStrategy has met its peers: not where v2 behavior is off."""
    return getattr(strategy.extended, "_std_server_started", False)


def communication_options(strategy: tf.distribute.Strategy):
    """The CommunicationOptions that a MultiWorkerMirroredStrategy was given."""
    return strategy.extended._communication_options


def merges_replicas(strategy: tf.distribute.Strategy) -> bool:
    """Whether replicas meet in merge_call; the others (collectives of many GPUs) must not."""
    return strategy.extended._use_merge_call()


def device_assignment(strategy: tf.distribute.Strategy):
    """The DeviceAssignment that a TPUStrategy was given; None for none, and for other strategies.

    TensorFlow has no public way to ask.
    """
    return getattr(strategy.extended, "_device_assignment", None)


def cores_per_replica(strategy: tf.distribute.Strategy) -> int:
    """Over how many of a TPU's cores a replica is spread: 1 where there is no DeviceAssignment."""
    assignment = device_assignment(strategy)
    return assignment.num_cores_per_replica if assignment else 1


def tpu_metadata(strategy: tf.distribute.Strategy) -> tf.tpu.experimental.TPUSystemMetadata | None:
    """The hosts and cores of a TPUStrategy's TPU; None for other strategies.

    The strategy itself tells only of its replicas' first cores.
    """
    return getattr(strategy.extended, "_tpu_metadata", None)


class _Makers(threading.local):
    """By op type, what makes such operations of this thread otherwise; the last ones count."""

    def __init__(self) -> None:
        self.stack: list[Mapping[str, Maker]] = []


class Maker(Protocol):
    """Makes something in the place of an operation."""

    def __call__(
        self, inputs: Sequence[tf.Tensor], name: str | None, attrs: Mapping[str, Any]
    ) -> tf.Operation | None:
        """Returns an operation with as many outputs; None to have the original made."""


_makers = _Makers()
_makers_of_all: dict[str, Maker] = {}


@contextlib.contextmanager
def operations_made_otherwise(makers: Mapping[str, Maker]) -> Iterator[None]:
    """Has graphs call a function where they would make an operation of a type.

    An operation cannot be removed from a graph, and a session refuses a graph that has one without
    a kernel, even where nothing uses it. So it counts for the bodies of loops and branches, too.

    Args:
      makers: by the operations' type.
    """
    _watch_operations()
    _makers.stack.append(makers)
    try:
        yield
    finally:
        _makers.stack.remove(makers)


def make_operations_otherwise(makers: Mapping[str, Maker]) -> None:
    """``operations_made_otherwise`` for good, and in all threads."""
    _watch_operations()
    _makers_of_all.update(makers)


def _watch_operations() -> None:
    create = tf.Graph._create_op_internal
    if hasattr(create, "__wrapped__"):
        return

    @functools.wraps(create)
    def made(graph, op_type, inputs, dtypes=None, input_types=None, name=None, attrs=None, *rest,
             **kwargs):  # fmt: skip
        for makers in (*reversed(_makers.stack), _makers_of_all):
            if op_type in makers:
                instead = makers[op_type](inputs, name, attrs or {})
                if instead is not None:
                    return instead
        return create(graph, op_type, inputs, dtypes, input_types, name, attrs, *rest, **kwargs)

    tf.Graph._create_op_internal = made


@contextlib.contextmanager
def columns_as_on_a_cpu() -> Iterator[None]:
    """Lets the columns of TPU embeddings make and read variables, whatever the shard context says.

    In it they expect that a TPU's embedding engine has looked up already; they have no setting.
    """
    before = tpu_feature_columns._is_running_on_cpu
    tpu_feature_columns._is_running_on_cpu = lambda: True
    try:
        yield
    finally:
        tpu_feature_columns._is_running_on_cpu = before


class _XLAContext(XLAControlFlowContext):
    def AddOp(self, op: Any) -> None:
        """Takes an operation out of the context, so that variables may start from its value."""
        op._set_control_flow_context(None)


@contextlib.contextmanager
def xla_context() -> Iterator[None]:
    """Within, the default graph is traced as the part of a model that a TPU compiles.

    Loops with gradients keep lists of fixed sizes then, without which XLA compiles none of them.
    """
    context = _XLAContext()
    context.Enter()
    try:
        yield
    finally:
        context.Exit()


@contextlib.contextmanager
def xla_context_of_cpus() -> Iterator[None]:
    """``xla_context``, for a graph that CPUs run, with or without XLA.

    They have no kernel for an operation in the gradient of tf.slice, and a branch or a loop is
    quicker if its operations become part of the graph around it.
    """
    set_lowering = control_flow_util_v2.maybe_set_lowering_attr
    update = gen_xla_ops.xla_dynamic_update_slice

    def lowered(op: tf.Operation, lower_using_switch_merge: bool | None = None) -> None:
        wanted = lower_using_switch_merge
        set_lowering(op, True if wanted is None else wanted)

    control_flow_util_v2.maybe_set_lowering_attr = lowered
    gen_xla_ops.xla_dynamic_update_slice = _update_slice
    try:
        with xla_context():
            yield
    finally:
        control_flow_util_v2.maybe_set_lowering_attr = set_lowering
        gen_xla_ops.xla_dynamic_update_slice = update


def xla_all_reduce(value: tf.Tensor, groups: Sequence[Sequence[int]], name: str) -> tf.Tensor:
    """Adds over the replicas of each group, where XLA compiles what is built.

    Raises:
      TypeError: XLA has no such sum for numbers of this type.
    """
    return gen_xla_ops.xla_all_reduce(
        value, groups, reduce_op="Add", mode="CrossReplica", name=name
    )


def xla_replica_id() -> tf.Tensor:
    """The number of the replica that runs what XLA compiles, an int32 scalar."""
    return gen_xla_ops.xla_replica_id()


def _update_slice(input: Any, update: Any, indices: Any, name: str | None = None) -> tf.Tensor:
    """XlaDynamicUpdateSlice by an operation that CPUs have."""
    indices = tf.convert_to_tensor(indices)
    return tf.raw_ops.TensorStridedSliceUpdate(
        input=input,
        begin=indices,
        end=indices + tf.shape(update, out_type=indices.dtype),
        strides=tf.ones_like(indices),
        value=update,
        name=name,
    )


@contextlib.contextmanager
def loops_keep_what_gradients_need() -> Iterator[None]:
    """Within, a loop that a Keras layer makes hands out no more than other loops do.

    In graphs it would hand out each value of each turn, so that a session may fetch it: a recurrent
    layer takes half as long again, as nothing prunes them.
    """
    before = control_flow_util_v2._EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE
    control_flow_util_v2.set_output_all_intermediates(False)
    try:
        yield
    finally:
        control_flow_util_v2.set_output_all_intermediates(before)


@contextlib.contextmanager
def branches_in_name_scopes() -> Iterator[None]:
    """Within, what a branch of tf.cond makes is named as in TensorFlow 1: below the cond's scope.

    A branch is a graph of its own, whose names begin anew; a variable that is made in it takes its
    name along. There is no public way to give such a graph a scope.
    """
    before = control_flow_util_v2.CondBranchFuncGraph

    class ScopedBranch(before):  # type: ignore[valid-type, misc]
        """A branch whose names go on from where the cond stands."""

        def __init__(self, *args: Any, **kwargs: Any):
            super().__init__(*args, **kwargs)
            self._name_stack = self.outer_graph._name_stack

    control_flow_util_v2.CondBranchFuncGraph = ScopedBranch
    try:
        yield
    finally:
        control_flow_util_v2.CondBranchFuncGraph = before


def keras_seed_source() -> Any:
    """Where tf-keras takes the seeds from that a layer's author did not give.

    The public tf.keras.utils.set_random_seed sets it too, and with it the seeds of Python, NumPy
    and TensorFlow for good.
    """
    from tf_keras.src import backend  # Keras takes a second to load; most imports need none

    return backend._SEED_GENERATOR


def read_profile(path: str):
    """The XSpace that tf.profiler.experimental wrote; its message has no public name."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2  # few programs ask for a trace

    with tf.io.gfile.GFile(path, "rb") as file:
        return xplane_pb2.XSpace.FromString(file.read())


def last_meta_graph(builder: tf.compat.v1.saved_model.Builder):
    """The MetaGraphDef that was added last; the builder has no public way to change what it writes.

    To change the file afterwards would leave its fingerprint wrong.
    """
    return builder._saved_model.meta_graphs[-1]


def xla_op_types() -> list[str]:
    """The types of ops that XLA compiles for CPUs; there is no public list."""
    from tensorflow.python.util import pywrap_xla_ops  # loads a library of its own, which logs

    return pywrap_xla_ops.get_cpu_kernel_names()


def last_loss_reduction(graph: tf.Graph) -> str | None:
    """How the last loss that TensorFlow or tf_keras reduced in a graph was reduced.

    TensorFlow's optimizers read it where they run under a strategy.
    """
    return getattr(graph, "_last_loss_reduction", None)


def next_to_delete(saver: tf.compat.v1.train.Saver, saved: str) -> str | None:
    """The checkpoint that a saver deletes once it has saved another one; None if there is none.

    When a saver keeps an old checkpoint for keep_checkpoint_every_n_hours, nothing public tells.

    Args:
      saver: which is about to save.
      saved: the path of the new checkpoint.
    """
    most = saver.saver_def.max_to_keep
    others = [(path, time) for path, time in saver._last_checkpoints if path != saved]
    queue = [*saver._checkpoints_to_be_deleted, *(others[:1] if most <= len(others) else ())]
    if not most or not queue:
        return None
    path, time = queue[0]
    return None if time > saver._next_checkpoint_time else path


def iterator_state(iterator: Any) -> tf.Tensor:
    """Where an eager dataset's iterator stands, as tf.train.Checkpoint asks it; eager."""
    return iterator._serialize_to_tensors()["_STATE"]


__all__ = [
    "BaseResourceVariable",
    "IndexedSlicesValue",
    "KMeansGraph",
    "Maker",
    "PerReplica",
    "SessionInterface",
    "TPUInfeedQueue",
    "UninitializedVariable",
    "bound_wait_for_workers",
    "branches_in_name_scopes",
    "columns_as_on_a_cpu",
    "communication_options",
    "contrib_summary",
    "cores_per_replica",
    "dataset_options",
    "device_assignment",
    "eager_context",
    "eager_mode",
    "existing_global_step_read",
    "flat_call",
    "function_utils",
    "get_tpu_context",
    "global_step_read",
    "host_address",
    "import_below_control_edges",
    "iterator_state",
    "keras_seed_source",
    "last_loss_reduction",
    "last_meta_graph",
    "lookup_ops",
    "loops_keep_what_gradients_need",
    "make_operations_otherwise",
    "merges_replicas",
    "nest",
    "next_to_delete",
    "op_def",
    "operations_made_otherwise",
    "read_profile",
    "reset_eager_context",
    "restore_variable_v1",
    "saved_model_utils",
    "server_runs",
    "tpu_feature_columns",
    "tpu_metadata",
    "tpu_ops",
    "tpu_training_loop",
    "xla_context",
    "xla_context_of_cpus",
    "xla_op_types",
]
