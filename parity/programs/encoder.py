"""A small BERT: attention, layer norm, Adam with decoupled weight decay, warm-up, TPUEstimator.

As in BERT's own programs, the optimizer is written by hand, makes its slots with ``get_variable``,
chooses the variables that decay by their names, and leaves the global step to the program.
"""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22
WORDS, LENGTH, WIDTH, HEADS = 11, 5, 8, 2


def examples(count, seed):
    random = np.random.RandomState(seed)
    ids = random.randint(0, WORDS, size=[count, LENGTH]).astype(np.int32)
    noise = random.normal(size=[count])
    return {"ids": ids}, np.digitize(ids.sum(axis=1) + 2 * noise, [22, 28]).astype(np.int64)


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


SERVED = examples(3, seed=3)[0]


def serving_input():
    ids = tf.placeholder(tf.int32, [None, LENGTH], name="ids")
    return tf.estimator.export.ServingInputReceiver({"ids": ids}, {"ids": ids})


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    """Adam without bias correction, its weight decay applied beside the gradient."""

    def __init__(self, learning_rate, decay=0.01, beta_1=0.9, beta_2=0.999, exclude=()):
        super().__init__(use_locking=False, name="AdamWeightDecay")
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
        gradient = tf.convert_to_tensor(gradient)  # an embedding's gradient is slices
        beta_1, beta_2 = self._betas
        first, second = self._moment(variable, "m"), self._moment(variable, "v")
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

    def _moment(self, variable, letter):
        return tf.get_variable(
            f"{variable.op.name}/adam_{letter}",
            shape=variable.shape.as_list(),
            initializer=tf.zeros_initializer(),
            trainable=False,
        )


def layer_norm(x, name):
    with tf.variable_scope(name):
        mean, variance = tf.nn.moments(x, axes=[-1], keep_dims=True)
        gamma = tf.get_variable("gamma", [WIDTH], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [WIDTH], initializer=tf.zeros_initializer())
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-6)


def dense(x, units, seed, name, activation=None, use_bias=True):
    kernel = tf.truncated_normal_initializer(stddev=0.2, seed=seed)
    return tf.layers.dense(
        x, units, activation, use_bias=use_bias, kernel_initializer=kernel, name=name
    )


def attention(x):
    def heads(seed, name, use_bias=True):
        y = dense(x, WIDTH, seed, name, use_bias=use_bias)
        return tf.transpose(tf.reshape(y, [-1, LENGTH, HEADS, WIDTH // HEADS]), [0, 2, 1, 3])

    # A softmax is independent of the keys' bias. Its gradient would be only rounding, which Adam
    # scales to full steps: no two builds of TensorFlow would agree on that variable.
    query, key, value = heads(11, "query"), heads(12, "key", use_bias=False), heads(13, "value")
    weights = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) / np.sqrt(WIDTH // HEADS))
    return tf.reshape(tf.transpose(tf.matmul(weights, value), [0, 2, 1, 3]), [-1, LENGTH, WIDTH])


def encode(ids):
    initializer = tf.truncated_normal_initializer(stddev=0.5, seed=10)
    with tf.variable_scope("embeddings"):
        table = tf.get_variable("word_embeddings", [WORDS, WIDTH], initializer=initializer)
        places = tf.get_variable("position_embeddings", [LENGTH, WIDTH], initializer=initializer)
        x = layer_norm(tf.nn.embedding_lookup(table, ids) + places, "layer_norm")
    with tf.variable_scope("layer_0"):
        x = layer_norm(x + dense(attention(x), WIDTH, 14, "attention_output"), "attention_norm")
        middle = dense(x, 2 * WIDTH, 15, "intermediate", activation=tf.tanh)
        x = layer_norm(x + dense(middle, WIDTH, 16, "output"), "output_norm")
    return dense(x[:, 0], WIDTH, 17, "pooler", activation=tf.tanh)


# Without `ordered_step`, as in BERT, nothing orders the assignment of the global step after the
# learning rate's read of it: a race in the original.
UNORDERED = {"ordered_step": False}


def train(loss, ordered_step):
    step = tf.train.get_global_step()
    rate = tf.train.polynomial_decay(0.002, step, decay_steps=120, end_learning_rate=0.0)
    position = tf.cast(step, tf.float32)
    rate = tf.where(position < 10.0, 0.002 * (position + 1.0) / 10.0, rate)  # warm up, then decay
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    optimizer = AdamWeightDecayOptimizer(rate, exclude=("norm", "bias"))
    update = optimizer.apply_gradients(list(zip(gradients, variables)), global_step=step)
    with tf.control_dependencies([update] if ordered_step else []):
        count = step.assign(step + 1)
    return tf.group(update, count)


def metric_fn(labels, logits, each):
    return {
        "accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1)),
        "mean_loss": tf.metrics.mean(each),
    }


def model_fn(features, labels, mode, params):
    pooled = encode(features["ids"])
    logits = dense(pooled, 3, 18, "logits")
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"probability": tf.nn.softmax(logits), "pooled": pooled}
        return tf.estimator.tpu.TPUEstimatorSpec(mode, predictions=predictions)
    with tf.variable_scope("loss"):  # uses the name that the estimator's summary would have
        each = -tf.reduce_sum(tf.one_hot(labels, 3) * tf.nn.log_softmax(logits), axis=-1)
        loss = tf.reduce_mean(each)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.tpu.TPUEstimatorSpec(
            mode, loss=loss, eval_metrics=(metric_fn, [labels, logits, each])
        )
    train_op = train(loss, params["ordered_step"])
    return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, ordered_step=True, **settings):
    config = tf.estimator.tpu.RunConfig(
        tpu_config=tf.estimator.tpu.TPUConfig(iterations_per_loop=10),
        model_dir=model_dir,
        tf_random_seed=2024,
        **settings,
    )
    return tf.estimator.tpu.TPUEstimator(
        model_fn,
        config=config,
        params={"ordered_step": ordered_step},
        use_tpu=False,
        train_batch_size=6,
        eval_batch_size=8,
        predict_batch_size=8,
        export_to_tpu=False,
    )
