"""A hand-written optimizer, as BERT's and its descendants' programs bring along."""

import re

import tensorflow as tf


class LAMBOptimizer(tf.train.Optimizer):
    """Adam's direction with decoupled weight decay, scaled by layer (You et al. 2019)."""

    def __init__(self, learning_rate, weight_decay_rate=0.0, beta_1=0.9, beta_2=0.999,
                 epsilon=1e-6, exclude_from_weight_decay=None, name="LAMBOptimizer"):  # fmt: skip
        super(LAMBOptimizer, self).__init__(False, name)
        self.learning_rate = learning_rate
        self.weight_decay_rate = weight_decay_rate
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.exclude_from_weight_decay = exclude_from_weight_decay or []

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for grad, param in grads_and_vars:
            if grad is None or param is None:
                continue
            param_name = re.match("^(.*):\\d+$", param.name).group(1)
            m, v = (
                tf.get_variable(
                    name=param_name + slot,
                    shape=param.shape.as_list(),
                    dtype=tf.float32,
                    trainable=False,
                    initializer=tf.zeros_initializer(),
                )
                for slot in ("/lamb_m", "/lamb_v")
            )
            next_m = tf.multiply(self.beta_1, m) + tf.multiply(1.0 - self.beta_1, grad)
            next_v = tf.multiply(self.beta_2, v) + tf.multiply(1.0 - self.beta_2, tf.square(grad))
            update = next_m / (tf.sqrt(next_v) + self.epsilon)
            if self._do_use_weight_decay(param_name):
                update += self.weight_decay_rate * param
            w_norm = tf.norm(param, ord=2)
            g_norm = tf.norm(update, ord=2)
            ratio = tf.where(
                tf.greater(w_norm, 0),
                tf.where(tf.greater(g_norm, 0), w_norm / g_norm, 1.0),
                1.0,
            )
            next_param = param - ratio * self.learning_rate * update
            assignments.extend([param.assign(next_param), m.assign(next_m), v.assign(next_v)])
        return tf.group(*assignments, name=name)

    def _do_use_weight_decay(self, param_name):
        return not any(re.search(r, param_name) for r in self.exclude_from_weight_decay)


def create_optimizer(loss, init_lr, num_train_steps, num_warmup_steps, use_tpu):
    """The training op: linear warm-up, then linear decay."""
    global_step = tf.train.get_or_create_global_step()
    learning_rate = tf.train.polynomial_decay(
        tf.constant(init_lr, tf.float32), global_step, num_train_steps, end_learning_rate=0.0,
        power=1.0, cycle=False,
    )  # fmt: skip
    if num_warmup_steps:
        steps_float = tf.cast(global_step, tf.float32)
        is_warmup = tf.cast(steps_float < num_warmup_steps, tf.float32)
        warmup = init_lr * steps_float / num_warmup_steps
        learning_rate = (1.0 - is_warmup) * learning_rate + is_warmup * warmup
    optimizer = LAMBOptimizer(
        learning_rate, weight_decay_rate=0.01,
        exclude_from_weight_decay=["LayerNorm", "layer_norm", "bias"],
    )  # fmt: skip
    if use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    tvars = tf.trainable_variables()
    grads = tf.gradients(loss, tvars)
    grads, _ = tf.clip_by_global_norm(grads, clip_norm=1.0)
    train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
    # Such optimizers leave the global step alone; their callers move it on.
    return tf.group(train_op, [global_step.assign(global_step + 1)])
