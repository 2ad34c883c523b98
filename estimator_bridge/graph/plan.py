"""Plans the execution of some fetches: nodes, order, and stages between sums over replicas.

A ``CrossReplicaSum`` needs the values of all replicas, and only a TPU has a kernel for it. So the
nodes are divided into stages: stage 0 needs no sum, stage 1 needs the sums of stage 0, and so on.
Inside a stage, nodes keep the program's creation order (but see ``step_reads``), because
tf.function orders the accesses to one resource by it. Across stages the same order is kept by
holding each node back until the stage of the access before it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from estimator_bridge.graph.effects import Effects
from estimator_bridge.graph.function_library import called_functions, functions_where
from estimator_bridge.graph.global_step_order import with_global_step_reads_first
from estimator_bridge.graph.op_kinds import READS, V1_CONTROL_FLOW
from estimator_bridge.graph.pruning import in_order, needed_nodes
from estimator_bridge.graph.snapshot import Snapshot, node_name

__all__ = ["Plan", "Stage", "make_plan", "touched_resources"]

_SUM = "CrossReplicaSum"
_PASSES_RESOURCE = frozenset({"Identity", "IdentityN", "Enter", "Switch", "Merge", "Exit"})
_EMPTY_LISTS = frozenset({"EmptyTensorList", "TensorListReserve"})
# Prefixes of op types that fail, or return nonsense, on a variable without a value.
_NEEDS_VALUE = (
    "ReadVariableOp",
    "ResourceGather",
    "ResourceApply",
    "ResourceSparseApply",
    "ResourceScatter",
    "AssignAdd",
    "AssignSub",
)


@dataclasses.dataclass
class Stage:
    """Nodes that need no value from another replica, then the sums that end the stage."""

    body: list[str]
    sums: list[str]


@dataclasses.dataclass
class Plan:
    """The stages for some fetches.

    Attributes:
      stages: the stages, at least one.
      inputs: by node, its inputs and control inputs ('a:0', '^a').
      input_refs: the offered tensor references that are used.
      writes: the resource nodes that some node of the plan may write.
      reads_first: the resource nodes whose value is used before the plan sets it.
      has_v1_control_flow: whether the nodes include Switch, Merge, Enter, ...
    """

    stages: list[Stage]
    inputs: dict[str, list[str]]
    input_refs: set[str]
    writes: set[str]
    reads_first: set[str]
    has_v1_control_flow: bool


def make_plan(
    snapshot: Snapshot, fetches: Iterable[str], input_refs: Iterable[str], resources: set[str]
) -> Plan:
    """Prunes the graph to the fetches, and orders and stages the nodes.

    Args:
      snapshot: the traced graph.
      fetches: tensor references ('a:0') and operations ('^a').
      input_refs: tensor references whose values come from outside: placeholders, feeds, handles.
      resources: names of the nodes that own a resource (variables, tables).

    Raises:
      NotImplementedError: a CrossReplicaSum is where stages cannot be cut: in a branch or
        loop, or in a graph with v1 control flow.
    """
    inputs, used_refs = needed_nodes(snapshot, fetches, set(input_refs), resources)
    order = in_order(snapshot, inputs)
    owners_by_node = touched_resources(snapshot, order, inputs, resources)
    v1_control_flow = any(snapshot.nodes[name].op in V1_CONTROL_FLOW for name in order)
    if not v1_control_flow:  # there only the program's edges define an order
        order = with_global_step_reads_first(snapshot, order)
    stage_of = _stages(snapshot, order, inputs, owners_by_node)
    if v1_control_flow:  # end reads cannot wait for all nodes inside the same stage
        stage_of.update((name, 1) for name in order if name in snapshot.end_reads)
    stages = [Stage([], []) for _ in range(max(stage_of.values(), default=0) + 1)]
    for name in order:
        stage = stages[stage_of[name]]
        (stage.sums if snapshot.nodes[name].op == _SUM else stage.body).append(name)
    _check_sums(snapshot, order, v1_control_flow)
    changes = Effects.of(snapshot).changes_state
    writes = {
        resource
        for name in order
        if snapshot.nodes[name].op not in _PASSES_RESOURCE and changes(snapshot.nodes[name])
        for resource in owners_by_node.get(name, ())
    }
    reads_first = set() if v1_control_flow else _reads_first(snapshot, order, owners_by_node)
    return Plan(stages, inputs, used_refs, writes, reads_first, v1_control_flow)


def touched_resources(
    snapshot: Snapshot, order: list[str], inputs: dict[str, list[str]], resources: set[str]
) -> dict[str, set[str]]:
    """Returns, by node, the resource owners whose handles reach its inputs."""
    handles: dict[str, set[str]] = {name: {name} for name in resources}
    owners_by_node: dict[str, set[str]] = {}
    for name in order:
        owners = set()
        for ref in inputs[name]:
            if not ref.startswith("^"):
                owners |= handles.get(node_name(ref), set())
        if owners:
            owners_by_node[name] = owners
            if snapshot.nodes[name].op in _PASSES_RESOURCE:
                handles[name] = owners
    return owners_by_node


def _stages(
    snapshot: Snapshot,
    order: list[str],
    inputs: dict[str, list[str]],
    owners_by_node: dict[str, set[str]],
) -> dict[str, int]:
    stage: dict[str, int] = {}
    last_write: dict[str, int] = {}
    last_access: dict[str, int] = {}
    for name in order:
        level = 0
        for ref in inputs[name]:
            source = node_name(ref)
            if source in stage:
                level = max(level, stage[source] + (snapshot.nodes[source].op == _SUM))
        reads = snapshot.nodes[name].op in READS
        for owner in owners_by_node.get(name, ()):
            level = max(level, (last_write if reads else last_access).get(owner, 0))
        for owner in owners_by_node.get(name, ()):
            last_access[owner] = max(level, last_access.get(owner, 0))
            if not reads:
                last_write[owner] = level
        stage[name] = level
    _put_off_lists(snapshot, order, inputs, stage)
    return stage


def _put_off_lists(
    snapshot: Snapshot, order: list[str], inputs: dict[str, list[str]], stage: dict[str, int]
) -> None:
    """Moves empty lists, which have no inputs, to the stage of the loop that fills them.

    XLA compiles a stage as a whole, and compiled parts cannot pass a list on.
    """
    lists: dict[str, list[int]] = {
        name: [] for name in order if snapshot.nodes[name].op in _EMPTY_LISTS
    }
    for name in order if lists else []:
        for ref in inputs[name]:
            if node_name(ref) in lists:
                lists[node_name(ref)].append(stage[name])
    for name, users in lists.items():
        stage[name] = min(users, default=stage[name])


def _reads_first(
    snapshot: Snapshot, order: list[str], owners_by_node: dict[str, set[str]]
) -> set[str]:
    reads: set[str] = set()
    settled_owners: set[str] = set()
    for name in order:
        op = snapshot.nodes[name].op
        if op in _PASSES_RESOURCE or op in ("VarIsInitializedOp", "VariableShape"):
            continue
        owners = owners_by_node.get(name, set())
        if op.startswith(_NEEDS_VALUE):
            reads |= owners - settled_owners
        settled_owners |= owners
    return reads


def _check_sums(snapshot: Snapshot, order: list[str], v1_control_flow: bool) -> None:
    sums = [name for name in order if snapshot.nodes[name].op == _SUM]
    if sums and v1_control_flow:
        raise NotImplementedError(
            f"CrossReplicaSum {sums[0]!r} is in a graph with v1 control flow (Switch, Merge, "
            "Enter, ...), where replicas cannot be joined. The model is traced with v2 control "
            "flow on; remove the program's call of tf.compat.v1.disable_control_flow_v2() inside "
            "model_fn."
        )
    hiding = functions_where(snapshot.library, lambda node: node.op == _SUM)
    for name in order:
        for function_name in called_functions(snapshot.nodes[name]) & hiding:
            raise NotImplementedError(
                f"A cross-replica sum is inside the function {function_name!r} that operation "
                f"{name!r} ({snapshot.nodes[name].op}) calls: a branch or a loop, which replicas "
                "may run a different number of times. Compute the sum (CrossShardOptimizer's "
                "apply_gradients, cross_replica_sum) outside it and use the result inside."
            )
