"""EB050: a result on a TPU whose size depends on data."""

import pytest
from migrate.model_sources import HEAD, inputs, model
from migrate.rewritten import check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        model("loss = tf.where(features > 0, features, labels)"),
        model("loss = tf.where(c, x=features, y=labels)"),
        # XLA knows what tf.shape gives, and a size that is no value of a batch.
        model("loss = tf.reshape(features, [tf.shape(features)[0], -1])"),
        model("loss = tf.reshape(tf.reduce_sum(features, 1), [-1])"),
        model("loss = tf.sequence_mask(features, maxlen=tf.reduce_max(tf.shape(labels)))"),
        model("loss = tf.tile(features, [tf.size(labels), 1])"),
        # Code for a CPU.
        model("loss = 1 if params['use_tpu'] else tf.where(features)"),
        model("loss = 1\nif not FLAGS.use_tpu:\n    loss = tf.unique(features)"),
        # What runs on the host.
        model(
            "loss = 1\ndef metric_fn(a):\n    return tf.boolean_mask(a, a > 0)\n"
            "eval_metrics = (metric_fn, [loss])",
            ", eval_metrics=eval_metrics",
        ),
        inputs("x = tf.where(a)\nreturn data.batch(params['batch_size'], drop_remainder=True)"),
        # A model of no TPUEstimator.
        f"{HEAD}def model_fn(features):\n    return tf.where(features)\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (model("loss = tf.where(features)"), "Write tf.where(condition, x, y)"),
        (model("loss = tf.unique(features)[0]"), "Compute it in input_fn."),
        (
            HEAD
            + "def helper(x):\n    return tf.boolean_mask(x, x > 0)\n\n\n"
            + model("loss = helper(features)")[len(HEAD) :],
            "Give each row a weight",
        ),
        (
            model("loss = tf.cond(a, lambda: tf.where(a), lambda: a)"),
            "Write tf.where(condition, x, y)",
        ),
        (model("loss = tf.sequence_mask(features)"), "Take sizes from x.shape"),
        (model("loss = tf.sequence_mask(features, maxlen=None)"), "Take sizes from x.shape"),
        (model("loss = tf.fill([tf.reduce_max(features)], 1.0)"), "Take sizes from x.shape"),
        (
            model("loss = tf.one_hot(features, depth=tf.reduce_max(features) + 1)"),
            "Take sizes from x.shape",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB050", "by hand", source, words)
