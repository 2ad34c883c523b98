"""An optimizer of the kind that BERT-era programs wrote for themselves.

It overrides ``apply_gradients`` whole: it makes its own slots with ``get_variable``, picks out the
variables that decay by their names, and does not touch ``global_step``.
"""

from __future__ import annotations

import tensorflow.compat.v1 as tf

__all__ = ["DecoupledDecayOptimizer"]


class DecoupledDecayOptimizer(tf.train.Optimizer):
    """Adam without bias correction, its weight decay applied beside the gradient."""

    def __init__(self, learning_rate, decay=0.01, beta_1=0.9, beta_2=0.999, exclude=()):
        super().__init__(use_locking=False, name="DecoupledDecay")
        self._rate = learning_rate
        self._decay = decay
        self._betas = (beta_1, beta_2)
        self._exclude = exclude

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        updates = []
        for gradient, variable in grads_and_vars:
            if gradient is not None:
                updates += self._update(gradient, variable)
        return tf.group(*updates, name=name)

    def _update(self, gradient, variable):
        gradient = tf.convert_to_tensor(gradient)  # an embedding's arrives as slices
        beta_1, beta_2 = self._betas
        first, second = self._moment(variable, 1), self._moment(variable, 2)
        next_first = beta_1 * first + (1.0 - beta_1) * gradient
        next_second = beta_2 * second + (1.0 - beta_2) * tf.square(gradient)
        change = next_first / (tf.sqrt(next_second) + 1e-6)
        if not any(part in variable.op.name for part in self._exclude):
            change += self._decay * variable
        return [
            variable.assign(variable - self._rate * change),
            first.assign(next_first),
            second.assign(next_second),
        ]

    def _moment(self, variable, order):
        return tf.get_variable(
            f"{variable.op.name}/moment_{order}",
            shape=variable.shape.as_list(),
            initializer=tf.zeros_initializer(),
            trainable=False,
        )
