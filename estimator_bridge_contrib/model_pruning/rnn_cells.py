"""LSTM cells whose kernels have masks."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.model_pruning.masks import masked

__all__ = ["MaskedBasicLSTMCell", "MaskedLSTMCell"]

_v1 = tf.compat.v1
_BasicLSTMCell: Any = _v1.nn.rnn_cell.BasicLSTMCell
_LSTMCell: Any = _v1.nn.rnn_cell.LSTMCell


class _MaskedKernel:
    """Replaces the kernel of the cell that it is mixed into by the masked kernel.

    The variables ``mask``, of the kernel's shape, and ``threshold``, a scalar, are beside
    ``kernel``.
    """

    def build(self: Any, inputs_shape: Any) -> None:
        """Makes the variables."""
        super().build(inputs_shape)  # type: ignore[misc]
        self.built = False
        kernel = self._kernel
        mask, threshold = (
            self.add_weight(
                name=name,
                shape=shape,
                initializer=initializer,
                trainable=False,
                dtype=self.dtype,
            )
            for name, shape, initializer in (
                ("mask", kernel.shape, _v1.ones_initializer()),
                ("threshold", [], _v1.zeros_initializer()),
            )
        )
        # The layer goes on tracking the variable, which a plain assignment would end.
        vars(self)["_kernel"] = masked(kernel, mask, threshold, again=False)
        self.built = True


class MaskedBasicLSTMCell(_MaskedKernel, _BasicLSTMCell):
    """``tf.compat.v1.nn.rnn_cell.BasicLSTMCell`` with a mask of its kernel.

    Args:
      num_units: the state's size.
      forget_bias: added to the forget gate.
      state_is_tuple: whether the state is an LSTMStateTuple; otherwise it is one tensor.
      activation: the state's activation function; tanh by default.
      reuse: whether to reuse existing variables.
      name: the layer's name.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
    ):
        super().__init__(
            num_units,
            forget_bias=forget_bias,
            state_is_tuple=state_is_tuple,
            activation=activation,
            reuse=reuse,
            name=name,
        )


class MaskedLSTMCell(_MaskedKernel, _LSTMCell):
    """``tf.compat.v1.nn.rnn_cell.LSTMCell`` with a mask of its kernel, not of its projection.

    Args:
      num_units: the state's size.
      use_peepholes: whether gates also read the cell's state.
      cell_clip: the limit of the cell's state; None for no limit.
      initializer: initializer of the kernel and of the projection.
      num_proj: the output's size; None for no projection.
      proj_clip: the limit of the output; None for no limit.
      num_unit_shards: the number of the kernel's parts; use a scope's partitioner instead.
      num_proj_shards: the number of the projection's parts.
      forget_bias: added to the forget gate.
      state_is_tuple: whether the state is an LSTMStateTuple; otherwise it is one tensor.
      activation: the state's activation function; tanh by default.
      reuse: whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: bool | None = None,
    ):
        super().__init__(
            num_units,
            use_peepholes=use_peepholes,
            cell_clip=cell_clip,
            initializer=initializer,
            num_proj=num_proj,
            proj_clip=proj_clip,
            num_unit_shards=num_unit_shards,
            num_proj_shards=num_proj_shards,
            forget_bias=forget_bias,
            state_is_tuple=state_is_tuple,
            activation=activation,
            reuse=reuse,
        )
