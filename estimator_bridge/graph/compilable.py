"""Finds the operations of a step that XLA cannot compile: the user's line and how to fix each.

A TensorFlow build without TPU support does not list the TPU's kernels. Apart from a few number
types they are the kernels that XLA registers for the CPU, and that list is available.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.errors import NotCompilableError, XlaMissingError
from estimator_bridge.graph.function_library import called_functions
from estimator_bridge.graph.op_kinds import V1_CONTROL_FLOW
from estimator_bridge.graph.snapshot import Snapshot
from estimator_bridge.graph.user_line import line_of_node
from estimator_bridge.graph.xla_lacks import LACKING
from estimator_bridge.tensorflow_private.xla import xla_op_types

__all__ = ["Obstacle", "find_obstacles", "lowering_error", "not_compilable", "xla_compiles"]

# Ops whose result sizes depend on the data.
_SIZED_BY_DATA = re.compile(
    r"Where|Unique(WithCounts)?(V2)?|ListDiff|DynamicPartition|NonMaxSuppression(V\d|WithOverlaps)?"
)
# Ops whose result sizes depend on an argument, which must then be constant.
_SIZED_BY_ARGUMENT = re.compile(
    r"Reshape|Fill|Range|LinSpace|Tile|BroadcastTo|TopK(V2)?|OneHot|(Strided)?Slice|Random.*"
    r"|TruncatedNormal|Multinomial"
)
_CONSTANTS = (
    "Shapes, sizes and axes must be known while the model is built: take them from x.shape or "
    "params, not from values."
)
_ELSEWHERE = "Compute it in input_fn, or on the host in eval_metrics or host_call."
_MENDS = (
    (r"Where", "tf.where(condition) and tf.boolean_mask return one row for each true element. "
     "Use tf.where(condition, x, y), or multiply by the mask."),
    (r"Unique.*|ListDiff|DynamicPartition", "The size of its result depends on the data. Compute "
     "it in input_fn, and pad it there to a fixed size."),
    (r"NonMaxSuppression.*", "Use tf.image.non_max_suppression_padded, with a fixed number of "
     "boxes."),
    (r"(Eager)?PyFunc(Stateless)?|NumpyFunction", "Python cannot run on an accelerator. "
     + _ELSEWHERE),
    (r".*Summary.*", "The host writes summaries: return host_call=(function, tensors) in "
     "the TPUEstimatorSpec."),
    (r"Print(V2)?", "Only the host can print: use a LoggingTensorHook, or host_call."),
    (r"LookupTable.*", "Tables are the host's: look up in input_fn."),
    (r".*String.*|AsString|Decode.*|Parse.*|.*Regex.*", "Accelerators have no strings or files: "
     "convert them to numbers in input_fn."),
    (r"Sparse.*", "Accelerators have no sparse tensors: use dense ones "
     "(tf.sparse.to_dense in input_fn) and tf.gather."),
)  # fmt: skip
_SIZE_IS_A_VALUE = f"The shape of its result is not static. {_CONSTANTS}"
_LOWERING_MENDS = {
    "fixed tensor list size": "XLA needs an upper bound on the iterations of a loop with gradients "
    "or a TensorArray: pass maximum_iterations to tf.while_loop.",
    "compile-time constant": _CONSTANTS,
}
_V1_LOOPS = (
    "It belongs to TF1's control flow: remove the program's call of "
    "tf.compat.v1.disable_control_flow_v2() inside model_fn."
)


@dataclasses.dataclass(frozen=True)
class Obstacle:
    """An operation that XLA cannot compile.

    Attributes:
      op: the type.
      name: the name; for one in a branch or loop, the name of the operation that calls that.
      line: 'file:line: code' of the user's program; None if no frame is the user's.
      reason: why it cannot be compiled, and how to fix it.
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
    exempt_ops: Collection[str] = (),
) -> list[Obstacle]:
    """Returns the operations that cannot be compiled, in the program's order.

    Args:
      graph: the traced graph.
      names: names of the nodes to compile.
      for_tpu: whether results must have static shapes too, which XLA does not require on a CPU.
      exempt_ops: types of ops to accept; those of ``LACKING`` are replaced outside of functions
        alone.
    """
    in_functions = set(exempt_ops) - LACKING
    snapshot = Snapshot.of(graph)
    functions = {f.signature.name: f for f in snapshot.library.function}
    obstacles = []
    for name in names:
        node = snapshot.nodes[name]
        # On a TPU such an op runs on the host, as the program requested.
        if node.op in exempt_ops or "_xla_outside_compilation" in node.attr:
            continue
        inner = [node] if node.op not in functions else []
        inner += _bodies(node, functions)
        for part in inner:
            is_itself = part is node
            reason = _reason(graph, part, is_itself, for_tpu)
            is_exempt = part.op in (exempt_ops if is_itself else in_functions)
            if reason and not is_exempt and part.op not in functions:
                line = line_of_node(graph, name)
                where = name if is_itself else f"{part.name} in {name}"
                obstacles.append(Obstacle(part.op, where, line, reason))
    return obstacles


def _bodies(node: Any, functions: dict[str, Any]) -> list[Any]:
    """Returns all nodes of the functions that a node calls, at any depth."""
    worklist, nodes = [node], []
    visited_names: set[str] = set()
    while worklist:
        for function_name in sorted(
            (called_functions(worklist.pop()) & functions.keys()) - visited_names
        ):
            visited_names.add(function_name)
            worklist += functions[function_name].node_def
            nodes += functions[function_name].node_def
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
    except KeyError:  # a node of an inlined function
        return None


def _is_static(tensors: Iterable[tf.Tensor]) -> bool:
    return all(tensor.shape.is_fully_defined() for tensor in tensors)


def xla_compiles(op: str) -> bool:
    """Returns whether XLA can compile ops of this type; ops that only TPUs have count too."""
    return op == "CrossReplicaSum" or op in _compiled_types()


@functools.cache
def _compiled_types() -> frozenset[str]:
    return frozenset(xla_op_types())


def _mend(op: str) -> str:
    for pattern, mend in _MENDS:
        if re.fullmatch(pattern, op):
            return mend
    return _ELSEWHERE


# The ends of TensorFlow's messages where a build has no XLA for the host.
_WITHOUT_XLA = (
    "could not find registered transfer manager for platform Host",
    "could not find registered compiler for platform Host",
)


def lowering_error(graph: tf.Graph, error: Exception) -> NotCompilableError:
    """Returns the error for a failed XLA compilation, with the user's lines of the ops it names."""
    text = str(error)
    if any(phrase in text for phrase in _WITHOUT_XLA):
        return XlaMissingError(
            "TensorFlow cannot compile this step here, and it is not the program's fault: this "
            "build of TensorFlow has no XLA for CPUs, as the wheel tensorflow-tpu has none. "
            "--check-tpu, --compile-for, check_model_fn, --xla and the JAX runtime need it: use "
            "them in an environment with the package tensorflow. A TPU compiles its steps itself."
        )
    lines = []
    for name in dict.fromkeys(re.findall(r"\{\{node ([^}]+)\}\}", text)):
        line = line_of_node(graph, name)
        if line:
            lines.append(f"  {name}, made at {line}")
    lines += [f"    {mend}" for phrase, mend in _LOWERING_MENDS.items() if phrase in text]
    summary = text.splitlines()[0] if text else repr(error)
    return NotCompilableError("\n".join([f"The step cannot be compiled by XLA: {summary}", *lines]))


def not_compilable(obstacles: Sequence[Obstacle]) -> NotCompilableError:
    """Returns the error that lists these operations."""
    listing = "\n".join(f"  {obstacle}" for obstacle in obstacles[:_MOST])
    remainder = f"\n  and {len(obstacles) - _MOST} more" if len(obstacles) > _MOST else ""
    return NotCompilableError(
        f"The step cannot be compiled by XLA, because of {len(obstacles)} operation(s):\n"
        f"{listing}{remainder}"
    )


_MOST = 5
