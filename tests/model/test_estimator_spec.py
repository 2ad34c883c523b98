import pytest
import tensorflow as tf

from estimator_bridge.model import EstimatorSpec, ExportOutput, ModeKeys, PredictOutput

_DEFAULT = "serving_default"
EAGER = tf.constant(1.0)
HOOK = tf.compat.v1.train.SessionRunHook()


pytestmark = pytest.mark.usefixtures("graph")


def _loss():
    return tf.constant(1.0, name="my_loss")


def _elsewhere(name="stranger"):
    with tf.Graph().as_default():
        return tf.constant(1.0, name=name)


def test_what_is_not_given_has_its_empty_form():
    spec = EstimatorSpec(ModeKeys.EVAL, loss=_loss())
    assert (spec.predictions, spec.train_op, spec.eval_metric_ops) == ({}, None, {})
    assert (spec.training_hooks, spec.evaluation_hooks, spec.prediction_hooks) == ((), (), ())
    assert spec.training_chief_hooks == ()
    assert spec.export_outputs is None
    assert isinstance(spec.scaffold, tf.compat.v1.train.Scaffold)


@pytest.mark.parametrize(
    ("mode", "arguments", "missing"),
    [
        (ModeKeys.TRAIN, ("loss",), "train_op"),
        (ModeKeys.TRAIN, ("train_op",), "loss"),
        (ModeKeys.EVAL, (), "loss"),
        (ModeKeys.PREDICT, ("loss",), "predictions"),
    ],
)
def test_each_mode_needs_its_fields(mode, arguments, missing):
    fields = {"loss": _loss(), "train_op": tf.no_op(), "predictions": {"a": _loss()}}
    with pytest.raises(ValueError, match=f"Missing {missing}"):
        EstimatorSpec(mode, **{name: fields[name] for name in arguments})
    assert EstimatorSpec(mode, **fields).mode == mode


def test_a_mode_that_is_none_is_refused():
    with pytest.raises(ValueError, match="mode of EstimatorSpec must be one of"):
        EstimatorSpec("test", loss=_loss())


def test_a_loss_of_one_element_becomes_a_scalar():
    spec = EstimatorSpec(ModeKeys.EVAL, loss=tf.constant([2.0]))
    assert spec.loss.shape == ()
    with tf.compat.v1.Session() as session:
        assert session.run(spec.loss) == 2.0
    unknown = tf.compat.v1.placeholder(tf.float32, None)
    assert EstimatorSpec(ModeKeys.EVAL, loss=unknown).loss is unknown


def test_a_loss_of_more_elements_is_refused():
    with pytest.raises(ValueError, match=r"Loss must be scalar, given: .*tf.reduce_mean"):
        EstimatorSpec(ModeKeys.EVAL, loss=tf.constant([1.0, 2.0]))


def test_wrong_types_are_named():
    with pytest.raises(TypeError, match=r"loss must be Tensor, given: 3.0"):
        EstimatorSpec(ModeKeys.EVAL, loss=3.0)
    with pytest.raises(TypeError, match="train_op must be Operation or Tensor, given: 'op'"):
        EstimatorSpec(ModeKeys.TRAIN, loss=_loss(), train_op="op")
    with pytest.raises(TypeError, match=r"predictions\[b\] must be Tensor, given: 3"):
        EstimatorSpec(ModeKeys.PREDICT, predictions={"a": _loss(), "b": 3})
    with pytest.raises(TypeError, match=r"predictions must be Tensor, given: \["):
        EstimatorSpec(ModeKeys.PREDICT, predictions=[_loss()])
    with pytest.raises(TypeError, match=r"scaffold must be tf.train.Scaffold. .*scaffold_fn"):
        EstimatorSpec(ModeKeys.EVAL, loss=_loss(), scaffold=tf.compat.v1.train.Scaffold)


@pytest.mark.parametrize(
    ("label", "fields"),
    [
        ('loss with "stranger:0"', lambda: {"loss": _elsewhere()}),
        ('train_op with "stranger:0"', lambda: {"train_op": _elsewhere()}),
        ('train_op with "stranger"', lambda: {"train_op": _elsewhere().op}),
        ('prediction values with "stranger:0"', lambda: {"predictions": _elsewhere()}),
        ('prediction values with "a: stranger:0"', lambda: {"predictions": {"a": _elsewhere()}}),
        (
            'eval_metric_ops with "m: stranger:0"',
            lambda: {"eval_metric_ops": {"m": (_loss(), _elsewhere())}},
        ),
    ],
)
def test_tensors_of_another_graph_are_refused_by_name(label, fields):
    valid = {"loss": _loss(), "train_op": tf.no_op()}
    with pytest.raises(ValueError, match=f"{label} must be from the default graph"):
        EstimatorSpec(ModeKeys.TRAIN, **{**valid, **fields()})


def test_an_eager_tensor_is_refused():
    with pytest.raises(ValueError, match="must be from the default graph"):
        EstimatorSpec(ModeKeys.EVAL, loss=EAGER)


@pytest.mark.parametrize("use_resource", [True, False])
def test_an_assignment_trains(use_resource):
    start = tf.compat.v1.ones_initializer()
    step = tf.compat.v1.get_variable("step", [], initializer=start, use_resource=use_resource)
    spec = EstimatorSpec(ModeKeys.TRAIN, loss=_loss(), train_op=step.assign_add(1.0))
    with tf.compat.v1.Session() as session:
        session.run(step.initializer)
        session.run(spec.train_op)
        assert session.run(step) == 2


@pytest.mark.parametrize(
    "field", ["training_chief_hooks", "training_hooks", "evaluation_hooks", "prediction_hooks"]
)
def test_hooks_become_a_tuple_and_are_hooks(field):
    spec = EstimatorSpec(ModeKeys.EVAL, loss=_loss(), **{field: [HOOK]})
    assert getattr(spec, field) == (HOOK,)
    with pytest.raises(TypeError, match=f"must be SessionRunHook instances, given: 3 in {field}"):
        EstimatorSpec(ModeKeys.EVAL, loss=_loss(), **{field: [3]})
    with pytest.raises(TypeError, match=f"in {field} .* which is not a list"):
        EstimatorSpec(ModeKeys.EVAL, loss=_loss(), **{field: HOOK})


def test_predictions_are_the_default_output():
    spec = EstimatorSpec(ModeKeys.PREDICT, predictions={"a": _loss()})
    assert spec.export_outputs[_DEFAULT].outputs == {"a": spec.predictions["a"]}


def test_a_single_output_becomes_the_default_too():
    outputs = {"mine": PredictOutput(_loss())}
    spec = EstimatorSpec(ModeKeys.PREDICT, predictions=_loss(), export_outputs=outputs)
    assert spec.export_outputs == {"mine": outputs["mine"], _DEFAULT: outputs["mine"]}
    assert list(outputs) == ["mine"]


def test_of_several_outputs_one_is_the_default():
    output = PredictOutput(_loss())
    outputs = {"a": output, "b": output}
    with pytest.raises(ValueError, match=r"Multiple `export_outputs` .*\['a', 'b'\]"):
        EstimatorSpec(ModeKeys.PREDICT, predictions=_loss(), export_outputs=outputs)
    outputs[_DEFAULT] = output
    spec = EstimatorSpec(ModeKeys.PREDICT, predictions=_loss(), export_outputs=outputs)
    assert spec.export_outputs == outputs


def test_outputs_are_outputs():
    with pytest.raises(TypeError, match="`export_outputs` must be dict"):
        EstimatorSpec(ModeKeys.PREDICT, _loss(), export_outputs=PredictOutput(_loss()))
    with pytest.raises(TypeError, match="must be ExportOutput objects"):
        EstimatorSpec(ModeKeys.PREDICT, _loss(), export_outputs={"a": _loss()})


def test_an_output_of_a_users_own_class_is_taken():
    class Mine(ExportOutput):
        def as_signature_def(self, receiver_tensors):
            return tf.compat.v1.saved_model.predict_signature_def(receiver_tensors, {})

    spec = EstimatorSpec(ModeKeys.PREDICT, _loss(), export_outputs={"mine": Mine()})
    assert isinstance(spec.export_outputs[_DEFAULT], Mine)


def test_replacing_checks_again_and_keeps_the_mode():
    spec = EstimatorSpec(ModeKeys.EVAL, loss=_loss())
    replaced = spec._replace(evaluation_hooks=[HOOK], mode=ModeKeys.EVAL)
    assert (replaced.evaluation_hooks, replaced.loss) == ((HOOK,), spec.loss)
    assert replaced.scaffold is spec.scaffold
    with pytest.raises(ValueError, match="mode of EstimatorSpec cannot be changed"):
        spec._replace(mode=ModeKeys.TRAIN)
    with pytest.raises(TypeError, match="loss must be Tensor"):
        spec._replace(loss=1)


def test_replacing_a_field_that_is_none_says_so_and_goes_on(caplog):
    spec = EstimatorSpec(ModeKeys.EVAL, loss=_loss())
    replaced = spec._replace(losses=spec.loss, evaluation_hooks=[HOOK])
    assert (replaced.evaluation_hooks, replaced.loss) == ((HOOK,), spec.loss)
    assert "unexpected field names, which have no effect: ['losses']" in caplog.text
