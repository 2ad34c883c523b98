"""A residual block: weight decay, moving averages of the weights, host_call, TPUEstimator.

Evaluation and prediction read the moving averages, as image classifiers for TPUs did: a scaffold
restores them into the weights.
"""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22


def examples(count, seed):
    random = np.random.RandomState(seed)
    labels = random.randint(0, 3, size=[count]).astype(np.int32)
    x = random.normal(size=[count, 6, 6, 2]).astype(np.float32)
    x[np.arange(count), :, 2 * labels, 0] += 1.0
    return x, labels


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


SERVED = {"input": examples(3, seed=3)[0]}


def serving_input():
    images = tf.placeholder(tf.float32, [None, 6, 6, 2], name="images")
    return tf.estimator.export.TensorServingInputReceiver(images, images)


def conv(x, filters, seed, training, stride=1):
    x = tf.layers.conv2d(
        x,
        filters,
        3,
        strides=stride,
        padding="same",
        use_bias=False,
        kernel_initializer=tf.variance_scaling_initializer(seed=seed),
    )
    return tf.layers.batch_normalization(x, momentum=0.9, epsilon=1e-3, training=training)


def network(x, training):
    x = tf.nn.relu(conv(x, 4, 1, training))
    shortcut = x
    with tf.variable_scope("block"):
        x = tf.nn.relu(conv(x, 4, 2, training))
        x = tf.nn.relu(conv(x, 4, 3, training) + shortcut)
    x = tf.reduce_mean(x, axis=[1])
    return tf.layers.dense(
        tf.layers.flatten(x), 3, kernel_initializer=tf.glorot_uniform_initializer(seed=4)
    )


def averages(step=None):
    return tf.train.ExponentialMovingAverage(0.9, num_updates=step)


def averaged_variables():
    moving = [v for v in tf.global_variables() if "moving_" in v.op.name]
    return tf.trainable_variables() + moving


def restore_averages():
    ema = averages()
    names = {ema.average_name(variable): variable for variable in averaged_variables()}
    names["global_step"] = tf.train.get_global_step()
    return tf.train.Scaffold(saver=tf.train.Saver(names))


def metric_fn(labels, logits):
    return {
        "top_1": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1)),
        "top_2": tf.metrics.mean(tf.nn.in_top_k(logits, labels, 2)),
    }


def host_call(model_dir, every):
    """Returns a function that writes the step's numbers, but not in each step."""
    summary = tf.compat.v2.summary

    def write(step, loss, rate):
        step = step[0]
        writer = summary.create_file_writer(model_dir)
        with writer.as_default(), summary.record_if(tf.equal(step % every, 0)):
            summary.write("host/loss", loss[0], step=step)
            summary.write("host/learning_rate", rate[0], step=step)
            return tf.summary.all_v2_summary_ops()

    return write


def model_fn(features, labels, mode, params):
    logits = network(features, mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"class": tf.argmax(logits, axis=-1), "probability": tf.nn.softmax(logits)}
        return tf.estimator.tpu.TPUEstimatorSpec(
            mode, predictions=predictions, scaffold_fn=restore_averages
        )
    kernels = [v for v in tf.trainable_variables() if "batch_normalization" not in v.name]
    decay = 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in kernels])
    loss = tf.losses.softmax_cross_entropy(tf.one_hot(labels, 3), logits, label_smoothing=0.1)
    loss += decay
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.tpu.TPUEstimatorSpec(
            mode,
            loss=loss,
            eval_metrics=(metric_fn, [labels, logits]),
            scaffold_fn=restore_averages,
        )
    step = tf.train.get_global_step()
    rate = tf.train.piecewise_constant(step, [30, 60], [0.02, 0.01, 0.002])
    optimizer = tf.train.MomentumOptimizer(rate, 0.9, use_nesterov=True)
    if params["use_tpu"]:
        optimizer = tf.tpu.CrossShardOptimizer(optimizer)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        update = optimizer.minimize(loss, global_step=step)
    with tf.control_dependencies([update]):  # so that the host gets the completed step
        step_vector = tf.reshape(step.read_value(), [1])
        train_op = averages(step.read_value()).apply(averaged_variables())
    host_tensors = [step_vector, tf.reshape(loss, [1]), tf.reshape(rate, [1])]
    return tf.estimator.tpu.TPUEstimatorSpec(
        mode,
        loss=loss,
        train_op=train_op,
        host_call=(host_call(params["model_dir"], every=25), host_tensors),
    )


def make_estimator(model_dir, **settings):
    config = tf.estimator.tpu.RunConfig(
        tpu_config=tf.estimator.tpu.TPUConfig(iterations_per_loop=5),
        model_dir=model_dir,
        tf_random_seed=2024,
        **settings,
    )
    return tf.estimator.tpu.TPUEstimator(
        model_fn,
        config=config,
        params={"model_dir": model_dir},
        use_tpu=False,
        train_batch_size=6,
        eval_batch_size=8,
        predict_batch_size=8,
        export_to_tpu=False,
    )
