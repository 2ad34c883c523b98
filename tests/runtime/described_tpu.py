"""A program: traces a step loop for a TPU that is described, not present, and counts its ops.

TensorFlow's own TPUStrategyV2 is used; only the answer to "which devices are there?" is supplied.
Nothing can be executed, but the graph that a TPU would be given is there to be asserted on. It
writes one line of JSON.
"""

import collections
import json
import sys

import tensorflow as tf
from tensorflow.python.client import session as client_session
from tensorflow.python.distribute import tpu_strategy
from tensorflow.python.tpu import tpu_system_metadata

from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.runtime import HostStage, StepLoop
from estimator_bridge.tensorflow_private import eager_mode

HOST = "/job:localhost/replica:0/task:0/device:"
v1 = tf.compat.v1


class DescribedResolver(tf.distribute.cluster_resolver.TPUClusterResolver):
    """A resolver for a TPU host with so many cores."""

    environment, task_type, task_id = "", None, None

    def __init__(self, cores):
        kinds = [("TPU", i) for i in range(cores)] + [("TPU_SYSTEM", 0), ("CPU", 0)]
        devices = tuple(
            client_session._DeviceAttributes(f"{HOST}{kind}:{index}", kind, 1 << 30, position)
            for position, (kind, index) in enumerate(kinds)
        )
        self._tpu, self._tpu_topology, self._cores = "local", None, cores
        self._metadata = tpu_system_metadata.TPUSystemMetadata(
            num_cores=cores, num_hosts=1, num_of_cores_per_host=cores, topology=None,
            devices=devices,
        )  # fmt: skip

    def get_tpu_system_metadata(self):
        return self._metadata

    def cluster_spec(self):
        return None

    def master(self, *unused_args, **unused_kwargs):
        return "local"

    get_master = master

    def get_job_name(self):
        return None

    def num_accelerators(self, *unused_args, **unused_kwargs):
        return {"TPU": self._cores}


def program(cores, batch):
    """A convolutional model with batch norm over the replicas, dropout and a host call."""
    step = v1.train.get_or_create_global_step()
    x = v1.placeholder(tf.float32, [batch // cores, 4, 4, 1], name="x")
    y = v1.placeholder(tf.int64, [batch // cores], name="y")
    h = v1.layers.conv2d(x, 2, 3, name="conv")
    mean = v1.tpu.cross_replica_sum(tf.reduce_mean(h, [0, 1, 2])) / cores
    h = tf.nn.dropout(v1.layers.flatten(h - mean), 0.5)
    loss = v1.losses.sparse_softmax_cross_entropy(y, v1.layers.dense(h, 3, name="dense"))
    optimizer = v1.tpu.CrossShardOptimizer(v1.train.MomentumOptimizer(0.1, 0.9))
    train = optimizer.minimize(loss, step)
    gathered = v1.placeholder(tf.float32, [cores])
    record = v1.py_func(lambda losses: None, [gathered], [])
    per_replica = tf.reshape(loss, [1])
    return x, y, loss, train, HostStage({gathered.name: per_replica.name}, (f"^{record.name}",))


def main(cores, batch=16):
    tf.config.set_soft_device_placement(True)
    with trace_graph(seed=1, shards=cores) as graph:
        x, y, loss, train, host = program(cores, batch)
        summary = v1.summary.scalar("loss", loss)
        variables = [v.op.name for v in v1.global_variables()]
    strategy = tpu_strategy.TPUStrategyV2(DescribedResolver(cores))
    loop = StepLoop(
        LiftedSession(graph, strategy),
        strategy,
        [x.name, y.name],
        [f"^{train.name}"],
        loss.name,
        fetches=[summary.name],
        host=host,
        limit_variable="global_step",
    )
    with eager_mode():
        data = tf.data.Dataset.from_tensors(
            (tf.zeros([batch, 4, 4, 1]), tf.zeros([batch], "int64"))
        )
        traced = loop._function(iter(data))
    graph_def = traced.graph.as_graph_def()
    nodes = list(graph_def.node)
    nodes += [n for function in graph_def.library.function for n in function.node_def]
    on_tpu = [n for n in nodes if "_tpu_replicate" in n.attr]
    print(
        json.dumps(
            {
                "replicas": strategy.num_replicas_in_sync,
                "variables": variables,
                "all": collections.Counter(n.op for n in nodes),
                "on_tpu": collections.Counter(n.op for n in on_tpu),
                "handles": sum(
                    n.op == "TPUReplicatedInput"
                    and n.attr["T"].type == tf.resource.as_datatype_enum
                    for n in nodes
                ),
                "groups": sorted({n.attr["_tpu_replicate"].s.decode() for n in on_tpu}),
            }
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
