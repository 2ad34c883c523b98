"""The strategy under which a model is traced: one replica's graph, with the exchanges in it.

TensorFlow's optimizers, metrics and layers, and model functions themselves, ask the current
strategy for the number of replicas, and pass it values to combine. This strategy gives the answers
of the program's own strategy, and combines values by sums over replicas in the graph. A merge_call,
for which real replicas would wait for each other, runs immediately.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.strategies import in_multi_worker_mode
from estimator_bridge.training.distribution.replica_exchange_ops import (
    gather_replicas,
    join,
    replica_id,
)
from estimator_bridge.training.distribution.variables import make_replica_local, make_shared

__all__ = ["TracingStrategy"]

_Strategy: Any = tf.distribute.Strategy
_Extended: Any = tf.compat.v1.distribute.StrategyExtended
_ReplicaContext: Any = tf.distribute.ReplicaContext


class TracingStrategy(_Strategy):
    """A stand-in for a strategy while a graph is traced.

    Args:
      real: the strategy that runs the graph.
      partitions: whether variables may be partitioned, as without a strategy; then their names in
        checkpoints are the same.
    """

    def __init__(self, real: tf.distribute.Strategy, partitions: bool = False):
        super().__init__(_TracingExtended(self, real, partitions))

    @contextlib.contextmanager
    def training_scope(self) -> Iterator[None]:
        """The scope, in which v1 optimizers divide a mean loss by the number of replicas."""
        with self.scope(), self._scale_loss_for_estimator_enabled():
            yield

    def replica_context(self) -> tf.distribute.ReplicaContext:
        """A context that traces the code of one replica."""
        return _TracingReplicaContext(self)


class _TracingReplicaContext(_ReplicaContext):
    def __init__(self, strategy: TracingStrategy):
        super().__init__(strategy, 0)

    @property
    def replica_id_in_sync_group(self) -> tf.Tensor:
        """Returns the tensor itself: all replicas share the graph."""
        if self.num_replicas_in_sync == 1:
            return tf.constant(0)
        return replica_id()

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Returns the sum or the mean over the replicas of each tensor of a structure."""
        del options
        if isinstance(reduce_op, str):
            reduce_op = tf.distribute.ReduceOp(reduce_op.upper())
        return tf.nest.map_structure(
            lambda part: join(reduce_op, part, self.num_replicas_in_sync), value
        )


class _TracingExtended(_Extended):
    def __init__(self, strategy: TracingStrategy, real: tf.distribute.Strategy, partitions: bool):
        super().__init__(strategy)
        self._partitions = partitions
        self._real = real.extended
        self._replicas = real.num_replicas_in_sync
        self._cluster_resolver = real.cluster_resolver
        self._retrace_functions_for_each_device = False
        self._updates = 0

    # Properties of the strategy that models read.

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._replicas

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return tuple(self._real.worker_devices)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return tuple(self._real.parameter_devices)

    @property
    def experimental_require_static_shapes(self) -> bool:
        return self._real.experimental_require_static_shapes

    @property
    def experimental_between_graph(self) -> bool:
        return self._real.experimental_between_graph

    @property
    def should_checkpoint(self) -> bool:
        return self._real.should_checkpoint

    @property
    def should_save_summary(self) -> bool:
        return self._real.should_save_summary

    @property
    def _global_batch_size(self) -> bool:
        return False  # a dataset's batch is one replica's batch

    def _in_multi_worker_mode(self) -> bool:
        return in_multi_worker_mode(self._real)

    def _get_local_replica_id(self, replica_id_in_sync_group: Any) -> Any:
        return replica_id_in_sync_group

    # Variables.

    def _allow_variable_partition(self) -> bool:
        return self._partitions

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        kwargs.pop("colocate_with", None)
        variable = next_creator(**kwargs)
        if self._replicas > 1:
            on_read = kwargs.get("synchronization") == tf.VariableSynchronization.ON_READ
            make = make_replica_local if on_read else make_shared
            make(variable, self._replicas, self._in_replica)
        return variable

    def variable_created_in_scope(self, v: tf.Variable) -> bool:
        return True  # a trace has no other scope

    def non_slot_devices(self, var_list: Any) -> Any:
        return min(var_list, key=lambda variable: variable.name)

    def read_var(self, v: tf.Variable) -> tf.Tensor:
        return tf.identity(v)

    def value_container(self, value: Any) -> Any:
        return value

    # Exchanges between replicas.

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        with self._container_strategy().replica_context():
            return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any) -> Any:
        del destinations, options
        is_variable = isinstance(value, tf.Variable)
        if is_variable and value.synchronization == tf.VariableSynchronization.ON_READ:
            with self._updating():
                return join(reduce_op, tf.convert_to_tensor(value), self._replicas)
        is_same = is_variable or not tf.is_tensor(value)
        if is_same and reduce_op == tf.distribute.ReduceOp.MEAN:
            return value
        return join(reduce_op, value, self._replicas)

    def _gather_to_implementation(
        self, value: Any, destinations: Any, axis: int, options: Any
    ) -> tf.Tensor:
        del destinations, options
        return tf.concat(tf.unstack(gather_replicas(value, self._replicas), self._replicas), axis)

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        del destinations
        return tensor

    def _update(
        self, var: tf.Variable, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool
    ) -> Any:
        return self._update_non_slot(var, fn, (var, *args), kwargs, group)

    def _update_non_slot(
        self, colocate_with: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool
    ) -> Any:
        del colocate_with
        with self._updating():
            result = fn(*args, **kwargs)
        if not group:
            return tf.nest.map_structure(self._local_results, result)
        # For an assignment, the operation: it has no value to return.
        return result.op if isinstance(result, tf.Variable) else result

    def _local_results(self, val: Any) -> tuple[Any, ...]:
        return (val,)

    @contextlib.contextmanager
    def _updating(self) -> Iterator[None]:
        self._updates += 1
        try:
            yield
        finally:
            self._updates -= 1

    def _in_replica(self) -> bool:
        """Whether code of one replica is traced: the model, or the update of a variable."""
        if not tf.distribute.has_strategy():
            return False
        return self._updates > 0 or not tf.distribute.in_cross_replica_context()
