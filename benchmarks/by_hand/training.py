"""A training loop in plain JAX: many steps a call, with the state kept on the device."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.by_hand.networks import forward_of
from benchmarks.models.model import Model
from benchmarks.models.optimizers import Adam, Momentum

__all__ = ["ByHand"]

_MOVING = ("/moving_mean", "/moving_variance")


class ByHand:
    """Trains a network by hand.

    Args:
      model: its sizes and its optimizer.
      values: TensorFlow's first values by variable, slots among them.
      dtype: the dtype of its arithmetic. Parameters are float32, and batch normalization's stay so.
      device: the device of JAX.
      is_looped: whether one program runs all steps of a call, instead of one step.
    """

    def __init__(
        self,
        model: Model,
        values: Mapping[str, np.ndarray],
        dtype: Any,
        device: Any,
        is_looped: bool,
    ):
        import jax

        self._model, self._dtype, self._device = model, dtype, device
        self._forward, self._is_looped = forward_of(model), is_looped
        params = {name: value for name, value in values.items() if _is_parameter(name)}
        weights = {name: value for name, value in params.items() if not name.endswith(_MOVING)}
        count = 1 + isinstance(model.optimizer, Adam)
        slots = [{n: np.zeros_like(v) for n, v in weights.items()} for _ in range(count)]
        self._state = jax.device_put((params, slots, np.int32(0)), device)
        self._one = jax.jit(self._step, donate_argnums=0)
        self._many = jax.jit(functools.partial(jax.lax.scan, self._step), donate_argnums=0)

    def __call__(self, batches: Sequence[np.ndarray]) -> Any:
        """Trains one step a batch; returns the losses, which are still being computed.

        Args:
          batches: features and labels, [steps, batch, ...] each, on the host.
        """
        import jax

        if self._is_looped:
            self._state, losses = self._many(self._state, jax.device_put(batches, self._device))
            return losses
        return [self.train_one(batch) for batch in zip(*batches)]

    def train_one(self, batch: Sequence[np.ndarray]) -> Any:
        """Trains a step, in a call of its own; returns the loss, which is still being computed.

        Args:
          batch: features and labels.
        """
        import jax

        self._state, loss = self._one(self._state, jax.device_put(tuple(batch), self._device))
        return loss

    def flops(self, batches: Sequence[np.ndarray]) -> float:
        """Returns the floating-point operations of a step, as XLA counts them."""
        lowered = self._one.lower(self._state, tuple(part[0] for part in batches))
        return float(lowered.cost_analysis()["flops"])

    def _step(self, state: Any, batch: Any) -> tuple[Any, Any]:
        import jax
        import jax.numpy as jnp

        params, slots, count = state
        moving = {name: value for name, value in params.items() if name.endswith(_MOVING)}
        weights = {name: value for name, value in params.items() if name not in moving}
        features, labels = batch

        def loss_of(weights: Mapping[str, Any]) -> Any:
            x, own = features, weights
            if self._dtype != jnp.float32:
                is_number = jnp.issubdtype(x.dtype, jnp.floating)
                x = x.astype(self._dtype) if is_number else x
                own = {n: v if "/norm/" in n else v.astype(self._dtype) for n, v in own.items()}
            logits, averages = self._forward(self._model, {**own, **moving}, x)
            scores = jax.nn.log_softmax(logits.astype(jnp.float32))
            return -jnp.take_along_axis(scores, labels[:, None], 1).mean(), averages

        (loss, averages), gradients = jax.value_and_grad(loss_of, has_aux=True)(weights)
        weights, slots = self._update(weights, slots, gradients, count)
        return ({**weights, **moving, **averages}, slots, count + 1), loss

    def _update(
        self, weights: dict[str, Any], slots: list[dict[str, Any]], gradients: Any, count: Any
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        import jax
        import jax.numpy as jnp

        by_hand = self._model.optimizer
        if isinstance(by_hand, Momentum):
            sums = jax.tree.map(lambda a, g: by_hand.momentum * a + g, slots[0], gradients)
            new = jax.tree.map(lambda w, a: w - by_hand.rate * a, weights, sums)
            return new, [sums]
        if not isinstance(by_hand, Adam):
            raise ValueError(
                f"{type(by_hand).__name__} is not written by hand; Momentum, Adam are."
            )
        beta1, beta2 = by_hand.beta1, by_hand.beta2
        power = (count + 1).astype(jnp.float32)
        rate = by_hand.rate * jnp.sqrt(1 - beta2**power) / (1 - beta1**power)
        first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, slots[0], gradients)
        second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, slots[1], gradients)
        new = jax.tree.map(
            lambda w, m, v: w - rate * m / (jnp.sqrt(v) + by_hand.epsilon), weights, first, second
        )
        return new, [first, second]


def _is_parameter(name: str) -> bool:
    """Returns whether a variable is one of the network's, and no slot, counter or power."""
    end = name.rpartition("/")[2]
    return end not in ("Momentum", "Adam", "Adam_1", "beta1_power", "beta2_power", "global_step")
