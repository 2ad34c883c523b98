"""Models that tf.contrib wrote in TensorFlow 1.15.5 load here, and are written the same way."""

import json
import stat
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from estimator_bridge_contrib.ffmpeg import decode_audio, decode_video, encode_audio
from estimator_bridge_contrib.older_graphs import leave_out_later_parts
from estimator_bridge_contrib.saved_model import load_keras_model, save_keras_model
from estimator_bridge_contrib.session_bundle import bundle_shim, session_bundle

v1 = tf.compat.v1
INPUTS = [[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]]  # those of contrib_goldens/files
WRITTEN = Path(__file__).parent / "contrib_goldens" / "files"


def outputs(name):
    return json.loads((WRITTEN / name / "outputs.json").read_text())


def test_a_keras_model_of_1_15_5_predicts_the_same():
    model = load_keras_model(str(WRITTEN / "keras_model"))
    predictions = model(tf.constant(INPUTS))
    np.testing.assert_allclose(predictions, outputs("keras_model"), rtol=1e-5)


def test_its_graph_is_served_and_trained():
    with tf.Graph().as_default(), v1.Session() as session:
        graph = v1.saved_model.load(session, ["serve"], str(WRITTEN / "keras_model"))
        signature = graph.signature_def["serving_default"]
        feed = {signature.inputs["x"].name: INPUTS}
        predictions = session.run(signature.outputs["y"].name, feed)
        np.testing.assert_allclose(predictions, outputs("keras_model"), rtol=1e-5)
    with tf.Graph().as_default(), v1.Session() as session:
        v1.saved_model.load(session, ["train"], str(WRITTEN / "keras_model"))
        assert session.run(v1.train.get_global_step()) == 1


def sequential(optimizer=None):
    model = tf_keras.Sequential([tf_keras.layers.Dense(2, input_shape=(3,), name="only")])
    if optimizer is not None:
        model.compile(optimizer, "mse")
    return model


def test_an_eager_model_gets_graphs_and_comes_back(tmp_path):
    model = sequential(tf_keras.optimizers.legacy.Adam(0.1))
    x = np.ones([2, 3], np.float32)
    model.fit(x, np.zeros([2, 2]), verbose=0)
    save_keras_model(model, str(tmp_path / "model"))
    np.testing.assert_allclose(load_keras_model(str(tmp_path / "model"))(x), model(x), rtol=1e-6)
    for tag in ("train", "eval"):
        with tf.Graph().as_default(), v1.Session() as session:
            v1.saved_model.load(session, [tag], str(tmp_path / "model"))
            assert session.run(v1.train.get_global_step()) == 1


def test_an_optimizer_for_eager_code_only_says_what_to_use(tmp_path):
    with pytest.raises(ValueError, match=r"tf\.keras\.optimizers\.legacy\.Adam"):
        save_keras_model(sequential(tf_keras.optimizers.Adam()), str(tmp_path / "model"))


class Doubled(tf_keras.Model):
    def call(self, inputs, training=None):
        return 2 * inputs


def test_a_subclassed_model_is_written_for_serving_only(tmp_path):
    model = Doubled()
    with pytest.raises(NotImplementedError, match="serving_only=True"):
        save_keras_model(model, str(tmp_path / "refused"))
    with pytest.raises(ValueError, match="give input_signature"):
        save_keras_model(model, str(tmp_path / "refused"), serving_only=True)
    spec = tf.TensorSpec([None, 3], tf.float32, name="x")
    save_keras_model(model, str(tmp_path / "m"), serving_only=True, input_signature=[spec])
    serve = tf.saved_model.load(str(tmp_path / "m")).signatures["serving_default"]
    (predictions,) = serve(tf.ones([1, 3])).values()
    np.testing.assert_array_equal(predictions, [[2.0, 2.0, 2.0]])


def test_a_bundle_of_1_15_5_is_loaded_with_its_files():
    folder = str(WRITTEN / "session_bundle" / "00000007")
    with tf.Graph().as_default():
        assert session_bundle.maybe_session_bundle_dir(folder)
    session, graph = bundle_shim.load_session_bundle_or_saved_model_bundle_from_path(folder)
    with session:
        predictions = session.run("y:0", {"x:0": INPUTS})
        asset = session.run(session.graph.get_operation_by_name("kept").outputs[0])
    np.testing.assert_allclose(predictions, outputs("session_bundle"))
    assert asset == b"a b\n"
    assert sorted(graph.signature_def) == ["serving_default", "serving_default_from_named"]


def test_a_folder_without_a_model_is_an_error(tmp_path):
    with pytest.raises(RuntimeError, match="Name the folder"):
        session_bundle.load_session_bundle_from_path(str(tmp_path))


def test_graphs_lose_only_what_1_15_refuses():
    with tf.Graph().as_default() as graph:
        v = v1.get_variable("v", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=True)
        hint = tf.raw_ops.DisableCopyOnRead(resource=v.handle)
        with tf.control_dependencies([hint, tf.no_op("kept")]):
            (gradient,) = v1.gradients(tf.matmul(v, v, name="product"), v)
        before = graph.as_graph_def()
    after = v1.GraphDef.FromString(before.SerializeToString())
    leave_out_later_parts(after)
    gone = {node.op for node in before.node} - {node.op for node in after.node}
    assert gone == {"DisableCopyOnRead"}
    assert not any({"debug_name", "grad_a"} & set(node.attr) for node in after.node)
    assert any("^kept" in node.input for node in after.node)
    gradients = []
    for definition in (before, after):
        with tf.Graph().as_default(), v1.Session() as session:
            tf.import_graph_def(definition, name="")
            session.run("v/Assign")
            gradients.append(session.run(gradient.name))
    np.testing.assert_array_equal(*gradients)


@pytest.mark.parametrize("call", [
    lambda: decode_audio("x", "wav", 8000, 1), lambda: decode_video("x"),
])  # fmt: skip
def test_a_missing_ffmpeg_says_how_to_install_it(monkeypatch, tmp_path, call):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Exception, match=r"apt-get install ffmpeg"):
        call()


def test_a_failing_ffmpeg_is_logged_and_gives_nothing(monkeypatch, tmp_path, caplog):
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho no such codec >&2\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert decode_audio("x", "wav", 8000, 1).shape == (0, 0)
    assert "no such codec" in caplog.text


def test_encoded_sound_is_what_tensorflow_decodes():
    samples = np.linspace(-0.9, 0.9, 20, dtype=np.float32).reshape(10, 2)
    audio, rate = tf.audio.decode_wav(encode_audio(samples, "wav", 8000))
    np.testing.assert_allclose(audio, samples, atol=1e-4)
    assert rate == 8000
