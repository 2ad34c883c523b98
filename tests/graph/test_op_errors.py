"""The error of a failing operation names the program's line that made it."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb

v1 = tf.compat.v1


def _model_fn(features, mode):
    weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
    ratio = tf.debugging.check_numerics(weight / features, "a division", name="ratio")
    step = v1.train.get_global_step()
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(ratio, step)
    return eb.EstimatorSpec(mode, loss=ratio, train_op=train_op)


class _EveryStep(v1.train.SessionRunHook):
    def before_run(self, run_context):
        return v1.train.SessionRunArgs(v1.train.get_global_step())


class _AfterwardsInSession(v1.train.SessionRunHook):
    def end(self, session):
        session.run("ratio:0", {"IteratorGetNext:0": np.float32(0)})


def _input_fn(*values):
    return lambda: tf.data.Dataset.from_tensor_slices(np.array(values, np.float32))


@pytest.mark.parametrize(
    ("values", "hooks"),
    [
        ((1.0, 2.0, 0.0), []),
        ((1.0, 2.0, 0.0), [_EveryStep()]),
        ((1.0, 2.0), [_AfterwardsInSession()]),
    ],
    ids=["loop", "single_step", "session"],
)
def test_an_error_names_the_line_that_made_the_operation(tmp_path, values, hooks):
    estimator = eb.Estimator(_model_fn, str(tmp_path))
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        estimator.train(_input_fn(*values), hooks=hooks)
    message = str(raised.value)
    assert "a division : Tensor had Inf values" in message
    assert "Operation 'ratio' was made at" in message
    assert 'ratio = tf.debugging.check_numerics(weight / features, "a division"' in message
    assert "stack traces unavailable" not in message


def test_other_errors_stay_as_they_are(tmp_path):
    class Fails(v1.train.SessionRunHook):
        def before_run(self, run_context):
            raise tf.errors.UnavailableError(None, None, "gone")

    with pytest.raises(tf.errors.UnavailableError, match=r"^gone$"):
        eb.Estimator(_model_fn, str(tmp_path)).train(_input_fn(1.0), hooks=[Fails()])
