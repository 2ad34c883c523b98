import pytest
import tensorflow as tf

from estimator_bridge.model import EstimatorSpec, HostCallHook, ModeKeys, TPUEstimatorSpec

HOOK = tf.compat.v1.train.SessionRunHook()


pytestmark = pytest.mark.usefixtures("graph")


def _loss():
    return tf.constant(1.0)


def metric_fn(labels, logits):
    return {"error": tf.compat.v1.metrics.mean(labels - logits)}


def test_fields_are_kept_as_given():
    tensors = [tf.constant([3.0]), tf.constant([1.0])]

    def scaffold_fn():
        return tf.compat.v1.train.Scaffold()

    spec = TPUEstimatorSpec(
        ModeKeys.EVAL,
        loss=tf.constant([1.0]),
        eval_metrics=(metric_fn, tensors),
        scaffold_fn=scaffold_fn,
        evaluation_hooks=[HOOK],
    )
    assert spec.loss.shape == ()
    assert spec.eval_metrics == (metric_fn, tensors)
    assert (spec.scaffold_fn, spec.host_call) == (scaffold_fn, None)
    assert (spec.training_hooks, spec.evaluation_hooks) == ((), (HOOK,))
    assert not isinstance(spec, EstimatorSpec)


def test_checks_are_those_of_estimator_spec():
    with pytest.raises(ValueError, match="Missing train_op"):
        TPUEstimatorSpec(ModeKeys.TRAIN, loss=_loss())
    with pytest.raises(ValueError, match="mode of TPUEstimatorSpec"):
        TPUEstimatorSpec("test", loss=_loss())
    with pytest.raises(TypeError, match="given: 3 in training_hooks"):
        TPUEstimatorSpec(ModeKeys.EVAL, loss=_loss(), training_hooks=[3])
    with pytest.raises(ValueError, match="eval_metrics should have two elements"):
        TPUEstimatorSpec(ModeKeys.EVAL, loss=_loss(), eval_metrics=(metric_fn,))
    with pytest.raises(RuntimeError, match=r"TPUEstimatorSpec.host_call, length of tensors 0"):
        TPUEstimatorSpec(ModeKeys.EVAL, loss=_loss(), host_call=(metric_fn, []))
    with pytest.raises(TypeError, match="scaffold_fn must be a function"):
        TPUEstimatorSpec(ModeKeys.EVAL, loss=_loss(), scaffold_fn=tf.compat.v1.train.Scaffold())


def test_predictions_are_the_default_output():
    spec = TPUEstimatorSpec(ModeKeys.PREDICT, predictions={"a": _loss()})
    assert spec.export_outputs["serving_default"].outputs == spec.predictions


@pytest.mark.parametrize("as_dict", [True, False])
def test_as_estimator_spec_calls_metric_fn(as_dict):
    labels, logits = tf.constant([3.0]), tf.constant([1.0])
    tensors = {"labels": labels, "logits": logits} if as_dict else [labels, logits]
    tpu_spec = TPUEstimatorSpec(ModeKeys.EVAL, loss=_loss(), eval_metrics=(metric_fn, tensors))
    spec = tpu_spec.as_estimator_spec()
    value, update = spec.eval_metric_ops["error"]
    with tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.local_variables_initializer())
        session.run(update)
        assert session.run(value) == 2.0


def test_as_estimator_spec_keeps_the_rest():
    train_op, scaffold = tf.no_op(), tf.compat.v1.train.Scaffold()
    tpu_spec = TPUEstimatorSpec(
        ModeKeys.TRAIN,
        predictions={"a": _loss()},
        loss=_loss(),
        train_op=train_op,
        scaffold_fn=lambda: scaffold,
        training_hooks=[HOOK],
    )
    spec = tpu_spec.as_estimator_spec()
    assert isinstance(spec, EstimatorSpec)
    assert (spec.mode, spec.loss, spec.train_op) == (ModeKeys.TRAIN, tpu_spec.loss, train_op)
    assert (spec.predictions, spec.training_hooks) == (tpu_spec.predictions, (HOOK,))
    assert spec.scaffold is scaffold


def test_as_estimator_spec_runs_the_host_call_after_the_users_hooks():
    asked = []

    def host_fn(step):
        asked.append(step)
        return [tf.identity(step)]

    step = tf.constant([1])
    spec = TPUEstimatorSpec(
        ModeKeys.TRAIN,
        loss=_loss(),
        train_op=tf.no_op(),
        host_call=(host_fn, [step]),
        training_hooks=[HOOK],
    ).as_estimator_spec()
    assert asked == [step]
    for hooks in (spec.training_hooks, (HOOK, *spec.evaluation_hooks)):
        assert hooks[0] is HOOK
        assert [type(hook) for hook in hooks[1:]] == [HostCallHook]


def test_two_specs_do_not_share_their_functions():
    one = TPUEstimatorSpec(
        ModeKeys.EVAL, loss=_loss(), eval_metrics=(metric_fn, [_loss(), _loss()])
    )
    TPUEstimatorSpec(ModeKeys.EVAL, loss=_loss())
    assert list(one.as_estimator_spec().eval_metric_ops) == ["error"]


def test_replacing_checks_again():
    spec = TPUEstimatorSpec(ModeKeys.EVAL, loss=_loss())
    assert spec._replace(evaluation_hooks=[HOOK]).evaluation_hooks == (HOOK,)
    with pytest.raises(TypeError, match="loss must be Tensor"):
        spec._replace(loss="low")
    with pytest.raises(ValueError, match=r"unexpected field names: \['losses'\]"):
        spec._replace(losses=spec.loss)
