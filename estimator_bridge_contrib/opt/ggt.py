"""GGT: full-matrix adaptive regularization over a window of gradients.

Agarwal et al., "The Case for Full-Matrix Adaptive Regularization" (2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.opt.ref_or_resource import RefOrResourceUpdates

__all__ = ["GGTOptimizer"]

_v1 = tf.compat.v1


class GGTOptimizer(RefOrResourceUpdates, tf.compat.v1.train.Optimizer):
    """Multiplies the momentum of all gradients by the inverse root of their last products.

    All variables' gradients are one vector, in the order of the variables' names. G has, in its
    columns, the last ``window`` values of the vector's moving mean; the step is (G G') ** -1/2
    times the mean.

    Args:
      learning_rate: a number or a scalar tensor.
      beta1: the decay rate of the moving mean.
      use_locking: has no effect: one process updates the variables.
      name: the operations' name.
      window: the number of means that are kept.
      eps: the least root of an eigenvalue for which the part outside of the window counts too.
      svd_eps: added to the diagonal before the singular value decomposition.
      sigma_eps: added to the roots of eigenvalues before they are inverted.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: float = 1e-4,
        svd_eps: float = 1e-6,
        sigma_eps: float = 1e-2,
    ):
        super().__init__(use_locking, name)
        self._rate, self._decay, self._window = learning_rate, beta1, window
        self._eps, self._svd_eps, self._sigma_eps = eps, svd_eps, sigma_eps

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        self._ordered = sorted(var_list, key=lambda each: each.name)
        dtype = self._ordered[0].dtype.base_dtype
        size = sum(each.shape.num_elements() for each in self._ordered)
        starts = {
            "global_step": tf.zeros([], dtype),
            "grad_buffer": tf.zeros([self._window, size], dtype),
            "moment1": tf.zeros([size], dtype),
            "flat_grad": tf.zeros([size], dtype),
        }
        for name, value in starts.items():
            self._create_non_slot_variable(value, name, self._ordered[0])

    def _prepare(self) -> None:
        self._gradients: dict[str, Any] = {}

    def _update(self, grad: tf.Tensor, var: Any) -> Any:
        self._gradients[var.name] = tf.reshape(grad, [-1])
        return self._gradients[var.name].op

    def _update_rows(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        raise NotImplementedError(
            f"Sparse gradient updates are not supported: {var.name}. Look its rows up with "
            "tf.matmul(tf.one_hot(ids, rows), table), or leave it to another optimizer."
        )

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        keep = {
            name: self._state_variable(name) for name in ("global_step", "grad_buffer", "moment1")
        }
        flat = self._flat_gradient()
        count = _v1.assign_add(keep["global_step"], 1.0)
        mean = _v1.assign(
            keep["moment1"], self._decay * keep["moment1"] + (1.0 - self._decay) * flat
        )
        place = tf.cast(count - 1.0, tf.int32) % self._window
        buffer = _v1.scatter_update(keep["grad_buffer"], place, mean)
        filled = tf.minimum(tf.convert_to_tensor(count), tf.cast(self._window, flat.dtype))
        step = self._step(tf.transpose(buffer / tf.sqrt(filled)), mean[:, tf.newaxis])
        return self._applied(tf.reshape(step, [-1]), name_scope)

    def _state_variable(self, name: str) -> Any:
        return self._get_non_slot_variable(name, graph=_v1.get_default_graph())

    def _flat_gradient(self) -> tf.Tensor:
        """Returns the vector of all gradients; a variable without one keeps its last."""
        last_gradient, start, parts = self._state_variable("flat_grad"), 0, []
        for var in self._ordered:
            end = start + var.shape.num_elements()
            parts.append(self._gradients.get(var.name, last_gradient[start:end]))
            start = end
        return tf.convert_to_tensor(_v1.assign(last_gradient, tf.concat(parts, 0)))

    def _step(self, window: tf.Tensor, mean: tf.Tensor) -> tf.Tensor:
        """Returns the step of all variables, before the learning rate.

        Args:
          window: G: [size, window].
          mean: the moving mean: [size, 1].
        """
        dtype = mean.dtype
        product = tf.matmul(window, window, transpose_a=True)
        values, vectors, _ = tf.linalg.svd(
            product + tf.eye(self._window, dtype=dtype) * tf.cast(self._svd_eps, dtype)
        )
        roots = tf.sqrt(values)
        least = tf.reduce_min(roots)

        def through(weights: tf.Tensor) -> tf.Tensor:
            projection = tf.matmul(
                vectors, tf.matmul(window, mean, transpose_a=True), transpose_a=True
            )
            return tf.matmul(window, tf.matmul(vectors, weights[:, tf.newaxis] * projection))

        inside = through(1.0 / (roots + self._sigma_eps) ** 3)
        outside = (mean - through(1.0 / values)) / least
        return tf.cond(least > self._eps, lambda: inside + outside, lambda: inside)

    def _applied(self, step: tf.Tensor, name: str) -> tf.Operation:
        rate = self._rate() if callable(self._rate) else self._rate
        start, updates = 0, []
        for var in self._ordered:
            size = var.shape.num_elements()
            change = tf.reshape(step[start : start + size], var.shape)
            updates.append(_v1.assign_sub(var, tf.cast(rate, change.dtype) * change))
            start += size
        return tf.group(*updates, name=name)
