"""The part that dense and convolutional layers share: weights, then biases or a normalizer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.layer_variables import add_bias, apply_after, weight

__all__ = ["WeightedLayer"]


@dataclasses.dataclass(frozen=True)
class WeightedLayer:
    """The arguments that such a layer has beside its own; `fully_connected` describes them."""

    activation_fn: Callable[[Any], Any] | None
    normalizer_fn: Callable[..., Any] | None
    normalizer_params: Mapping[str, Any] | None
    weights_initializer: Any
    weights_regularizer: Callable[[Any], Any] | None
    biases_initializer: Any
    biases_regularizer: Callable[[Any], Any] | None
    variables_collections: Any
    outputs_collections: Any
    trainable: bool

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> WeightedLayer:
        """Returns the layer of a function's arguments, such as its ``locals()``."""
        return cls(**{field.name: arguments[field.name] for field in dataclasses.fields(cls)})

    def weights(
        self, name: str, shape: Sequence[int], inputs: tf.Tensor, initializer: Any = None
    ) -> Any:
        """Gets or makes weights, of the inputs' type.

        Returns the variable, or the joined parts of a partitioned one.

        Args:
          name: the variable's name before renaming.
          shape: the variable's shape.
          inputs: the layer's inputs.
          initializer: initializer of these weights, if it is not the layer's.
        """
        variable = weight(
            name,
            list(shape),
            inputs.dtype.base_dtype,
            initializer or self.weights_initializer,
            self.weights_regularizer,
            self.trainable,
            (self.variables_collections, "weights"),
        )
        return variable if isinstance(variable, tf.Variable) else tf.convert_to_tensor(variable)

    def finish(
        self,
        outputs: tf.Tensor,
        scope: Any,
        channels_first: bool = False,
        bias_name: str = "bias",
    ) -> tf.Tensor:
        """Adds biases or normalizes, then activates and collects the outputs.

        Args:
          outputs: the inputs times the weights.
          scope: the layer's variable scope.
          channels_first: whether the channels are the second dimension instead of the last.
          bias_name: the biases' name before renaming.
        """
        if self.normalizer_fn is not None:
            outputs = self.normalizer_fn(outputs, **(self.normalizer_params or {}))
        elif self.biases_initializer is not None:
            outputs = add_bias(
                outputs,
                self.biases_initializer,
                self.biases_regularizer,
                self.trainable,
                self.variables_collections,
                channels_first,
                bias_name,
            )
        return apply_after(outputs, scope, self.activation_fn, self.outputs_collections)
