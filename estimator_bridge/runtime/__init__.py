"""Where steps run: accelerators, strategies, emulated cores, compiled loops.

A runtime
---------

A runtime runs the steps of a traced graph. The outer loop, hooks, evaluation and prediction do not
know which one it is; they know three things:

- A loop (``loop`` makes it for a strategy). ``StepLoop`` is TensorFlow's, ``JaxLoop``
  (``on_jax.loop``) JAX's. Both are called with an iterator, a number of steps, a position in the
  random streams, a limit and fed values, and return a ``LoopResult``.
- The variables' values. TensorFlow's variables hold them for sessions, savers and the host's part
  of a step. A runtime with values elsewhere gives ``Resources.keep_on`` a ``DeviceValues``: before
  a session reads variables, ``combine`` brings newer values; after it wrote some, ``deal_out`` has
  the device's forgotten. So nothing is copied between two loops unless a hook asks for it, and
  checkpoints have the same names and contents.
- The strategy, which says how many replicas there are. ``JaxStrategy`` has as many as JAX has
  devices, on the hosts of one or several processes; a program's own ``strategy.run`` is refused.

The draw of a batch
-------------------

The next batch is read at the end of a step, as an optional and only if another step follows
(``loop_body``). The read waits neither for the loss nor for the global step, if the graph shows
that a step adds exactly one to it (``graph.counters``). The batch's presence is the loop's
condition. So an input that ends inside a loop loses no step, counts none that did not run, and
reads no batch that is not used, and the loop's body is the step, without a branch around it. Hooks'
fetches are computed once after the loop, from values that the last step leaves for it.

Strategies of programs' own loops
---------------------------------

``tf.distribute.TPUStrategy(resolver)`` of an emulated resolver makes a subclass of TensorFlow's
class (``strategy_on_cores``) whose inner part is that of a MirroredStrategy on the cores, with
addition on one core. TensorFlow's class stays and only its ``__new__`` is replaced (``tpu_api``),
so ``isinstance`` holds, also for a program that imported the class earlier. Keras recognizes a
TPUStrategy by its class and takes the same branches as on a TPU: a metric's variables are summed
when they are written, and the first core's logs count.

The engine alone
----------------

``graph`` and ``runtime`` work without an estimator::

    import tensorflow as tf
    from estimator_bridge.graph import LiftedSession, trace_graph
    from estimator_bridge.runtime import Step, StepLoop, tpu_strategy

    tf1 = tf.compat.v1

    strategy = tpu_strategy(master="emulated:2")
    with trace_graph(seed=1, shards=2) as graph:
        x = tf1.placeholder(tf.float32, [3], name="x")
        total = tf1.get_variable("total", [], initializer=tf1.zeros_initializer())
        both = tf1.tpu.cross_replica_sum(tf.reduce_sum(x))
        update = tf1.assign_add(total, both)
        init = tf1.global_variables_initializer()

    session = LiftedSession(graph, strategy)
    session.run(init)
    loop = StepLoop(session, strategy, Step([x.name], ["^" + update.op.name]))
    batches = tf.data.Dataset.from_tensors(tf.ones([6])).repeat(5)
    print(loop(iter(batches), steps=100).steps, "steps, until the input ended")
    print(session.run(total))

It prints::

    5 steps, until the input ended
    30.0
"""

from estimator_bridge.runtime.accelerators import TPUClusterResolver, tpu_present
from estimator_bridge.runtime.cluster import connect_workers, multi_worker_strategy
from estimator_bridge.runtime.hosts import Host, hosts_of
from estimator_bridge.runtime.local_clusters import (
    EmulatedClusterResolver,
    GPUClusterResolver,
    cores_for_any_tpu,
    emulate_cores,
    parse_local,
)
from estimator_bridge.runtime.loop import StepLoop, alone, is_on_jax, step_loop
from estimator_bridge.runtime.replicas import BatchLayout
from estimator_bridge.runtime.step import ReplicaStep
from estimator_bridge.runtime.step_outputs import StepOutputs
from estimator_bridge.runtime.step_values import HostStage, LoopRequest, LoopResult, Step
from estimator_bridge.runtime.strategies import default_strategy, tpu_strategy
from estimator_bridge.runtime.workers import Workers, local_replicas, workers_of

__all__ = [
    "BatchLayout",
    "EmulatedClusterResolver",
    "GPUClusterResolver",
    "Host",
    "HostStage",
    "LoopRequest",
    "LoopResult",
    "ReplicaStep",
    "Step",
    "StepLoop",
    "StepOutputs",
    "TPUClusterResolver",
    "Workers",
    "alone",
    "connect_workers",
    "cores_for_any_tpu",
    "default_strategy",
    "emulate_cores",
    "hosts_of",
    "is_on_jax",
    "local_replicas",
    "multi_worker_strategy",
    "parse_local",
    "step_loop",
    "tpu_present",
    "tpu_strategy",
    "workers_of",
]


def __dir__() -> list[str]:
    return sorted(__all__)
