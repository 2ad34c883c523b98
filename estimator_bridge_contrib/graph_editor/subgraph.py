"""Views of a part of a graph, with inputs and outputs in an order that can be changed."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.graph_editor.select import get_name_scope_ops, select_ops_and_ts
from estimator_bridge_contrib.graph_editor.util import (
    ListView,
    concatenate_unique,
    get_unique_graph,
    holds,
    make_list_of_op,
    make_list_of_t,
)
from estimator_bridge_contrib.graph_editor.walks import compute_boundary_ts, get_walks_union_ops

__all__ = ["SubGraphView", "make_view", "make_view_from_scope"]


class SubGraphView:
    """Some operations of a graph, with the tensors that enter and leave.

    The methods that start with "remap" and "remove" return a new view; ``reroute`` changes views.

    Args:
      inside_ops: the operations.
      passthrough_ts: tensors that are inputs and outputs, although no operation inside has them.

    Raises:
      TypeError: another object is given.
      ValueError: there are several graphs.
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()):
        ops, passing = make_list_of_op(inside_ops), make_list_of_t(passthrough_ts)
        self._graph = get_unique_graph([*ops, *passing], none_if_empty=True)
        self._ops = ops
        inputs, outputs, insides = compute_boundary_ts(ops)
        own_tensors = [*inputs, *outputs, *insides]
        self._passthrough_ts = [tensor for tensor in passing if not holds(own_tensors, tensor)]
        self._input_ts = inputs + self._passthrough_ts
        self._output_ts = outputs + self._passthrough_ts

    def __copy__(self) -> SubGraphView:
        view = type(self).__new__(type(self))
        view.assign_from(self)
        return view

    def assign_from(self, other: SubGraphView) -> None:
        """Makes this a view of the same operations, inputs and outputs as another."""
        if not isinstance(other, SubGraphView):
            raise TypeError(f"Expected SubGraphView, got: {type(other)}")
        self._graph, self._ops = other._graph, list(other._ops)
        self._passthrough_ts = list(other._passthrough_ts)
        self._input_ts, self._output_ts = list(other._input_ts), list(other._output_ts)

    def copy(self) -> SubGraphView:
        """Returns a view of the same operations, inputs and outputs."""
        return copy.copy(self)

    def with_ends(
        self, inputs: Sequence[Any], outputs: Sequence[Any], passthroughs: Sequence[Any]
    ) -> SubGraphView:
        """Returns a view of the same operations with other ends.

        Args:
          inputs: the inputs, in their order.
          outputs: the outputs, in their order.
          passthroughs: those that are both and that no operation inside has.
        """
        view = self.copy()
        view._input_ts, view._output_ts = list(inputs), list(outputs)
        view._passthrough_ts = list(passthroughs)
        return view

    def remap_default(
        self, remove_input_map: bool = True, remove_output_map: bool = True
    ) -> SubGraphView:
        """Returns a view whose inputs and outputs have the first order again.

        Args:
          remove_input_map: whether the inputs have it.
          remove_output_map: whether the outputs have it.
        """
        inputs, outputs, _ = compute_boundary_ts(self._ops)
        return self.with_ends(
            inputs + self._passthrough_ts if remove_input_map else self._input_ts,
            outputs + self._passthrough_ts if remove_output_map else self._output_ts,
            self._passthrough_ts,
        )

    def remap_inputs(self, new_input_indices: Any) -> SubGraphView:
        """Returns a view with some inputs, in this order.

        Args:
          new_input_indices: their numbers, or the tensors; none twice.

        Raises:
          ValueError: one is not among the inputs, or is there twice.
        """
        chosen = _chosen(new_input_indices, self._input_ts, may_repeat=False)
        return self.with_ends(chosen, self._output_ts, self._passthrough_ts)

    def remap_outputs(self, new_output_indices: Any) -> SubGraphView:
        """Returns a view with some outputs, in this order.

        Args:
          new_output_indices: their numbers, or the tensors.

        Raises:
          ValueError: one is not among the outputs.
        """
        chosen = _chosen(new_output_indices, self._output_ts, may_repeat=True)
        return self.with_ends(self._input_ts, chosen, self._passthrough_ts)

    def remap(self, new_input_indices: Any = None, new_output_indices: Any = None) -> SubGraphView:
        """Returns a view with some inputs and outputs; see ``remap_inputs``, ``remap_outputs``."""
        view = self.copy()
        if new_input_indices is not None:
            view = view.remap_inputs(new_input_indices)
        if new_output_indices is not None:
            view = view.remap_outputs(new_output_indices)
        return view

    def remap_outputs_make_unique(self) -> SubGraphView:
        """Returns a view that has each output once."""
        once = concatenate_unique([], self._output_ts)
        return self.with_ends(self._input_ts, once, self._passthrough_ts)

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """Returns a view that has each output once for each operation that reads it."""
        once = concatenate_unique([], self._output_ts)
        repeated = [tensor for tensor in once for _ in tensor.consumers()]
        return self.with_ends(self._input_ts, repeated, self._passthrough_ts)

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """Returns a view without operations that no input and no output is connected with.

        Args:
          control_inputs: whether waiting connects.
        """
        used = get_walks_union_ops(
            self.connected_inputs,
            self.connected_outputs,
            within_ops=self._ops,
            control_inputs=control_inputs,
        )
        view = self.copy()
        view._ops = [op for op in self._ops if op in used]
        return view

    def find_op_by_name(self, op_name: str) -> Any:
        """Returns the operation of a name.

        Raises:
          ValueError: there is none.
        """
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not in subgraph.")

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"
        lines = [f"SubGraphView (graphid={id(self._graph)}):"]
        for name, elements in (
            ("ops", self._ops),
            ("inputs", self._input_ts),
            ("outputs", self._output_ts),
        ):
            lines.append(f"** {name}[{len(elements)}]:" if elements else f"** {name}: empty")
            for each in elements:
                mark = " *" if holds(self._passthrough_ts, each) else ""
                lines.append(f"  {each.name}{mark}")
        return "\n".join([*lines, ""])

    @property
    def graph(self) -> Any:
        """The graph; None if the view is empty."""
        return self._graph

    @property
    def ops(self) -> list[Any]:
        """The operations."""
        return self._ops

    @property
    def inputs(self) -> ListView:
        """The tensors that enter."""
        return ListView(self._input_ts)

    @property
    def outputs(self) -> ListView:
        """The tensors that leave."""
        return ListView(self._output_ts)

    @property
    def passthroughs(self) -> ListView:
        """The tensors that are inputs and outputs, although no operation inside has them."""
        return ListView(self._passthrough_ts)

    @property
    def connected_inputs(self) -> list[Any]:
        """The inputs that an operation inside reads."""
        return [each for each in self._input_ts if not holds(self._passthrough_ts, each)]

    @property
    def connected_outputs(self) -> list[Any]:
        """The outputs of operations inside."""
        return [each for each in self._output_ts if not holds(self._passthrough_ts, each)]

    def __bool__(self) -> bool:
        return self._graph is not None

    def op(self, op_id: int) -> Any:
        """Returns an operation by its number."""
        return self._ops[op_id]

    def is_passthrough(self, t: Any) -> bool:
        """Returns whether a tensor is one of ``passthroughs``."""
        return holds(self._passthrough_ts, t)

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, *error: object) -> None:
        """Ends a with statement, which changes nothing."""

    def input_index(self, t: Any) -> int:
        """Returns the number of an input.

        Raises:
          ValueError: the tensor is none.
        """
        return _index(t, self._input_ts, "inputs")

    def output_index(self, t: Any) -> int:
        """Returns the number of an output.

        Raises:
          ValueError: the tensor is none.
        """
        return _index(t, self._output_ts, "outputs")

    def consumers(self) -> list[Any]:
        """Returns the operations outside that read outputs."""
        inside = set(self._ops)
        readers = [op for tensor in self._output_ts for op in tensor.consumers()]
        return concatenate_unique([], [op for op in readers if op not in inside])


def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """Makes a view of operations and tensors; tensors pass through.

    Args:
      *args: a view, which is returned; or see ``select_ops_and_ts``.
      **kwargs: graph, which regular expressions need, and positive_filter.

    Raises:
      TypeError: another object is given.
      ValueError: the graph is another one.
    """
    graph = kwargs.get("graph")
    if graph is not None and not isinstance(graph, tf.Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        view = args[0]
    else:
        view = SubGraphView(*select_ops_and_ts(*args, **kwargs))
    if graph is not None and view and view.graph is not graph:
        raise ValueError("Graph mismatch.")
    return view


def make_view_from_scope(scope: str, graph: tf.Graph) -> SubGraphView:
    """Makes a view of the operations below a scope of a graph."""
    return SubGraphView(get_name_scope_ops(graph, scope))


def _index(tensor: Any, among: list[Any], what: str) -> int:
    for position, each in enumerate(among):
        if each is tensor:
            return position
    raise ValueError(f"Can't find {tensor.name} in {what} of the subgraph.")


def _chosen(ends: Any, among: list[Any], may_repeat: bool) -> list[Any]:
    numbers = [each if isinstance(each, int) else _index(each, among, "ends") for each in ends]
    for number in numbers:
        if not 0 <= number < len(among):
            raise ValueError(f"Out of [0, {len(among)}[ range: {number}")
    if not may_repeat and len(set(numbers)) != len(numbers):
        raise ValueError(f"Found repetition in mapping: {numbers}")
    return [among[number] for number in numbers]
