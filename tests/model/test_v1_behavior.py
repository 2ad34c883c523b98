"""The same for a program that turned TF2's behavior off, which cannot be undone."""

import os
import subprocess
import sys
import textwrap

_PROGRAM = """
    import tensorflow as tf
    tf.compat.v1.disable_v2_behavior()
    import tf_keras
    from estimator_bridge import export, model

    assert not tf.executing_eagerly()
    features = export.build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None, 2])})()
    with tf.Graph().as_default():
        weight = tf.compat.v1.get_variable("w", [], initializer=tf.zeros_initializer())
        mean = tf_keras.metrics.Mean()
        mean.update_state([weight + 2.0])
        spec = model.TPUEstimatorSpec(
            "train",
            loss=tf.reshape(weight, [1]),
            train_op=weight.assign_add(1.0),
            eval_metrics=(lambda: {"mean": mean}, []),
            host_call=(lambda w: [tf.identity(w)], [weight]),
        ).as_estimator_spec()
        value, update = spec.eval_metric_ops["mean"]
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            session.run(tf.compat.v1.local_variables_initializer())
            session.run(update)
            session.run(spec.train_op)
            loss, mean_value = session.run([spec.loss, value])
            print(loss, mean_value, features.features["x"].shape.as_list())
    print(model.TPURunConfig(master="emulated:2").replace(tf_random_seed=1).master)
"""


def test_specs_and_configs_without_v2_behavior():
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_PROGRAM)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()[-2:]
    assert first == "1.0 2.0 [None, 2]"
    assert second == "emulated:2"
