"""Cells on grids of one to three dimensions; the first reads the input and is the output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.grid_rnn.grid import GridRNNCell

__all__ = [
    "Grid1BasicLSTMCell",
    "Grid1BasicRNNCell",
    "Grid1LSTMCell",
    "Grid2BasicLSTMCell",
    "Grid2BasicRNNCell",
    "Grid2GRUCell",
    "Grid2LSTMCell",
    "Grid3LSTMCell",
]

_cells = tf.compat.v1.nn.rnn_cell


class _FirstDimensionCell(GridRNNCell):
    """A grid whose first dimension reads the input, is the output and is computed last.

    Args:
      dimensions: the number of dimensions.
      num_units: the size of each dimension's cell.
      cell_fn: a function of num_units that returns a cell.
      tied: whether all dimensions share weights.
      non_recurrent_fn: the activation of the first dimension, which becomes a layer; or None.
      state_is_tuple: whether the state is a tuple, or one tensor.
      output_is_tuple: whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        dimensions: int,
        num_units: int,
        cell_fn: Callable[[int], Any],
        tied: bool,
        non_recurrent_fn: Callable[..., Any] | None,
        state_is_tuple: bool,
        output_is_tuple: bool,
    ):
        super().__init__(
            num_units=num_units,
            num_dims=dimensions,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            non_recurrent_dims=None if non_recurrent_fn is None else 0,
            tied=tied,
            cell_fn=cell_fn,
            non_recurrent_fn=non_recurrent_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


class Grid1BasicRNNCell(_FirstDimensionCell):
    """One dimension of BasicRNNCell.

    Args:
      num_units: the cell's size.
      state_is_tuple: whether the state is a tuple, or one tensor.
      output_is_tuple: whether the output is a tuple, or one tensor.
    """

    def __init__(self, num_units: int, state_is_tuple: bool = True, output_is_tuple: bool = True):
        super().__init__(
            1, num_units, _cells.BasicRNNCell, False, None, state_is_tuple, output_is_tuple
        )


class Grid2BasicRNNCell(_FirstDimensionCell):
    """Two dimensions of BasicRNNCell.

    Args:
      num_units: the size of each dimension's cell.
      tied: whether both share weights.
      non_recurrent_fn: the activation of the first dimension, which becomes a layer; or None.
      state_is_tuple: whether the state is a tuple, or one tensor.
      output_is_tuple: whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            2, num_units, _cells.BasicRNNCell, tied, non_recurrent_fn, state_is_tuple,
            output_is_tuple,
        )  # fmt: skip


class Grid1BasicLSTMCell(_FirstDimensionCell):
    """One dimension of BasicLSTMCell.

    Args:
      num_units: the cell's size.
      forget_bias: what is added to the forget gate.
      state_is_tuple: whether the state is a tuple, or one tensor.
      output_is_tuple: whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            1, num_units, _basic_lstm(forget_bias), False, None, state_is_tuple, output_is_tuple
        )


class Grid2BasicLSTMCell(_FirstDimensionCell):
    """Two dimensions of BasicLSTMCell.

    Args:
      num_units: the size of each dimension's cell.
      tied: whether both share weights.
      non_recurrent_fn: the activation of the first dimension, which becomes a layer; or None.
      forget_bias: what is added to the forget gate.
      state_is_tuple: whether the state is a tuple, or one tensor.
      output_is_tuple: whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            2, num_units, _basic_lstm(forget_bias), tied, non_recurrent_fn, state_is_tuple,
            output_is_tuple,
        )  # fmt: skip


class Grid1LSTMCell(_FirstDimensionCell):
    """One dimension of LSTMCell.

    Args:
      num_units: the cell's size.
      use_peepholes: whether the gates read the memory.
      forget_bias: what is added to the forget gate.
      state_is_tuple: whether the state is a tuple, or one tensor.
      output_is_tuple: whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            1, num_units, _lstm(use_peepholes, forget_bias), False, None, state_is_tuple,
            output_is_tuple,
        )  # fmt: skip


class Grid2LSTMCell(_FirstDimensionCell):
    """Two dimensions of LSTMCell.

    Args:
      num_units: the size of each dimension's cell.
      tied: whether both share weights.
      non_recurrent_fn: the activation of the first dimension, which becomes a layer; or None.
      use_peepholes: whether the gates read the memory.
      forget_bias: what is added to the forget gate.
      state_is_tuple: whether the state is a tuple, or one tensor.
      output_is_tuple: whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            2, num_units, _lstm(use_peepholes, forget_bias), tied, non_recurrent_fn,
            state_is_tuple, output_is_tuple,
        )  # fmt: skip


class Grid3LSTMCell(_FirstDimensionCell):
    """Three dimensions of LSTMCell.

    Args:
      num_units: the size of each dimension's cell.
      tied: whether all share weights.
      non_recurrent_fn: the activation of the first dimension, which becomes a layer; or None.
      use_peepholes: whether the gates read the memory.
      forget_bias: what is added to the forget gate.
      state_is_tuple: whether the state is a tuple, or one tensor.
      output_is_tuple: whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            3, num_units, _lstm(use_peepholes, forget_bias), tied, non_recurrent_fn,
            state_is_tuple, output_is_tuple,
        )  # fmt: skip


class Grid2GRUCell(_FirstDimensionCell):
    """Two dimensions of GRUCell.

    Args:
      num_units: the size of each dimension's cell.
      tied: whether both share weights.
      non_recurrent_fn: the activation of the first dimension, which becomes a layer; or None.
      state_is_tuple: whether the state is a tuple, or one tensor.
      output_is_tuple: whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            2, num_units, _cells.GRUCell, tied, non_recurrent_fn, state_is_tuple, output_is_tuple
        )


def _basic_lstm(forget_bias: float) -> Callable[[int], Any]:
    return lambda size: _cells.BasicLSTMCell(size, forget_bias=forget_bias)


def _lstm(use_peepholes: bool, forget_bias: float) -> Callable[[int], Any]:
    return lambda size: _cells.LSTMCell(size, use_peepholes=use_peepholes, forget_bias=forget_bias)
