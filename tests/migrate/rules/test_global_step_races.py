"""EB060: a global step that is assigned concurrently with the update that reads it."""

import pytest
from migrate.model_sources import HEAD
from migrate.rewritten import check_left_alone, check_reported

STEP = "    global_step = tf.train.get_or_create_global_step()\n"
READ = "    rate = decay(global_step)\n"


@pytest.mark.parametrize(
    "source",
    [
        f"{HEAD}def f(op):\n{STEP}    return tf.group(op, global_step.assign_add(1))\n",
        (
            f"{HEAD}def f(op):\n{STEP}{READ}    with tf.control_dependencies([op]):\n"
            "        return global_step.assign_add(1)\n"
        ),
        f"{HEAD}def f(op):\n{STEP}    op.minimize(loss, global_step=global_step)\n",
        f"{HEAD}def f(op, v):\n    rate = decay(v)\n    return v.assign_add(1)\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            (
                f"{HEAD}def f(loss):\n{STEP}{READ}"
                "    op = tf.train.AdamOptimizer(rate).minimize(loss)\n"
                "    return tf.group(op, tf.assign_add(global_step, 1))\n"
            ),
            "global_step is assigned concurrently with a read",
        ),
        (
            (
                f"{HEAD}def f(op):\n{STEP}{READ}"
                "    return tf.group(op, global_step.assign(global_step + 1))\n"
            ),
            "here it is always read before",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB060", "works as is", source, words)
