"""Layers that keep their parameters in one variable, because a program chose its own saveable."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.cudnn_rnn.functions import run_layout
from estimator_bridge_contrib.cudnn_rnn.layer_settings import LayerWithSettings
from estimator_bridge_contrib.cudnn_rnn.modes import (
    CUDNN_GRU,
    CUDNN_LSTM,
    CUDNN_RNN_RELU,
    CUDNN_RNN_TANH,
)
from estimator_bridge_contrib.cudnn_rnn.saveables import (
    CudnnGRUSaveable,
    CudnnLSTMSaveable,
    CudnnOpaqueParamsSaveable,
    CudnnRNNReluSaveable,
    CudnnRNNTanhSaveable,
)

__all__ = ["LayerWithSaveable"]

v1 = tf.compat.v1
_PLAIN = {
    CUDNN_LSTM: CudnnLSTMSaveable,
    CUDNN_GRU: CudnnGRUSaveable,
    CUDNN_RNN_TANH: CudnnRNNTanhSaveable,
    CUDNN_RNN_RELU: CudnnRNNReluSaveable,
}


class LayerWithSaveable(LayerWithSettings):
    """A layer, with what it does if ``_saveable_cls`` was set to a subclass.

    Such a subclass decides on the names and values in checkpoints. So the layer has the variable of
    TensorFlow 1, ``opaque_kernel``, and the subclass's object in ``SAVEABLE_OBJECTS``.
    """

    # Programs set it, on the layer or in a subclass of it.
    _saveable_cls: type[CudnnOpaqueParamsSaveable]
    _saveable: CudnnOpaqueParamsSaveable | None = None

    @property
    def saveable(self) -> CudnnOpaqueParamsSaveable | None:
        """The object that is saved; None before the layer is built.

        Raises:
          NotImplementedError: the layer's variables are those that are saved.
        """
        if self.built and self._saves_variables():
            raise NotImplementedError(
                f"{self.name} has no saveable: its variables are those of equivalent cells, which "
                "savers store as they are. To get one variable and a saveable, set "
                f"layer._saveable_cls to a subclass of {self._saveable_cls.__name__} before the "
                "layer is built."
            )
        return self._saveable

    def _saves_variables(self) -> bool:
        """Returns whether the variables are those of equivalent cells."""
        return self._saveable_cls is _PLAIN[self._rnn_mode]

    def _make_opaque_kernel(self) -> None:
        """Makes the variable and its saveable."""
        layout = self._layout()

        def initialize(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
            del shape, partition_info
            weights = [
                self._kernel_initializer(list(each), dtype=dtype) for each in layout.weight_shapes
            ]
            biases = [self._bias_initializer(each, dtype=dtype) for each in layout.bias_shapes]
            return layout.join(weights, biases)

        self.kernel = self.add_weight("opaque_kernel", [layout.size], initializer=initialize)
        if v1.get_variable_scope().reuse is not True:
            self._create_saveable()

    def _create_saveable(self) -> None:
        if self._saveable is not None:
            raise RuntimeError("Cudnn saveable already created.")
        # If build() was called by the program, this scope is outside of the layer's.
        self._saveable = self._saveable_cls(
            opaque_params=self.kernel,
            num_layers=self.num_layers,
            num_units=self.num_units,
            input_size=self.input_size,
            input_mode=self.input_mode,
            direction=self.direction,
            scope=v1.get_variable_scope(),
            name=f"{self.kernel.name.partition(':')[0]}_saveable",
        )
        v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    def _run_opaque(
        self, inputs: Any, state: Any, lengths: Any, time_major: bool, training: Any
    ) -> tuple[tf.Tensor, tuple[tf.Tensor, ...]]:
        if state is None:
            batch = tf.shape(inputs)[1 if time_major else 0]
            cells = self.num_layers * self.num_dirs
            shape = [cells, batch, self.num_units] if time_major else [batch, cells, self.num_units]
            state = [tf.zeros(shape, inputs.dtype)] * len(self.state_shape(batch))
        outputs, *final = run_layout(
            self._layout(), inputs, state[0], state[-1], self.kernel, bool(training), lengths,
            time_major, self._dropout, self._seed,
        )  # fmt: skip
        return outputs, tuple(final[: len(state)])
