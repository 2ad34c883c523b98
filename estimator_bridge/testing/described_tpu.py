"""TensorFlow's own TPUStrategy for a TPU that is described, not present.

Only the answer to "which devices are there?" is supplied. Nothing can run on it, but a loop can be
traced, and the graph that a TPU would be given is there to be asserted on.
"""

from __future__ import annotations

import collections
import dataclasses
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["TPUGraph", "described_tpu"]

_HOST = "/job:localhost/replica:0/task:0/device:"
# What stands on the border of a TPU's computation, or belongs to it alone.
_TPU_OPS = frozenset(
    {
        "TPUCompilationResult",
        "TPUReplicateMetadata",
        "TPUReplicatedInput",
        "TPUReplicatedOutput",
    }
)


class _Device(NamedTuple):
    name: str
    device_type: str


class _DescribedResolver(tf.distribute.cluster_resolver.TPUClusterResolver):
    """A resolver for one host with so many cores."""

    environment, task_type, task_id = "", None, None

    def __init__(self, cores: int):
        kinds = [("TPU", i) for i in range(cores)] + [("TPU_SYSTEM", 0), ("CPU", 0)]
        self._tpu, self._tpu_topology, self._cores = "local", None, cores
        self._metadata = tf.tpu.experimental.TPUSystemMetadata(
            num_cores=cores,
            num_hosts=1,
            num_of_cores_per_host=cores,
            topology=None,
            devices=tuple(_Device(f"{_HOST}{kind}:{number}", kind) for kind, number in kinds),
        )

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


def described_tpu(cores: int = 8) -> tf.distribute.Strategy:
    """TensorFlow's TPUStrategy for a host with so many TPU cores, which need not exist.

    Functions can be traced under it, and not called.
    """
    with eager_mode():
        tf.config.set_soft_device_placement(True)
        return tf.distribute.TPUStrategy(_DescribedResolver(cores))


@dataclasses.dataclass(frozen=True)
class TPUGraph:
    """What a TPU would be given.

    Attributes:
      replicas: how many cores.
      all: how often each type of op is in the graph, its functions included.
      on_tpu: the same, of the replicated part, which is compiled for the TPU.
      names_on_tpu: names of the nodes of that part, by type of op.
      variables: how many variables arrive there as the cores' own copies.
      computations: how many replicated parts there are.
    """

    replicas: int
    all: collections.Counter
    on_tpu: collections.Counter
    names_on_tpu: dict[str, list[str]]
    variables: int
    computations: int

    @classmethod
    def of(cls, graph: tf.Graph, replicas: int) -> TPUGraph:
        """Counts a graph that was traced under ``described_tpu(replicas)``."""
        graph_def = graph.as_graph_def()
        nodes: list[Any] = list(graph_def.node)
        nodes += [node for function in graph_def.library.function for node in function.node_def]
        on_tpu = [node for node in nodes if "_tpu_replicate" in node.attr]
        names: dict[str, list[str]] = {}
        for node in on_tpu:
            if node.op not in _TPU_OPS:
                names.setdefault(node.op, []).append(node.name)
        return cls(
            replicas,
            collections.Counter(node.op for node in nodes),
            collections.Counter(node.op for node in on_tpu),
            names,
            sum(_is_variable(node) for node in nodes),
            len({node.attr["_tpu_replicate"].s for node in on_tpu}),
        )


def _is_variable(node: Any) -> bool:
    is_resource = node.attr["T"].type == tf.resource.as_datatype_enum
    return node.op == "TPUReplicatedInput" and is_resource
