"""What has to run for some fetches, in which order, and cut where the replicas must meet.

A ``CrossReplicaSum`` needs the values of all replicas, and only a TPU has a kernel for it. So the
nodes are dealt into stages: stage 0 needs no sum, stage 1 needs the sums of stage 0, and so on.
Inside a stage nodes keep the program's creation order, because tf.function orders the accesses to
one resource by it; across stages the same order of accesses is kept by holding a node back until
the stage of the access before it.
"""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Iterable

from estimator_bridge.graph.snapshot import Snapshot, node_name, tensor_ref

__all__ = ["READS", "V1_CONTROL_FLOW", "Plan", "Stage", "function_names", "make_plan"]

V1_CONTROL_FLOW = frozenset(
    "Switch RefSwitch Merge RefMerge Enter RefEnter Exit RefExit NextIteration RefNextIteration "
    "LoopCond".split()
)
_BACK_EDGES = ("NextIteration", "RefNextIteration")
_SUM = "CrossReplicaSum"
_PASSES_RESOURCE = frozenset({"Identity", "IdentityN", "Enter", "Switch", "Merge", "Exit"})
READS = frozenset(
    "ReadVariableOp VarIsInitializedOp VariableShape ResourceGather ResourceGatherNd "
    "LookupTableFindV2 LookupTableSizeV2 LookupTableExportV2".split()
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
      stages: at least one.
      given: the tensor references among those offered that are really used.
      writes: the resource nodes that some node of the plan may write.
      has_v1_control_flow: whether Switch, Merge, Enter, ... are among the nodes.
    """

    stages: list[Stage]
    given: set[str]
    writes: set[str]
    has_v1_control_flow: bool


def make_plan(
    snapshot: Snapshot, fetches: Iterable[str], given: Iterable[str], resources: set[str]
) -> Plan:
    """Prunes to the fetches, orders and stages.

    Args:
      snapshot: the traced graph.
      fetches: tensor references ('a:0') and operations ('^a').
      given: tensor references whose values come from outside: placeholders, feeds, handles.
      resources: names of the nodes that own a resource (variables, tables).

    Raises:
      NotImplementedError: a CrossReplicaSum where the stages cannot be cut: in a function's body,
        or in a graph with v1 control flow.
    """
    needed, used = _needed(snapshot, fetches, set(given))
    order = _ordered(snapshot, needed)
    touched = _touched(snapshot, order, resources)
    stage_of = _stages(snapshot, order, touched)
    stages = [Stage([], []) for _ in range(max(stage_of.values(), default=0) + 1)]
    for name in order:
        stage = stages[stage_of[name]]
        (stage.sums if snapshot.nodes[name].op == _SUM else stage.body).append(name)
    ops = {snapshot.nodes[name].op for name in order}
    v1_control_flow = bool(ops & V1_CONTROL_FLOW)
    _check_sums(snapshot, order, v1_control_flow)
    writes = {
        resource
        for name in order
        if snapshot.nodes[name].op not in READS | _PASSES_RESOURCE
        for resource in touched.get(name, ())
    }
    return Plan(stages, used, writes, v1_control_flow)


def _needed(
    snapshot: Snapshot, fetches: Iterable[str], given: set[str]
) -> tuple[set[str], set[str]]:
    needed: set[str] = set()
    used: set[str] = set()
    waiting = [tensor_ref(f) for f in fetches]
    while waiting:
        ref = waiting.pop()
        if ref in given:
            used.add(ref)
            continue
        name = node_name(ref)
        if name not in needed:
            if name not in snapshot.nodes:
                raise KeyError(f"The graph has no operation named {name!r}.")
            needed.add(name)
            waiting += map(tensor_ref, snapshot.nodes[name].input)
    return needed, used


def _ordered(snapshot: Snapshot, needed: set[str]) -> list[str]:
    """The needed nodes in creation order, or, where later edges forbid it, as near as can be."""
    order = [name for name in snapshot.nodes if name in needed]
    position = {name: i for i, name in enumerate(order)}
    forward = {
        name: {
            node_name(i)
            for i in snapshot.nodes[name].input
            if node_name(i) in needed and snapshot.nodes[node_name(i)].op not in _BACK_EDGES
        }
        for name in order
    }
    if all(position[i] < position[name] for name in order for i in forward[name]):
        return order
    users: dict[str, list[str]] = {name: [] for name in order}
    missing = {name: len(forward[name]) for name in order}
    for name in order:
        for i in forward[name]:
            users[i].append(name)
    ready = [position[name] for name in order if not missing[name]]
    heapq.heapify(ready)
    result = []
    while ready:
        name = order[heapq.heappop(ready)]
        result.append(name)
        for user in users[name]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, position[user])
    return result


def _touched(snapshot: Snapshot, order: list[str], resources: set[str]) -> dict[str, set[str]]:
    """By node, the resource owners whose handles reach its inputs."""
    carried: dict[str, set[str]] = {name: {name} for name in resources}
    touched: dict[str, set[str]] = {}
    for name in order:
        node = snapshot.nodes[name]
        owners = set()
        for ref in node.input:
            if not ref.startswith("^"):
                owners |= carried.get(node_name(ref), set())
        if owners:
            touched[name] = owners
            if node.op in _PASSES_RESOURCE:
                carried[name] = owners
    return touched


def _stages(snapshot: Snapshot, order: list[str], touched: dict[str, set[str]]) -> dict[str, int]:
    stage: dict[str, int] = {}
    last_write: dict[str, int] = {}
    last_access: dict[str, int] = {}
    for name in order:
        node = snapshot.nodes[name]
        level = 0
        for ref in node.input:
            source = node_name(ref)
            if source in stage:
                level = max(level, stage[source] + (snapshot.nodes[source].op == _SUM))
        reads = node.op in READS
        for owner in touched.get(name, ()):
            level = max(level, (last_write if reads else last_access).get(owner, 0))
        for owner in touched.get(name, ()):
            last_access[owner] = max(level, last_access.get(owner, 0))
            if not reads:
                last_write[owner] = level
        stage[name] = level
    return stage


def _check_sums(snapshot: Snapshot, order: list[str], v1_control_flow: bool) -> None:
    sums = [name for name in order if snapshot.nodes[name].op == _SUM]
    if sums and v1_control_flow:
        raise NotImplementedError(
            f"CrossReplicaSum {sums[0]!r} stands in a graph with v1 control flow (Switch, Merge, "
            "Enter, ...), where replicas cannot be joined. The model is traced with v2 control "
            "flow on; remove the program's call of tf.compat.v1.disable_control_flow_v2() inside "
            "model_fn."
        )
    hiding = {
        function.signature.name
        for function in snapshot.library.function
        if any(node.op == _SUM for node in function.node_def)
    }
    if not hiding:
        return
    for name in order:
        for called in function_names(snapshot.nodes[name]):
            if called in hiding:
                raise NotImplementedError(
                    f"A cross-replica sum stands inside the function {called!r} that operation "
                    f"{name!r} ({snapshot.nodes[name].op}) calls: a tf.cond or tf.while_loop "
                    "branch, or a tf.function. Compute the sum (CrossShardOptimizer's "
                    "apply_gradients, cross_replica_sum) outside of it and use its result inside."
                )


def function_names(node) -> set[str]:
    """The library functions that a NodeDef names in its attributes."""
    names = set()
    for attr in node.attr.values():
        kind = attr.WhichOneof("value")
        if kind == "func":
            names.add(attr.func.name)
        elif kind == "list":
            names.update(function.name for function in attr.list.func)
    return names
