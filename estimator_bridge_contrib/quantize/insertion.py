"""Puts a fake quantization between an operation and those that take its outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import tensorflow as tf

from estimator_bridge_contrib.quantize.common import (
    CreateOrGetQuantizationStep,
    DropStringPrefix,
    RerouteTensor,
)
from estimator_bridge_contrib.quantize.quant_ops import LastValueQuantize, MovingAvgQuantize

__all__ = ["Quantization"]

v1 = tf.compat.v1
_FAKE_QUANTIZATIONS = (
    "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel",
)  # fmt: skip


@dataclass(frozen=True)
class Quantization:
    """Settings of fake quantizations.

    Attributes:
      is_training: whether ranges are updated.
      bits: the number of bits, 2 to 8.
      symmetric: whether ranges are symmetric about zero.
      ema_decay: the decay of the ranges' moving averages.
      delay: the number of steps after which values are quantized; None or 0 for at once.
      collection: a collection that gets the ranges' variables.
      scope: only operations whose names start with it are quantized; None for all.
    """

    is_training: bool
    bits: int
    symmetric: bool
    ema_decay: float
    delay: int | None
    collection: str
    scope: str | None

    def with_bits(self, bits: int, symmetric: bool) -> Quantization:
        """Returns the same settings with other bits."""
        return dataclasses.replace(self, bits=bits, symmetric=symmetric)

    def quantize_weights(
        self, name: str, weights: tf.Operation, consumers: Iterable[tf.Operation]
    ) -> None:
        """Quantizes weights in the range of their values, if the consumers are in the scope.

        Args:
          name: the name of the variables' scope.
          weights: the operation that gives them.
          consumers: what takes them.

        Raises:
          ValueError: a consumer does not take them.
        """
        consumers = list(consumers)
        if not self._all_in_scope(name, consumers):
            return
        name, values = _below_the_scope(name), weights.outputs[0]
        if not _is_quantized(values):
            quantized = LastValueQuantize(
                values,
                is_training=self.is_training,
                num_bits=self.bits,
                symmetric=self.symmetric,
                narrow_range=True,
                vars_collection=self.collection,
                name_prefix=name,
            )
            self._put(name, values, quantized, consumers)

    def quantize_outputs(
        self,
        name: str,
        producer: tf.Operation,
        consumers: Iterable[tf.Operation],
        least: float = -6.0,
        consumers_in_scope: bool = False,
    ) -> None:
        """Quantizes outputs in their average range, if what gives them is in the scope.

        Args:
          name: the name of the variables' scope.
          producer: the operation that gives them.
          consumers: what takes them.
          least: the first value of the range's lower end.
          consumers_in_scope: whether the consumers have to be in the scope too.

        Raises:
          ValueError: a consumer does not take them.
        """
        consumers = list(consumers)
        checked = [producer, *consumers] if consumers_in_scope else [producer]
        if not self._all_in_scope(name, checked):
            return
        name, values = _below_the_scope(name), producer.outputs[0]
        if not _is_quantized(values):
            quantized = MovingAvgQuantize(
                values,
                init_min=least,
                ema_decay=self.ema_decay,
                is_training=self.is_training,
                num_bits=self.bits,
                symmetric=self.symmetric,
                vars_collection=self.collection,
                name_prefix=name,
            )
            self._put(name, values, quantized, consumers)

    def _all_in_scope(self, name: str, ops: Iterable[tf.Operation]) -> bool:
        outside = [op.name for op in ops if self.scope and not op.name.startswith(self.scope)]
        if outside:
            v1.logging.info("No %s: %s is not in the scope %s.", name, outside[0], self.scope)
        return not outside

    def _put(
        self,
        name: str,
        values: tf.Tensor,
        quantized: tf.Tensor,
        consumers: list[tf.Operation],
    ) -> None:
        if self.delay and self.delay > 0:
            is_active = tf.greater_equal(
                CreateOrGetQuantizationStep(), self.delay, name=f"{name}/activate_quant"
            )
            quantized = v1.cond(
                is_active, lambda: quantized, lambda: values, name=f"{name}/delayed_quant"
            )
        if RerouteTensor(quantized, values, can_modify=consumers) < len(consumers):
            names = ", ".join(op.name for op in consumers)
            raise ValueError(f"No inputs quantized for ops: [{names}]; not all take {values.name}.")


def _below_the_scope(name: str) -> str:
    """Returns a name below the current name scope, which TensorFlow puts before it.

    On TPUs of TensorFlow 1 the layers' names start with the scope that is current.
    """
    scope = v1.get_default_graph().get_name_scope()
    return DropStringPrefix(name, f"{scope}/") if scope else name


def _is_quantized(tensor: tf.Tensor) -> bool:
    """Returns whether a tensor goes to a fake quantization already, directly or reshaped."""
    waiting = list(tensor.consumers())
    while waiting:
        op = waiting.pop()
        if op.type in _FAKE_QUANTIZATIONS:
            return True
        if op.type in ("Reshape", "Identity"):
            waiting.extend(each for output in op.outputs for each in output.consumers())
    return False
