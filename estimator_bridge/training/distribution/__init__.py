"""RunConfig's train_distribute and eval_distribute: a model_fn under a tf.distribute strategy.

The model is traced once, for one replica, under a strategy that records the replicas' exchanges
(``tracing_strategy``). The step then runs under the program's strategy.

Under ``train_distribute``, optimizers, metrics, layers and the model itself ask TensorFlow for the
current strategy, and leave cross-replica work to it. While the model is traced, the current
strategy is a stand-in (``tracing_strategy``) with as many replicas: a ``merge_call`` runs at once,
and values to be joined become a ``CrossReplicaSum`` (``replica_exchange_ops``). A mean divides it,
a broadcast sums one replica's value and zeros, and slices of a table each go into their own row. So
TensorFlow's own code scales the loss, adds up the gradients and combines the metrics, and the
engine runs the resulting graph on any strategy.

A variable with ``synchronization=ON_READ`` differs between replicas. A read outside of the replicas
(a metric's value) is a sum in the graph. Sessions work on a copy on the host, which is filled from
the replicas' copies before a run, and distributed to them after it (``graph.replica_local``). All
other variables have to stay the same. ``graph.divergence`` follows the values that differ, from the
batch, random numbers and per-replica variables, and refuses to assign one to a weight without a
sum.

Each replica uses its own element of the input: a step reads as many as there are replicas, and the
session evaluates the elements left over at the end.
"""

from estimator_bridge.training.distribution.execution import DistributedExecution
from estimator_bridge.training.distribution.strategies import strategy_for

__all__ = ["DistributedExecution", "strategy_for"]
