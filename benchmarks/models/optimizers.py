"""Optimizers, each three times: TF1's, the same kernel called by hand, and tf_keras'."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["Adagrad", "Adam", "Momentum"]

_v1, _raw = tf.compat.v1, tf.raw_ops


class Momentum:
    """Gradient descent with momentum."""

    rate, momentum = 0.01, 0.9

    def v1(self) -> Any:
        """Returns TF1's optimizer."""
        return _v1.train.MomentumOptimizer(self.rate, self.momentum)

    def keras(self) -> Any:
        """Returns tf_keras' optimizer."""
        import tf_keras

        return tf_keras.optimizers.SGD(self.rate, momentum=self.momentum)

    def prepare(self, weights: list[tf.Variable]) -> None:
        """Makes the slots."""
        self._slots = [tf.Variable(tf.zeros_like(w)) for w in weights]

    def apply(self, weights: list[tf.Variable], gradients: list) -> None:
        """Updates by hand."""
        for w, slot, g in zip(weights, self._slots, gradients):
            _raw.ResourceApplyMomentum(
                var=w.handle, accum=slot.handle, lr=self.rate, grad=g, momentum=self.momentum
            )


class Adam:
    """Adam."""

    rate, beta1, beta2, epsilon = 0.001, 0.9, 0.999, 1e-8

    def v1(self) -> Any:
        """Returns TF1's optimizer."""
        return _v1.train.AdamOptimizer(self.rate)

    def keras(self) -> Any:
        """Returns tf_keras' optimizer."""
        import tf_keras

        return tf_keras.optimizers.Adam(self.rate)

    def prepare(self, weights: list[tf.Variable]) -> None:
        """Makes the slots and the powers of the betas."""
        self._slots = [[tf.Variable(tf.zeros_like(w)) for w in weights] for _ in range(2)]
        self._powers = [tf.Variable(self.beta1), tf.Variable(self.beta2)]

    def apply(self, weights: list[tf.Variable], gradients: list) -> None:
        """Updates by hand."""
        power1, power2 = (power.read_value() for power in self._powers)
        for w, m, v, g in zip(weights, *self._slots, gradients):
            _raw.ResourceApplyAdam(
                var=w.handle, m=m.handle, v=v.handle, beta1_power=power1, beta2_power=power2,
                lr=self.rate, beta1=self.beta1, beta2=self.beta2, epsilon=self.epsilon, grad=g,
            )  # fmt: skip
        for power, beta in zip(self._powers, (self.beta1, self.beta2)):
            power.assign(power * beta)


class Adagrad:
    """Adagrad; sparse gradients are added up by row first, as TF1's and tf_keras' do."""

    rate, start = 0.05, 0.1

    def v1(self) -> Any:
        """Returns TF1's optimizer."""
        return _v1.train.AdagradOptimizer(self.rate)

    def keras(self) -> Any:
        """Returns tf_keras' optimizer."""
        import tf_keras

        return tf_keras.optimizers.Adagrad(self.rate)

    def prepare(self, weights: list[tf.Variable]) -> None:
        """Makes the slots."""
        self._slots = [tf.Variable(tf.fill(w.shape, self.start)) for w in weights]

    def apply(self, weights: list[tf.Variable], gradients: list) -> None:
        """Updates by hand."""
        for w, slot, g in zip(weights, self._slots, gradients):
            if isinstance(g, tf.IndexedSlices):
                rows, places = tf.unique(g.indices)
                total = tf.math.unsorted_segment_sum(g.values, places, tf.size(rows))
                _raw.ResourceSparseApplyAdagrad(
                    var=w.handle, accum=slot.handle, lr=self.rate, grad=total, indices=rows
                )
            else:
                _raw.ResourceApplyAdagrad(var=w.handle, accum=slot.handle, lr=self.rate, grad=g)
