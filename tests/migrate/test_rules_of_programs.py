# ruff: noqa: E501 - a case is a line
"""Rules on TPUs, global steps, flags and versions: what is found, and what is left alone."""

from __future__ import annotations

from textwrap import indent

import pytest
from rewritten import findings, rewritten

HEAD = "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n\n"
STEP = "    global_step = tf.train.get_or_create_global_step()\n"


def model(body, after=""):
    """A model_fn of TPUEstimator with some lines in it."""
    whole = indent(body, "    ")
    return (
        f"{HEAD}def model_fn(features, labels, mode, params):\n{whole}\n"
        f"    return eb.tpu.TPUEstimatorSpec(mode, loss=loss{after})\n"
    )


def inputs(body, arguments="params", name="train_input_fn"):
    """An input function in a program of TPUEstimator."""
    whole = indent(body, "    ")
    return f"{HEAD}def {name}({arguments}):\n{whole}\n\neb.tpu.TPUEstimator(model_fn)\n"


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("EB050", model("loss = tf.where(features)")),
        ("EB050", model("loss = tf.unique(features)[0]")),
        ("EB050", HEAD + "def helper(x):\n    return tf.boolean_mask(x, x > 0)\n\n\n"
         + model("loss = helper(features)")[len(HEAD):]),
        ("EB050", model("loss = tf.cond(a, lambda: tf.where(a), lambda: a)")),
        ("EB050", model("loss = tf.sequence_mask(features)")),
        ("EB050", model("loss = tf.sequence_mask(features, maxlen=None)")),
        ("EB050", model("loss = tf.fill([tf.reduce_max(features)], 1.0)")),
        ("EB050", model("loss = tf.one_hot(features, depth=tf.reduce_max(features) + 1)")),
        ("EB021", "from estimator_bridge.legacy.contrib.slim import resnet_v2\n"),
        ("EB041", "from scipy.misc import imshow\n"),
        ("EB051", model("loss = tf.py_func(f, [features], tf.float32)")),
        ("EB051", model("loss = tf.numpy_function(f, [features], tf.float32)")),
        ("EB053", inputs("return tf.data.Dataset.range(9).batch(32)")),
        ("EB053", inputs("return data.batch(batch_size=32, drop_remainder=True)")),
        ("EB054", inputs("return data.batch(params['batch_size'])")),
        ("EB054", inputs("return data.shuffle(9).batch(params.batch_size)", name="input_fn")),
        ("EB054", inputs("return data.padded_batch(params['batch_size'], shapes)")),
        ("EB061", HEAD + "tf.flags.DEFINE_integer('v', 1, 'What.')\n"),
        ("EB062", HEAD + "if tf.__version__ == '1.15.0': pass\n"),
        ("EB062", HEAD + "if tf.VERSION >= '2.4': pass\n"),
        ("EB062", HEAD + "assert int(tf.__version__.split('.')[1]) > 3\n"),
        ("EB063", HEAD + "eb.tpu.TPUConfig(computation_shape=[1, 2])\n"),
    ],
)  # fmt: skip
def test_a_person_has_to_look(code, source):
    (found,) = findings(source)
    assert (found.rule, found.severity.value) == (code, "by hand"), found
    assert rewritten(source).count(f"# {code}: ") == 1


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("EB020", "from tensorflow.python.ops import array_ops, math_ops\n"),
        ("EB052", model("loss = 1\ntf.summary.scalar('a', loss)")),
        (
            "EB060",
            f"{HEAD}def f(loss):\n{STEP}    rate = decay(global_step)\n"
            "    op = tf.train.AdamOptimizer(rate).minimize(loss)\n"
            "    return tf.group(op, tf.assign_add(global_step, 1))\n",
        ),
        ("EB063", HEAD + "eb.tpu.TPUConfig(tpu_job_name=FLAGS.job)\n"),
    ],
)
def test_works_as_it_is(code, source):
    (found,) = findings(source)
    assert (found.rule, found.severity.value) == (code, "works as is"), found
    assert rewritten(source) == source


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
        # NumPy's arrays are divided by floats.
        HEAD + "ratio = batch.shape[0] / 1024.0\n",
        HEAD + "from scipy import ndimage\na = ndimage.rotate(b, 3)\nhalf = a.shape[1] / 2\n",
        f"{HEAD}import time\nstart = time.time()\ngot = session.run(fetches)\nlabels = got['a']\n"
        "speed = labels.shape[0] / (time.time() - start)\n",
        HEAD + "class A:\n    def f(self):\n        return self.shape[0] / 8\n",
        model("loss = 1 if params['use_tpu'] else tf.where(features)"),
        model("loss = 1\nif not FLAGS.use_tpu:\n    loss = tf.unique(features)"),
        # What runs on the host.
        model("loss = 1\ndef metric_fn(a):\n    return tf.boolean_mask(a, a > 0)\n"
              "eval_metrics = (metric_fn, [loss])", ", eval_metrics=eval_metrics"),
        model("loss = 1\ndef host(a):\n    tf.summary.scalar('a', a)", ", host_call=(host, [loss])"),
        model("loss = 1", ", host_call=(lambda a: tf.summary.scalar('a', a), [loss])"),
        # Input functions, and models that are of no TPUEstimator.
        inputs("x = tf.where(a)\nreturn data.batch(params['batch_size'], drop_remainder=True)"),
        f"{HEAD}def model_fn(features):\n    tf.summary.scalar('a', tf.where(features))\n",
        # Batches.
        inputs("return data.batch(1)", name="input_fn"),
        inputs("return data.batch(32)", arguments=""),
        inputs("return data.batch(32).batch(params['batch_size'], True)"),
        inputs("return data.batch(params['batch_size'], drop_remainder=is_training)"),
        inputs("return data.batch(params['batch_size'])", name="eval_input_fn"),
        inputs("return data.batch(params['batch_size'])", name="input_fn"),
        inputs("return data.batch(params['batch_size']).map(lambda x: x.set_shape([8]))"),
        HEAD + "def train_input_fn(params):\n    return data.batch(32)\n",
        # The global step.
        f"{HEAD}def f(op):\n{STEP}    return tf.group(op, global_step.assign_add(1))\n",
        f"{HEAD}def f(op):\n{STEP}    rate = decay(global_step)\n"
        "    with tf.control_dependencies([op]):\n        return global_step.assign_add(1)\n",
        f"{HEAD}def f(op):\n{STEP}    op.minimize(loss, global_step=global_step)\n",
        f"{HEAD}def f(op, v):\n    rate = decay(v)\n    return v.assign_add(1)\n",
        # Flags, versions and arguments.
        HEAD + "tf.flags.DEFINE_string('logdir', '', '')\nparser.add_argument('--log_dir')\n",
        HEAD + "tf.flags.DEFINE_string('log_dir', '', '', allow_override=True)\n",
        HEAD + "print(tf.__version__)\nassert tf.__version__ >= '1.4'\n",
        HEAD + "from packaging.version import Version\n"
        "if Version(tf.__version__) < Version('1.12'): pass\n",
        "import tensorflow as tf\nif tf.__version__ > '2':\n    tf = tf.compat.v1\n",
        HEAD + "tf.reduce_sum(a, keep_dims=True, reduction_indices=1)\ntf.squeeze(a, squeeze_dims=1)\n",
        HEAD + "eb.tpu.TPUConfig(iterations_per_loop=9, num_shards=8, tpu_job_name=None)\n",
    ],
)  # fmt: skip
def test_left_alone(source):
    assert findings(source) == []
    assert rewritten(source) == source


def test_a_flag_of_absl_is_the_programs():
    source = HEAD + "tf.flags.DEFINE_string(\n    'log_dir', '',\n    'Where.',  # here\n)\n"
    after = source.replace("'Where.',", "'Where.', allow_override=True,")
    assert rewritten(source) == after
    namespace = {}
    exec(after + "tf.flags.FLAGS(['program', '--log_dir=x'])\n", namespace)
    try:
        assert namespace["tf"].flags.FLAGS.log_dir == "x"
    finally:
        namespace["tf"].flags.FLAGS.unparse_flags()


def test_arguments_that_are_left_alone_are_taken():
    """tf.compat.v1 of the installed TensorFlow still has what 1.15 warned of."""
    import tensorflow.compat.v1 as tf

    a = tf.constant([[1.0], [2.0]])
    assert tf.reduce_sum(a, reduction_indices=1, keep_dims=True).shape == (2, 1)
    assert tf.squeeze(a, squeeze_dims=[1]).shape == (2,)
    assert tf.argmax(a, dimension=0).shape == (1,)
    assert tf.expand_dims(a, dim=0).shape == (1, 2, 1)


def test_a_package_named_tf2_is_none_of_tensorflow():
    source = "import tensorflow as tf\nfrom tf2 import anchors\nanchors.Anchors()\ntf.train.Saver\n"
    assert {found.rule for found in findings(source)} == {"EB010"}
