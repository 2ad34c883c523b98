"""TensorFlow's TPUStrategy for a TPU that is described, not present.

Only the list of devices is supplied. Nothing can run on them, but a loop can be traced, and tests
can assert on the graph that a TPU would be given.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.runtime.topology import assign_cores, topology_of
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.tensorflow_private.strategies import wrap_variable_creation

__all__ = ["TPUGraph", "described_tpu"]

# Ops at the border of a TPU's computation, or that exist only in one.
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
    """A resolver for hosts with an equal number of cores each; a single host is local."""

    environment, task_type, task_id = "", None, None

    def __init__(self, cores: int, hosts: int):
        kinds = [("TPU", i) for i in range(cores)] + [("TPU_SYSTEM", 0), ("CPU", 0)]
        self._tpu, self._tpu_topology, self._cores = "local", None, cores
        self._job = "worker" if hosts > 1 else "localhost"
        self._metadata = tf.tpu.experimental.TPUSystemMetadata(
            num_cores=cores * hosts,
            num_hosts=hosts,
            num_of_cores_per_host=cores,
            topology=None,
            devices=tuple(
                _Device(f"/job:{self._job}/replica:0/task:{host}/device:{kind}:{number}", kind)
                for host in range(hosts)
                for kind, number in kinds
            ),
        )

    def get_tpu_system_metadata(self):
        return self._metadata

    def cluster_spec(self):
        return None

    def master(self, *unused_args, **unused_kwargs):
        return "local"

    get_master = master

    def get_job_name(self):
        return self._job

    def num_accelerators(self, *unused_args, **unused_kwargs):
        return {"TPU": self._cores}


def described_tpu(
    cores: int = 8, hosts: int = 1, cores_per_replica: int | None = None
) -> tf.distribute.Strategy:
    """Makes TensorFlow's TPUStrategy for TPU cores that need not exist.

    Functions can be traced under it, but not called.

    Args:
      cores: cores per host.
      hosts: number of hosts; with several, none of them is this machine.
      cores_per_replica: see ``TPUConfig``'s ``num_cores_per_replica``.
    """
    with eager_mode():
        tf.config.set_soft_device_placement(True)
        assignment = None
        if cores_per_replica:
            assignment = assign_cores(topology_of(cores * hosts, hosts), cores_per_replica)
        strategy = tf.distribute.TPUStrategy(
            _DescribedResolver(cores, hosts), experimental_device_assignment=assignment
        )
    if hosts > 1:
        _make_variables_here(strategy)
    return strategy


def _make_variables_here(strategy: tf.distribute.Strategy) -> None:
    """Makes a strategy create all copies of its variables in this process.

    A trace uses only the handles, and a missing host could not create any.
    """

    def create_in_this_process(next_creator: Callable[..., Any]) -> Callable[..., Any]:
        def create(**each: Any) -> Any:
            with tf.device(None):
                return next_creator(**each)

        return create

    wrap_variable_creation(strategy, create_in_this_process)


@dataclasses.dataclass(frozen=True)
class TPUGraph:
    """The graph that a TPU would be given.

    Attributes:
      replicas: number of replicas.
      all: number of ops by type in the graph, including its functions.
      on_tpu: the same for the replicated part, which is compiled for the TPU.
      names_on_tpu: node names of that part, by op type.
      variables: number of variables that enter it as the replicas' own copies.
      computations: number of replicated parts.
      dynamic: names of nodes of that part whose results have no static shape.
      placed: number of ops by type, for each device that nodes name.
    """

    replicas: int
    all: collections.Counter
    on_tpu: collections.Counter
    names_on_tpu: dict[str, list[str]]
    variables: int
    computations: int
    dynamic: tuple[str, ...] = ()
    placed: dict[str, collections.Counter] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, graph: tf.Graph, replicas: int) -> TPUGraph:
        """Counts a graph that was traced under a ``described_tpu`` with these replicas."""
        graph_def = graph.as_graph_def(add_shapes=True)
        nodes: list[Any] = list(graph_def.node)
        nodes += [node for function in graph_def.library.function for node in function.node_def]
        on_tpu = [node for node in nodes if "_tpu_replicate" in node.attr]
        names: dict[str, list[str]] = {}
        for node in on_tpu:
            if node.op not in _TPU_OPS:
                names.setdefault(node.op, []).append(node.name)
        ops_by_device: dict[str, collections.Counter] = {}
        for node in nodes:
            ops_by_device.setdefault(node.device, collections.Counter())[node.op] += 1
        return cls(
            replicas,
            collections.Counter(node.op for node in nodes),
            collections.Counter(node.op for node in on_tpu),
            names,
            sum(_is_variable(node) for node in nodes),
            len({node.attr["_tpu_replicate"].s for node in on_tpu}),
            tuple(node.name for node in on_tpu if not _is_static(node)),
            ops_by_device,
        )


def _is_static(node: Any) -> bool:
    shapes = node.attr["_output_shapes"].list.shape
    return all(tf.TensorShape(shape).is_fully_defined() for shape in shapes)


def _is_variable(node: Any) -> bool:
    is_resource = node.attr["T"].type == tf.resource.as_datatype_enum
    return node.op == "TPUReplicatedInput" and is_resource
