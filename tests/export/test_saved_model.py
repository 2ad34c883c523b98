import os
import types
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge.errors import CheckpointError
from estimator_bridge.export import (
    ClassificationOutput,
    PredictOutput,
    RegressionOutput,
    ServingInputReceiver,
    TensorServingInputReceiver,
    build_parsing_serving_input_receiver_fn,
)
from estimator_bridge.export.saved_model import export_saved_model
from estimator_bridge.graph import trace_graph
from estimator_bridge.model import EstimatorSpec, ModeKeys, Model

v1 = tf.compat.v1
PARSE = build_parsing_serving_input_receiver_fn({"x": tf.io.FixedLenFeature([2], tf.float32)})


def raw():
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    return ServingInputReceiver({"x": x}, {"x": x})


def linear(features):
    return v1.layers.dense(features["x"], 1, name="linear")


def predict_fn(features):
    return EstimatorSpec(ModeKeys.PREDICT, {"y": linear(features)})


def export(base, checkpoint, model_fn=predict_fn, receiver_fn=raw, **options):
    """Exports a model for prediction."""

    def call_model(features, labels, mode):
        assert (labels, mode) == (None, ModeKeys.PREDICT)
        return model_fn(features)

    receiver_fns = {ModeKeys.PREDICT: receiver_fn}
    return export_saved_model(str(base), call_model, receiver_fns, checkpoint, **options)


def serialized(*rows):
    def example(row):
        proto = tf.train.Example()
        proto.features.feature["x"].float_list.value.extend(row)
        return proto.SerializeToString()

    return tf.constant([example(row) for row in rows])


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """Of y = x0 + 10 x1 + 100."""
    with trace_graph(), v1.Session() as session:
        v1.get_variable("linear/kernel", initializer=[[1.0], [10.0]])
        v1.get_variable("linear/bias", initializer=[100.0])
        v1.train.create_global_step()
        session.run(v1.global_variables_initializer())
        return v1.train.Saver().save(session, str(tmp_path_factory.mktemp("model") / "model.ckpt"))


def serve(path, signature="serving_default", **feeds):
    loaded = tf.saved_model.load(tf.compat.as_str(path))
    return {k: v.numpy().tolist() for k, v in loaded.signatures[signature](**feeds).items()}


X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def test_it_serves_the_checkpoints_values(checkpoint, tmp_path):
    path = export(tmp_path / "base", checkpoint)
    assert isinstance(path, bytes)
    folder = Path(path.decode())
    assert folder.parent == tmp_path / "base"
    assert folder.name.isdigit()
    assert os.listdir(folder.parent) == [folder.name]
    assert sorted(os.listdir(folder)) == ["saved_model.pb", "variables"]
    assert serve(path, x=X) == {"y": [[121.0], [143.0]]}


def test_a_described_model_and_text(checkpoint, tmp_path):
    model = Model(linear)

    def model_fn(features):
        return model.model_fn(features, None, ModeKeys.PREDICT)

    path = export(tmp_path, checkpoint, model_fn, as_text=True)
    assert os.path.exists(os.path.join(path, b"saved_model.pbtxt"))
    assert serve(path, x=X) == {"outputs": [[121.0], [143.0]]}


def test_a_tensor_receiver_hands_on_the_tensor(checkpoint, tmp_path):
    def receiver_fn():
        x = v1.placeholder(tf.float32, [None, 2])
        return TensorServingInputReceiver(x, x)

    path = export(tmp_path, checkpoint, lambda x: predict_fn({"x": x}), receiver_fn)
    assert serve(path, input=X) == {"y": [[121.0], [143.0]]}


def test_named_outputs_and_alternatives_are_signatures(checkpoint, tmp_path, caplog):
    def model_fn(features):
        y = linear(features)
        outputs = {
            "serving_default": ClassificationOutput(scores=y, classes=tf.as_string(y)),
            "regression": RegressionOutput(y),
            "raw": PredictOutput({"y": y, "twice": 2 * y}),
        }
        return EstimatorSpec(ModeKeys.PREDICT, {"y": y}, export_outputs=outputs)

    def receiver_fn():
        parsed = PARSE()
        alternatives = {"vector": {"x": parsed.features["x"]}}
        return ServingInputReceiver(parsed.features, parsed.receiver_tensors, alternatives)

    path = export(tmp_path, checkpoint, model_fn, receiver_fn)
    with tf.Graph().as_default(), v1.Session() as session:
        meta = v1.saved_model.load(session, [tf.saved_model.SERVING], path.decode())
    methods = {name: s.method_name.split("/")[-1] for name, s in meta.signature_def.items()}
    methods.pop("__saved_model_init_op", None)
    assert methods == {
        "serving_default": "classify",
        "regression": "regress",
        "raw": "predict",
        "vector:raw": "predict",  # the other two can be fed by strings alone
    }
    assert "'vector:regression' is left out" in caplog.text
    assert serve(path, "raw", examples=serialized([1.0, 2.0])) == {
        "y": [[121.0]],
        "twice": [[242.0]],
    }
    assert serve(path, "vector:raw", x=X)["y"] == [[121.0], [143.0]]


def test_tables_and_assets_come_along(checkpoint, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("no\nyes\n")

    def model_fn(features):
        table = tf.lookup.StaticVocabularyTable(
            tf.lookup.TextFileInitializer(
                str(words), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            num_oov_buckets=1,
        )  # fmt: skip
        return EstimatorSpec(ModeKeys.PREDICT, {"id": table.lookup(features["word"])})

    def receiver_fn():
        word = v1.placeholder(tf.string, [None])
        return ServingInputReceiver({"word": word}, {"word": word})

    extra = tmp_path / "extra.txt"
    extra.write_text("beside it")
    path = export(
        tmp_path / "base",
        checkpoint,
        model_fn,
        receiver_fn,
        assets_extra={"notes/extra.txt": str(extra), b"bytes.txt": os.fsencode(extra)},
    )
    words.unlink()
    folder = Path(path.decode())
    assert (folder / "assets" / "words.txt").read_text() == "no\nyes\n"
    assert (folder / "assets.extra" / "notes" / "extra.txt").read_text() == "beside it"
    assert (folder / "assets.extra" / "bytes.txt").read_text() == "beside it"
    assert serve(path, word=tf.constant(["yes", "no", "else"])) == {"id": [1, 0, 2]}


def test_the_scaffolds_saver_and_local_init_op_are_used(checkpoint, tmp_path):
    def model_fn(features):
        y = v1.layers.dense(features["x"], 1, name="renamed")
        zero, place = v1.zeros_initializer(), ["local_variables"]
        local = v1.get_variable("local", [], initializer=zero, collections=place)
        _, kernel, bias = v1.global_variables()  # the first is the global step
        saver = v1.train.Saver({"linear/kernel": kernel, "linear/bias": bias})
        scaffold = v1.train.Scaffold(saver=saver, local_init_op=local.assign(0.5))
        return EstimatorSpec(ModeKeys.PREDICT, {"y": y + local}, scaffold=scaffold)

    path = export(tmp_path, checkpoint, model_fn)
    assert serve(path, x=X) == {"y": [[121.5], [143.5]]}


def test_without_a_checkpoint_initial_values_are_served(tmp_path):
    def model_fn(features):
        weight = v1.get_variable("w", [], initializer=v1.constant_initializer(3.0))
        bias = v1.get_variable("b", [], initializer=v1.zeros_initializer())

        def init_fn(scaffold, session):
            bias.load(0.5, session)

        scaffold = v1.train.Scaffold(init_fn=init_fn)
        predictions = {"y": weight * features["x"] + bias}
        return EstimatorSpec(ModeKeys.PREDICT, predictions, scaffold=scaffold)

    path = export(tmp_path, None, model_fn)
    assert serve(path, x=X[:1]) == {"y": [[3.5, 6.5]]}


def test_a_model_without_variables_is_exported(checkpoint, tmp_path):
    def model_fn(features):
        return EstimatorSpec(ModeKeys.PREDICT, {"twice": 2 * features["x"]})

    for path in (None, checkpoint):
        exported = export(tmp_path, path, model_fn)
        assert serve(exported, x=X[:1]) == {"twice": [[2.0, 4.0]]}


def test_a_checkpoint_that_does_not_fit_is_an_error(checkpoint, tmp_path):
    def wider(features):
        return EstimatorSpec(
            ModeKeys.PREDICT, {"y": v1.layers.dense(features["x"], 2, name="linear")}
        )

    def other(features):
        return EstimatorSpec(ModeKeys.PREDICT, {"y": v1.layers.dense(features["x"], 1, name="a")})

    base = tmp_path / "base"
    with pytest.raises(CheckpointError, match=r"mismatch between.*linear/bias is float32 \(2,\)"):
        export(base, checkpoint, wider)
    with pytest.raises(
        CheckpointError,
        match=r"Could not load all requested variables [^$]*mode `infer`.*"
        r"Key a/bias not found in checkpoint",
    ):
        export(base, checkpoint, other)
    with pytest.raises(CheckpointError, match=r"no whole checkpoint .*nowhere"):
        export(base, str(tmp_path / "nowhere"))
    assert not base.exists()


def test_what_is_traced_is_checked(tmp_path):
    base = tmp_path / "base"

    def no_receiver():
        x = v1.placeholder(tf.float32, [None, 2])
        return types.SimpleNamespace(features={"x": x})

    def without_outputs(features):
        spec = predict_fn(features)
        return tuple.__new__(EstimatorSpec, (*spec[:5], None, *spec[6:]))

    with pytest.raises(ValueError, match=r"must return a ServingInputRec.*got SimpleNamespace"):
        export(base, None, receiver_fn=no_receiver)
    with pytest.raises(ValueError, match="receiver_tensor x must be a Tensor"):
        export(base, None, receiver_fn=lambda: types.SimpleNamespace(
            features={}, receiver_tensors={"x": 3}))  # fmt: skip
    with pytest.raises(ValueError, match=r"`export_outputs` must be a dict\. Received None"):
        export(base, None, without_outputs)
    assert not base.exists()


def test_what_is_asked_for_is_checked(tmp_path):
    def not_called(*args):
        raise AssertionError(args)

    def fails(receiver_fns, match, **options):
        with pytest.raises(ValueError, match=match):
            export_saved_model(str(tmp_path / "base"), not_called, receiver_fns, None, **options)

    fails({}, r"No valid modes for exporting found\. Got \[\]")
    fails({"train": None}, r"No valid modes .*\['train'\], with no function")
    fails({"infer": raw, "test": raw}, r"No valid modes .*\['test'\] are not modes")
    fails({"infer": 3}, r"'infer' must be a function .*got 3")
    fails({"infer": raw}, r"'a'\] is '/not/there'.*no such file", assets_extra={"a": "/not/there"})
    fails({"infer": raw}, r"within .*assets\.extra, got '\.\./a'", assets_extra={"../a": __file__})
    assert not (tmp_path / "base").exists()


def test_values_are_read_once_and_written_equal(checkpoint, tmp_path):
    path = export(tmp_path, checkpoint)
    written = tf.train.load_checkpoint(os.path.join(path.decode(), "variables", "variables"))
    original = tf.train.load_checkpoint(checkpoint)
    for name in ("linear/kernel", "linear/bias"):
        np.testing.assert_array_equal(written.get_tensor(name), original.get_tensor(name))
