"""Functions with random ops, rewritten so that the position in each stream comes from outside.

A kernel in a loop's body draws in each iteration, and one in a branch only if the branch is taken.
So a function gets a counter for each of its random ops as a further argument: how many numbers the
op has drawn. It returns the counters as they are afterwards. Loops carry them from iteration to
iteration, which also gives the iterations a fixed order; TensorFlow's own are drawn in whichever
order they run. Each call of a function has streams of its own, as kernels of inlined calls have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.function_library import called_functions
from estimator_bridge.graph.op_kinds import V1_CONTROL_FLOW

__all__ = ["BRANCHES", "CALLS", "LOOPS", "DrawFunctions", "NotCountedError", "first_counter"]

LOOPS = frozenset({"While", "StatelessWhile"})
BRANCHES = {
    "If": ("then_branch", "else_branch"),
    "StatelessIf": ("then_branch", "else_branch"),
    "Case": ("branches",),
    "StatelessCase": ("branches",),
}
CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})

_COUNTER, _KEY = "estimator_bridge_counter", "estimator_bridge_key"
_INT64, _UINT64 = tf.int64.as_datatype_enum, tf.uint64.as_datatype_enum


class NotCountedError(Exception):
    """Random ops draw where no counter reaches them, or how often depends on values."""


class DrawFunctions:
    """Rewrites the nodes that call functions with random ops.

    Args:
      library: the functions of the graph.
      random_functions: the names of those that contain seeded ops, at any depth.
      is_seeded: whether a node has a stream of its own.
      ops: the types of ops that ``draw`` has. Others keep their kernels.
      draw: returns a function that draws an op's numbers, and those that it calls: a FunctionDef of
        the op's inputs, its counter (int64 scalar) and the replica's key (uint64 [1]), which
        returns the numbers and the counter after them.
      has_kernels: whether there are kernels, for ops that are not drawn.

    Attributes:
      functions: all functions by name: the library's, and those made for rewritten nodes.
    """

    def __init__(
        self,
        library: Any,
        random_functions: set[str],
        is_seeded: Callable[[Any], bool],
        ops: Set[str],
        draw: Callable[[Any], Sequence[Any]],
        has_kernels: bool,
    ):
        self.functions: dict[str, Any] = {f.signature.name: f for f in library.function}
        self._random_functions, self._is_seeded = random_functions, is_seeded
        self._ops, self._draw, self._has_kernels = ops, draw, has_kernels
        self._counts: dict[str, int] = {}
        self._own = len(self.functions)

    @property
    def new_functions(self) -> list[Any]:
        """The functions made for rewritten nodes."""
        return list(self.functions.values())[self._own :]

    def count(self, node: Any) -> int:
        """Returns the number of drawn ops that a node is or calls, each call counted.

        Raises:
          NotCountedError: some of them cannot have a counter.
        """
        if node.op in self._ops:
            return 1
        if not called_functions(node) & self._random_functions:
            if self._is_seeded(node) and not self._has_kernels:
                raise NotCountedError(node.op)
            return 0
        if node.op in LOOPS:
            if node.attr["cond"].func.name in self._random_functions:
                raise NotCountedError("a loop's condition")
            return self._count_in(node.attr["body"].func.name)
        if node.op in BRANCHES or node.op in CALLS:
            return sum(self._count_in(function.name) for function in _functions_of(node))
        raise NotCountedError(node.op)

    def _count_in(self, name: str) -> int:
        if name not in self._counts:
            nodes = self.functions[name].node_def
            count = sum(map(self.count, nodes))
            if count and any(node.op in V1_CONTROL_FLOW for node in nodes):
                raise NotCountedError("v1 control flow")
            self._counts[name] = count
        return self._counts[name]

    def rewritten(self, node: Any, counters: Sequence[str], key: str) -> Any:
        """Returns a node that takes counters, and the key, after its other inputs.

        Its outputs are followed by the counters as they are afterwards.

        Args:
          node: a node with as many drawn ops as there are counters.
          counters: references of the counters.
          key: a reference of the replica's key.
        """
        copy = tf.compat.v1.NodeDef()
        copy.CopyFrom(node)
        data = [ref for ref in node.input if not ref.startswith("^")]
        controls = [ref for ref in node.input if ref.startswith("^")]
        copy.input[:] = [*data, *counters, key, *controls]
        if node.op in self._ops:
            return self._as_call(node, copy)
        size, attrs = len(counters), copy.attr
        if node.op in LOOPS:
            attrs["T"].list.type.extend([*[_INT64] * size, _UINT64])
            _extend_shapes(attrs, size, has_key=True)
            for role, has_results in (("cond", False), ("body", True)):
                function = attrs[role].func
                function.name = self._clone(function.name, 0, size, has_results, True)
            return copy
        attrs["Tin"].list.type.extend([*[_INT64] * size, _UINT64])
        attrs["Tout"].list.type.extend([_INT64] * size)
        _extend_shapes(attrs, size, has_key=False)
        begin = 0
        for function in _functions_of(copy):
            count = self._count_in(function.name)
            function.name = self._clone(function.name, begin, size, True, False)
            begin += count
        return copy

    def _as_call(self, node: Any, copy: Any) -> Any:
        """Returns a call, with the inputs of ``copy``, of what draws a node's numbers."""
        draw, *others = self._draw(node)
        for function in others:
            self.functions.setdefault(function.signature.name, function)
        copy.op = "PartitionedCall"
        copy.ClearField("attr")
        copy.attr["f"].func.name = self._add(draw, "estimator_bridge_draw")
        copy.attr["Tin"].list.type.extend(arg.type for arg in draw.signature.input_arg)
        copy.attr["Tout"].list.type.extend(arg.type for arg in draw.signature.output_arg)
        return copy

    def _clone(self, name: str, begin: int, size: int, has_results: bool, is_loop: bool) -> str:
        """Returns the name of a function's copy with counters.

        Args:
          name: the function.
          begin: the index of its own first counter; it passes the others through.
          size: the number of counters.
          has_results: whether it returns them.
          is_loop: whether it returns the key too.
        """
        source = self.functions[name]
        copy = type(source)()
        copy.CopyFrom(source)
        refs = [f"{_COUNTER}_{i}" for i in range(size)]
        for ref in refs:
            copy.signature.input_arg.add(name=ref, type=_INT64)
        copy.signature.input_arg.add(name=_KEY, type=_UINT64)
        position = begin
        for i, node in enumerate(source.node_def):
            count = self.count(node)
            if not count:
                continue
            own = slice(position, position + count)
            copy.node_def[i].CopyFrom(self.rewritten(node, refs[own], _KEY))
            first = 1 if node.op in self._ops else _output_count(node)
            refs[own] = [f"{node.name}:output:{first + k}" for k in range(count)]
            position += count
        if has_results:
            results = [(f"{_COUNTER}_{i}_after", _INT64, ref) for i, ref in enumerate(refs)]
            results += [(f"{_KEY}_after", _UINT64, _KEY)] if is_loop else []
            for result, kind, ref in results:
                copy.signature.output_arg.add(name=result, type=kind)
                copy.ret[result] = ref
        return self._add(copy, name)

    def _add(self, function: Any, name: str) -> str:
        """Names a function by its contents, as all graphs of a process share such names."""
        function.signature.name = name
        digest = hashlib.sha256(function.SerializeToString(deterministic=True)).hexdigest()
        function.signature.name = f"{name}_{digest[:16]}"
        self.functions.setdefault(function.signature.name, function)
        return function.signature.name


def first_counter(node: Any, size: int) -> int:
    """Returns the output of a rewritten node that is the first of its counters."""
    return _output_count(node) - size - (node.op in LOOPS)  # a loop's last one is the key


def _functions_of(node: Any) -> list[Any]:
    """Returns the functions of a branch or a call, as attributes that can be changed."""
    if node.op in CALLS:
        return [node.attr["f"].func]
    roles = BRANCHES[node.op]
    if roles == ("branches",):
        return list(node.attr["branches"].list.func)
    return [node.attr[role].func for role in roles]


def _output_count(node: Any) -> int:
    return len(node.attr["T" if node.op in LOOPS else "Tout"].list.type)


def _extend_shapes(attrs: Mapping[str, Any], size: int, has_key: bool) -> None:
    shapes = attrs["output_shapes"].list.shape if "output_shapes" in attrs else ()
    if not shapes:  # they are optional
        return
    shapes.extend([tf.TensorShape([]).as_proto()] * size)
    if has_key:
        shapes.append(tf.TensorShape([1]).as_proto())
