"""A cell that XLA compiles."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import op_def
from estimator_bridge_contrib.rnn.base import RNNCell

__all__ = ["CompiledWrapper"]


class CompiledWrapper(RNNCell):
    """Asks TensorFlow to compile a cell's operations with XLA.

    Args:
      cell: the cell.
      compile_stateful: whether to compile operations with a state too, such as random ones; or a
        function that says for a NodeDef whether it is compiled.
    """

    def __init__(self, cell: Any, compile_stateful: Any = False):
        super().__init__()
        self._cell, self._compile_stateful = cell, compile_stateful

    @property
    def state_size(self) -> Any:
        """The cell's."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """The cell's."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the cell's state of zeros."""
        return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Returns the step's output and the new state."""
        choice = self._compile_stateful
        if not callable(choice):
            choice = _is_stateless if not choice else True
        with tf.xla.experimental.jit_scope(compile_ops=choice):
            return self._cell(inputs, state, scope=scope)


def _is_stateless(node: Any) -> bool:
    definition = op_def(node.op)
    return definition is not None and not definition.is_stateful
