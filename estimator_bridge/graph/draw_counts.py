"""How many numbers random ops in loops and branches draw in a step, where that never changes.

The counters of ``DrawFunctions`` are cut out of a step with all that they follow from: a loop's
condition and its variables, a branch's predicate, the shapes. If none of that depends on a batch, a
variable or a random number, the numbers of draws are computed once. The position of a later step is
then known without a record of the steps before it, as outside of loops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.draw_functions import (
    BRANCHES,
    CALLS,
    LOOPS,
    DrawFunctions,
    NotCountedError,
    first_counter,
)
from estimator_bridge.graph.op_kinds import MEETINGS
from estimator_bridge.graph.random_nodes import REPLICA_KEY
from estimator_bridge.tensorflow_private.names import op_def

__all__ = ["constant_counts"]

_ZERO = "estimator_bridge/no_draws"
_NOT_CONSTANT = MEETINGS | {"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"}
_LISTS = ("T", "Tin", "Tout", "output_shapes")


def constant_counts(
    nodes: Mapping[str, Any], given_refs: Set[str], functions: DrawFunctions, name: str, count: int
) -> list[int] | None:
    """Returns how many numbers each random op of a node draws in a step; None if that varies.

    Args:
      nodes: the nodes of the graph.
      given_refs: references whose values come from outside.
      functions: rewrites functions with random ops.
      name: the node that calls such functions.
      count: the number of its random ops.
    """
    node = functions.rewritten(nodes[name], [_ZERO] * count, REPLICA_KEY)
    zero = tf.compat.v1.NodeDef(name=_ZERO, op="Const")
    zero.attr["dtype"].type = tf.int64.as_datatype_enum
    zero.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(0, tf.int64))
    cutter, first = _Cutter(functions.functions), first_counter(node, count)
    refs = [f"{name}:{first + i}" for i in range(count)]
    part_nodes = {**nodes, name: node, _ZERO: zero}
    for ref in given_refs:  # a node that has one of them is not read
        part_nodes.pop(_of_graph(ref)[0], None)
    try:
        part, refs = cutter.cut(refs, part_nodes, _of_graph)
    except NotCountedError:
        return None
    graph_def = tf.compat.v1.GraphDef()
    graph_def.node.extend(part)
    graph_def.library.function.extend(cutter.new_functions)
    with tf.Graph().as_default() as graph:
        results = tf.graph_util.import_graph_def(graph_def, return_elements=refs, name="")
        config = tf.compat.v1.ConfigProto(device_count={"GPU": 0})
        with tf.compat.v1.Session(graph=graph, config=config) as session:
            try:
                return [int(value) for value in session.run(results)]
            except tf.errors.OpError:  # an operation that only a TPU has
                return None


def _of_graph(ref: str) -> tuple[str, int]:
    name, _, index = ref.partition(":")
    return name, int(index or 0)


def _of_function(ref: str) -> tuple[str, int]:
    """Returns the node and the output of a function's reference; ops of one list count it flat."""
    name, _, index = ref.split(":")
    return name, int(index)


class _Cutter:
    """Cuts functions down to some of their results.

    Args:
      functions: the functions by name.

    Attributes:
      new_functions: the functions cut down.
    """

    def __init__(self, functions: Mapping[str, Any]):
        self._functions = functions
        self._needed: dict[tuple[str, frozenset[int]], set[int]] = {}
        self.new_functions: list[Any] = []

    def cut(
        self,
        refs: Sequence[str],
        nodes: Mapping[str, Any],
        parse: Callable[[str], tuple[str, int]],
        argument_refs: Set[str] = frozenset(),
    ) -> tuple[list[Any], list[str]]:
        """Returns the nodes that some references need, and the references there.

        Args:
          refs: the wanted references.
          nodes: the nodes by name.
          parse: splits a reference.
          argument_refs: references of a function's arguments.

        Raises:
          NotCountedError: a node's result is not a constant.
        """
        outputs_by_node, _ = self._trace(refs, nodes, parse, argument_refs)
        part, places = [], {}
        for name, outputs in outputs_by_node.items():
            node = nodes[name]
            if self._is_call(node):
                part.append(self._smaller(node, outputs))
                places[name] = self._sides(node, outputs)[1]
            else:
                part.append(_plain(node, range(len(_data(node)))))

        def renamed(ref: str) -> str:
            if ref in argument_refs or parse(ref)[0] not in places:
                return ref
            name, output = parse(ref)
            place = places[name].index(output)
            return f"{name}:{place}" if parse is _of_graph else f"{name}:output:{place}"

        for node in part:
            node.input[:] = map(renamed, node.input)
        return part, [renamed(ref) for ref in refs]

    def _trace(
        self,
        refs: Sequence[str],
        nodes: Mapping[str, Any],
        parse: Callable[[str], tuple[str, int]],
        argument_refs: Set[str],
    ) -> tuple[dict[str, set[int]], set[str]]:
        """Returns the outputs that are needed, by node, and the arguments."""
        outputs_by_node: dict[str, set[int]] = {}
        arguments: set[str] = set()
        worklist = list(refs)
        while worklist:
            ref = worklist.pop()
            if ref in argument_refs:
                arguments.add(ref)
                continue
            name, output = parse(ref)
            if name not in nodes:
                raise NotCountedError(name)
            outputs = outputs_by_node.setdefault(name, set())
            if output not in outputs and (not outputs or self._is_call(nodes[name])):
                outputs.add(output)
                data = _data(nodes[name])
                worklist += [data[i] for i in self._inputs(nodes[name], outputs)]
        return outputs_by_node, arguments

    def _is_call(self, node: Any) -> bool:
        return node.op in LOOPS or node.op in BRANCHES or node.op in CALLS

    def _inputs(self, node: Any, outputs: Set[int]) -> Sequence[int]:
        """Returns the inputs that some outputs of a node need."""
        if self._is_call(node):
            return self._sides(node, outputs)[0]
        definition = op_def(node.op)
        if definition is None or definition.is_stateful or node.op in _NOT_CONSTANT:
            raise NotCountedError(node.op)
        return range(len(_data(node)))

    def _sides(self, node: Any, outputs: Set[int]) -> tuple[list[int], list[int]]:
        """Returns the inputs and the outputs that a call keeps for the sake of some outputs."""
        if node.op not in LOOPS:
            first = 1 if node.op in BRANCHES else 0
            needed = set().union(*(self._needs(f.name, outputs) for f in _functions_of(node)))
            return [*range(first), *(first + i for i in sorted(needed))], sorted(outputs)
        variables, before = set(outputs), -1
        while len(variables) != before:
            before = len(variables)
            variables |= self._needs(node.attr["cond"].func.name, {0})
            variables |= self._needs(node.attr["body"].func.name, variables)
        return sorted(variables), sorted(variables)

    def _needs(self, name: str, outputs: Set[int]) -> set[int]:
        """Returns the indices of a function's arguments that some of its results need."""
        key = name, frozenset(outputs)
        if key not in self._needed:
            refs, nodes, argument_refs = self._contents(name, sorted(outputs))
            _, needed = self._trace(refs, nodes, _of_function, argument_refs)
            arguments = self._functions[name].signature.input_arg
            self._needed[key] = {i for i, arg in enumerate(arguments) if arg.name in needed}
        return self._needed[key]

    def _contents(
        self, name: str, outputs: Sequence[int]
    ) -> tuple[list[str], dict[str, Any], set[str]]:
        """Returns the references of a function's results, its nodes and its arguments."""
        function = self._functions[name]
        results = [function.signature.output_arg[i].name for i in outputs]
        nodes = {node.name: node for node in function.node_def}
        arguments = {arg.name for arg in function.signature.input_arg}
        return [function.ret[result] for result in results], nodes, arguments

    def _smaller(self, node: Any, outputs: Set[int]) -> Any:
        """Returns a call of functions that are cut down."""
        inputs, results = self._sides(node, outputs)
        first = 1 if node.op in BRANCHES else 0
        arguments = [i - first for i in inputs[first:]]
        copy = _plain(node, inputs)
        for attr in _LISTS:
            if attr in node.attr:
                _leave(copy.attr[attr].list, arguments if attr == "Tin" else results)
        for function in _functions_of(copy):
            is_condition = node.op in LOOPS and function.name == node.attr["cond"].func.name
            function.name = self._make(function.name, arguments, [0] if is_condition else results)
        return copy

    def _make(self, name: str, arguments: Sequence[int], outputs: Sequence[int]) -> str:
        source = self._functions[name]
        refs, nodes, argument_refs = self._contents(name, outputs)
        part, refs = self.cut(refs, nodes, _of_function, argument_refs)
        function = type(source)()
        function.signature.name = f"{name}_counts_{len(self.new_functions)}"
        self.new_functions.append(function)
        signature = source.signature
        function.signature.input_arg.extend(signature.input_arg[i] for i in arguments)
        function.signature.output_arg.extend(signature.output_arg[i] for i in outputs)
        function.node_def.extend(part)
        for i, ref in zip(outputs, refs):
            function.ret[signature.output_arg[i].name] = ref
        return function.signature.name


def _functions_of(node: Any) -> list[Any]:
    """Returns the functions of a node, as attributes that can be changed."""
    functions = []
    for attr in node.attr.values():
        functions += [attr.func] if attr.HasField("func") else list(attr.list.func)
    return functions


def _data(node: Any) -> list[str]:
    return [ref for ref in node.input if not ref.startswith("^")]


def _plain(node: Any, inputs: Sequence[int]) -> Any:
    """Returns a node with some of its inputs, without placement and marks for a runtime."""
    copy = tf.compat.v1.NodeDef(name=node.name, op=node.op)
    data = _data(node)
    copy.input.extend(data[i] for i in inputs)
    for attr, value in node.attr.items():
        if not attr.startswith("_"):
            copy.attr[attr].CopyFrom(value)
    return copy


def _leave(values: Any, indices: Sequence[int]) -> None:
    """Leaves some of a list of types or shapes."""
    kinds = [values.type[i] for i in indices] if values.type else []
    shapes = [tf.TensorShape(values.shape[i]) for i in indices] if values.shape else []
    values.Clear()
    values.type.extend(kinds)
    values.shape.extend(shape.as_proto() for shape in shapes)
