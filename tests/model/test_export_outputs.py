import pytest
import tensorflow as tf

from estimator_bridge.model import ClassificationOutput, PredictOutput, RegressionOutput

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture
def examples():
    return {"examples": tf.compat.v1.placeholder(tf.string, [None], name="examples")}


def _floats():
    return tf.constant([0.5], name="floats")


def _texts():
    return tf.constant(["a"], name="texts")


def _names(tensor_infos):
    return {key: info.name for key, info in tensor_infos.items()}


def test_predict(examples):
    image = tf.compat.v1.placeholder(tf.float32, [None, 2], name="image")
    signature = PredictOutput({"p": _floats()}).as_signature_def({**examples, "image": image})
    assert signature.method_name == "tensorflow/serving/predict"
    assert _names(signature.inputs) == {"examples": "examples:0", "image": "image:0"}
    assert _names(signature.outputs) == {"p": "floats:0"}


def test_predict_names_its_outputs():
    one, two = _floats(), _texts()
    assert PredictOutput(one).outputs == {"output": one}
    assert PredictOutput({("head", "p"): one, "q": two}).outputs == {"head/p": one, "q": two}
    with pytest.raises(ValueError, match="Prediction output key must be a string; got 3"):
        PredictOutput({3: one})
    with pytest.raises(ValueError, match=r"Prediction output value must be a Tensor; got .* 'p'"):
        PredictOutput({"p": 1.0})


@pytest.mark.parametrize(
    ("parts", "outputs"),
    [
        (("scores", "classes"), {"scores": "floats:0", "classes": "texts:0"}),
        (("scores",), {"scores": "floats:0"}),
        (("classes",), {"classes": "texts:0"}),
    ],
)
def test_classify(examples, parts, outputs):
    both = {"scores": _floats(), "classes": _texts()}
    output = ClassificationOutput(**{name: both[name] for name in parts})
    assert (output.scores is not None) == ("scores" in parts)
    signature = output.as_signature_def(examples)
    assert signature.method_name == "tensorflow/serving/classify"
    assert _names(signature.inputs) == {"inputs": "examples:0"}
    assert _names(signature.outputs) == outputs


def test_classes_are_labels_and_scores_are_floats():
    with pytest.raises(ValueError, match="At least one of `scores` and `classes`"):
        ClassificationOutput()
    with pytest.raises(ValueError, match=r"classes must be a string Tensor; .*tf.as_string"):
        ClassificationOutput(classes=tf.constant([1]))
    with pytest.raises(ValueError, match="scores must be a float32 Tensor"):
        ClassificationOutput(scores=tf.constant([1]))


def test_regress(examples):
    signature = RegressionOutput(_floats()).as_signature_def(examples)
    assert signature.method_name == "tensorflow/serving/regress"
    assert _names(signature.outputs) == {"outputs": "floats:0"}
    with pytest.raises(ValueError, match="Regression output value must be a float32 Tensor"):
        RegressionOutput("high")


@pytest.mark.parametrize("kind", ["Classification", "Regression"])
def test_calls_that_take_examples_refuse_other_inputs(examples, kind):
    outputs = {
        "Classification": ClassificationOutput(scores=_floats()),
        "Regression": RegressionOutput(_floats()),
    }
    image = tf.compat.v1.placeholder(tf.float32, [None, 2])
    for receivers in ({}, {"image": image}, {**examples, "image": image}):
        with pytest.raises(ValueError, match=f"{kind} signatures can only accept a single tensor"):
            outputs[kind].as_signature_def(receivers)
