"""Which operations of a step XLA cannot compile, with the line that made each, and the mend.

A TensorFlow without a TPU has no list of the TPU's kernels. Theirs are, but for a few types of
numbers, those that XLA has for the CPU, and that list is there.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.errors import NotCompilableError
from estimator_bridge.graph.library import called_functions
from estimator_bridge.graph.op_kinds import V1_CONTROL_FLOW
from estimator_bridge.graph.snapshot import Snapshot
from estimator_bridge.graph.user_line import line_of_node
from estimator_bridge.tensorflow_private import xla_op_types

__all__ = ["Obstacle", "find_obstacles", "lowering_error", "not_compilable", "xla_compiles"]

# Ops whose results are as large as the data says.
_SIZED_BY_DATA = re.compile(
    r"Where|Unique(WithCounts)?(V2)?|ListDiff|DynamicPartition|NonMaxSuppression(V\d|WithOverlaps)?"
)
# Ops whose results are as large as an argument says, which has to be a constant then.
_SIZED_BY_ARGUMENT = re.compile(
    r"Reshape|Fill|Range|LinSpace|Tile|BroadcastTo|TopK(V2)?|OneHot|(Strided)?Slice|Random.*"
    r"|TruncatedNormal|Multinomial"
)
_CONSTANTS = (
    "Shapes, sizes and axes have to be known while the model is built: take them from x.shape, or "
    "from params, not from values."
)
_ELSEWHERE = "Compute it in input_fn, or in what eval_metrics or host_call run on the host."
_MENDS = (
    (r"Where", "tf.where(condition) and tf.boolean_mask give as many rows as there are true ones. "
     "Use tf.where(condition, x, y), or multiply by the mask."),
    (r"Unique.*|ListDiff|DynamicPartition", "Its result is as large as the data says. Compute it "
     "in input_fn, and pad it there to one size."),
    (r"NonMaxSuppression.*", "Use tf.image.non_max_suppression_padded, with a fixed number of "
     "boxes."),
    (r"(Eager)?PyFunc(Stateless)?|NumpyFunction", "Python cannot run on an accelerator. "
     + _ELSEWHERE),
    (r".*Summary.*", "Summaries are written by the host: return host_call=(function, tensors) in "
     "the TPUEstimatorSpec."),
    (r"Print(V2)?", "Printing is the host's: use a LoggingTensorHook, or host_call."),
    (r"LookupTable.*", "Tables are the host's: look up in input_fn."),
    (r".*String.*|AsString|Decode.*|Parse.*|.*Regex.*", "Texts and files are the host's: turn them "
     "into numbers in input_fn."),
    (r"Sparse.*", "Sparse tensors are not for accelerators: use dense ones "
     "(tf.sparse.to_dense in input_fn) and tf.gather."),
)  # fmt: skip
_SIZE_IS_A_VALUE = f"The shape of its result is not static. {_CONSTANTS}"
_LOWERING_MENDS = {
    "fixed tensor list size": "XLA needs to know how often a loop with gradients, or one with a "
    "TensorArray, may run: pass maximum_iterations to tf.while_loop.",
    "compile-time constant": _CONSTANTS,
}
_V1_LOOPS = (
    "It is of TF1's control flow: remove the program's call of "
    "tf.compat.v1.disable_control_flow_v2() inside model_fn."
)


@dataclasses.dataclass(frozen=True)
class Obstacle:
    """An operation that XLA cannot compile.

    Attributes:
      op: its type.
      name: its name; of one in a branch or loop, the name of the operation that calls that.
      line: 'file:line: code' of the user's program; None where no line is the user's.
      reason: why, and what to do.
    """

    op: str
    name: str
    line: str | None
    reason: str

    def __str__(self) -> str:
        place = f", made at {self.line}" if self.line else ""
        return f"{self.op} ({self.name}){place}\n    {self.reason}"


def find_obstacles(
    graph: tf.Graph,
    names: Iterable[str],
    for_tpu: bool,
    allowed: Collection[str] = (),
) -> list[Obstacle]:
    """The operations that cannot be compiled, in the program's order.

    Args:
      graph: the traced graph.
      names: of the nodes to compile.
      for_tpu: whether results must have static shapes too, which XLA does not ask on a CPU.
      allowed: types of ops to let pass.
    """
    snapshot = Snapshot.of(graph)
    functions = {f.signature.name: f for f in snapshot.library.function}
    found = []
    for name in names:
        node = snapshot.nodes[name]
        # On a TPU such an op runs on the host, which the program has asked for.
        if node.op in allowed or "_xla_outside_compilation" in node.attr:
            continue
        inner = [node] if node.op not in functions else []
        inner += _bodies(node, functions)
        for part in inner:
            is_itself = part is node
            reason = _reason(graph, part, is_itself, for_tpu)
            if reason and part.op not in allowed and part.op not in functions:
                line = line_of_node(graph, name)
                where = name if is_itself else f"{part.name} in {name}"
                found.append(Obstacle(part.op, where, line, reason))
    return found


def _bodies(node: Any, functions: dict[str, Any]) -> list[Any]:
    """All nodes of the functions that a node calls, at any depth."""
    waiting, nodes = [node], []
    seen: set[str] = set()
    while waiting:
        for called in sorted((called_functions(waiting.pop()) & functions.keys()) - seen):
            seen.add(called)
            waiting += functions[called].node_def
            nodes += functions[called].node_def
    return nodes


def _reason(graph: tf.Graph, node: Any, is_itself: bool, for_tpu: bool) -> str | None:
    if node.op in V1_CONTROL_FLOW:
        return _V1_LOOPS
    if not xla_compiles(node.op):
        return f"XLA has no such operation. {_mend(node.op)}"
    if not for_tpu:
        return None
    operation = _operation(graph, node.name) if is_itself else None
    if _SIZED_BY_DATA.fullmatch(node.op) and not (operation and _is_static(operation.outputs)):
        return f"The shape of its result is not static. {_mend(node.op)}"
    if _SIZED_BY_ARGUMENT.fullmatch(node.op) and operation and _is_static(operation.inputs):
        return None if _is_static(operation.outputs) else _SIZE_IS_A_VALUE
    return None


def _operation(graph: tf.Graph, name: str) -> tf.Operation | None:
    try:
        return graph.get_operation_by_name(name)
    except KeyError:  # of a function that was spread out
        return None


def _is_static(tensors: Iterable[tf.Tensor]) -> bool:
    return all(tensor.shape.is_fully_defined() for tensor in tensors)


def xla_compiles(op: str) -> bool:
    """Whether XLA has ops of this type; those that only TPUs have count too."""
    return op == "CrossReplicaSum" or op in _compiled_types()


@functools.cache
def _compiled_types() -> frozenset[str]:
    return frozenset(xla_op_types())


def _mend(op: str) -> str:
    for pattern, mend in _MENDS:
        if re.fullmatch(pattern, op):
            return mend
    return _ELSEWHERE


def lowering_error(graph: tf.Graph, error: Exception) -> NotCompilableError:
    """What XLA's compiler said, with the user's line of the operation that it names."""
    text = str(error)
    lines = []
    for name in dict.fromkeys(re.findall(r"\{\{node ([^}]+)\}\}", text)):
        line = line_of_node(graph, name)
        if line:
            lines.append(f"  {name}, made at {line}")
    lines += [f"    {mend}" for phrase, mend in _LOWERING_MENDS.items() if phrase in text]
    what = text.splitlines()[0] if text else repr(error)
    return NotCompilableError("\n".join([f"The step cannot be compiled by XLA: {what}", *lines]))


def not_compilable(obstacles: Sequence[Obstacle]) -> NotCompilableError:
    """The error that names these operations."""
    shown = "\n".join(f"  {obstacle}" for obstacle in obstacles[:_MOST])
    more = f"\n  and {len(obstacles) - _MOST} more" if len(obstacles) > _MOST else ""
    return NotCompilableError(
        f"The step cannot be compiled by XLA, because of {len(obstacles)} operation(s):\n"
        f"{shown}{more}"
    )


_MOST = 5
