"""Full disks: errors name the last checkpoint, half-written files are removed, results are kept."""

import errno
import os
import threading

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.compat.v1 import logging

import estimator_bridge as eb
from estimator_bridge import checkpoint
from estimator_bridge.own_files import staged, staging
from estimator_bridge.training import metrics

v1 = tf.compat.v1
FULL = os.strerror(errno.ENOSPC)


def model_fn(features, labels, mode):
    weights = v1.get_variable("weights", [4])
    loss = tf.reduce_mean(tf.square(features["x"] * weights - 1.0))
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, {"y": features["x"]}, loss, train_op)


def examples():
    return tf.data.Dataset.from_tensors({"x": np.ones([1], np.float32)}).repeat(8)


def make(folder):
    return eb.Estimator(model_fn, str(folder), eb.RunConfig(save_checkpoints_steps=2))


def full_from(monkeypatch, step, remnant):
    """From this step on, a saver fails as on a full disk, and leaves a part of what it wrote."""
    save = checkpoint.CheckpointingSession.save

    def failing(self, prefix, *rest):
        if not prefix.endswith(f"-{step}"):
            return save(self, prefix, *rest)
        with staged(*os.path.split(prefix)) as place:
            os.makedirs(os.path.dirname(place + remnant), exist_ok=True)
            with open(place + remnant, "wb") as file:
                file.write(b"half")
        message = f"{prefix}{remnant}; {FULL}\n\t [[{{{{node save/SaveV2}}}}]]\nHint: OOM ..."
        raise tf.errors.ResourceExhaustedError(None, None, message)

    monkeypatch.setattr(checkpoint.CheckpointingSession, "save", failing)


@pytest.mark.parametrize(
    "remnant", ["_temp/part-00000-of-00001.data-00000-of-00001.tempstate1", ".data-00000-of-00001"]
)
def test_a_checkpoint_that_does_not_fit(tmp_path, monkeypatch, remnant):
    estimator = make(tmp_path)
    with monkeypatch.context() as patch:
        full_from(patch, 4, remnant)
        with pytest.raises(eb.errors.DiskFullError) as raised:
            estimator.train(examples, max_steps=8)
    message = str(raised.value)
    assert f"{tmp_path}/model.ckpt-4{remnant}; {FULL}" in message
    assert f"The checkpoint {tmp_path}/model.ckpt-2 is whole" in message
    assert "Free some space" in message
    assert "OOM" not in message
    assert "\n" not in message
    # What the original raised: programs catch it.
    assert isinstance(raised.value, tf.errors.ResourceExhaustedError)
    assert {path.name for path in tmp_path.glob("model.ckpt-4*")} == set()
    estimator.train(examples, max_steps=8)
    assert estimator.get_variable_value("global_step") == 8


def test_a_first_checkpoint_that_does_not_fit(tmp_path, monkeypatch):
    full_from(monkeypatch, 0, ".data-00000-of-00001")
    with pytest.raises(eb.errors.DiskFullError, match="There is no whole checkpoint in"):
        make(tmp_path).train(examples, max_steps=8)
    assert not list(tmp_path.glob("model.ckpt*"))


def test_other_errors_pass_unchanged(tmp_path):
    with (
        pytest.raises(RuntimeError, match=r"^mine$"),
        checkpoint.explained_full_disk(str(tmp_path)),
    ):
        raise RuntimeError("mine")


class FullWriter:
    """A summary writer as TensorFlow's is on a full disk."""

    reopened = 0

    def add_summary(self, summary, step):
        pass

    def flush(self):
        thread = threading.Thread(target=self._fail, name="EventLoggerThread")
        thread.start()
        thread.join()
        raise RuntimeError(f"/eval/events.out; {FULL}\n\tFailed to flush 2 events")

    def _fail(self):
        raise RuntimeError(FULL)

    def reopen(self):
        FullWriter.reopened += 1


def test_an_evaluation_keeps_its_results(tmp_path, monkeypatch, caplog, capfd):
    logging.set_verbosity(logging.INFO)
    estimator = make(tmp_path)
    estimator.train(examples, max_steps=2)
    results = estimator.evaluate(examples)
    caplog.clear()
    capfd.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(v1.summary.FileWriterCache, "get", lambda directory: FullWriter())
        patch.setattr(FullWriter, "reopened", 0)
        assert estimator.evaluate(examples) == results
        assert FullWriter.reopened == 1
    (warning,) = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert f"could not be written as summaries to {tmp_path}/eval" in warning
    assert f"/eval/events.out; {FULL}. They are returned" in warning
    assert "Traceback" not in capfd.readouterr().err  # of the writer's thread
    assert "Saving dict for global step 2: " in caplog.text


def test_an_evaluation_needs_no_space(tmp_path, monkeypatch):
    """Nor does the look whether model_dir can be written stand in its way."""
    estimator = make(tmp_path)
    estimator.train(examples, max_steps=2)
    before = set(os.listdir(tmp_path))
    open_file = tf.io.gfile.GFile.write

    def full(self, text):
        if ".estimator_bridge.staging" in self.name:
            raise tf.errors.ResourceExhaustedError(None, None, f"{self.name}; {FULL}")
        return open_file(self, text)

    monkeypatch.setattr(tf.io.gfile.GFile, "write", full)
    assert estimator.evaluate(examples)["global_step"] == 2
    with pytest.raises(eb.errors.DiskFullError, match=r"cannot be written to: .*Free some space"):
        estimator.train(examples, max_steps=4)
    assert set(os.listdir(tmp_path)) == before | {"eval"}


def test_a_thread_of_another_name_keeps_its_traceback(monkeypatch):
    errors = []
    monkeypatch.setattr(threading, "excepthook", lambda failed: errors.append(failed.exc_type))
    with metrics._quiet_writer_thread():
        thread = threading.Thread(target=lambda: 1 / 0, name="mine")
        thread.start()
        thread.join()
    assert errors == [ZeroDivisionError]


@pytest.fixture
def full_for(monkeypatch):
    """Fails each write of a file whose name has a part, as on a full disk."""

    def fail(part):
        write = tf.io.gfile.GFile.write

        def full(self, text):
            if part in tf.compat.as_str_any(self.name):
                raise tf.errors.ResourceExhaustedError(None, None, f"{self.name}; {FULL}")
            return write(self, text)

        monkeypatch.setattr(tf.io.gfile.GFile, "write", full)

    return fail


def receiver_fn():
    x = v1.placeholder(tf.float32, [None, 1])
    return eb.export.ServingInputReceiver({"x": x}, x)


def test_an_export_that_does_not_fit(tmp_path, monkeypatch):
    estimator = make(tmp_path / "model")
    estimator.train(examples, max_steps=2)
    out = tmp_path / "out"
    estimator.export_saved_model(str(out), receiver_fn)
    before = sorted(os.listdir(out))

    def full(self, as_text=False):
        raise tf.errors.ResourceExhaustedError(None, None, f"{out}/temp/saved_model.pb; {FULL}")

    monkeypatch.setattr(v1.saved_model.Builder, "save", full)
    with pytest.raises(eb.errors.DiskFullError) as raised:
        estimator.export_saved_model(str(out), receiver_fn)
    message = str(raised.value)
    assert (
        f"The disk is full: {out}/temp/saved_model.pb; {FULL}. An export to {out} was not"
        in message
    )
    assert sorted(os.listdir(out)) == before


def test_the_note_and_the_exports_of_train_and_evaluate(tmp_path, full_for, monkeypatch):
    estimator = make(tmp_path)
    train_spec = eb.TrainSpec(examples, max_steps=4)
    exporter = eb.FinalExporter("final", receiver_fn)
    eval_spec = eb.EvalSpec(examples, steps=1, exporters=[exporter], throttle_secs=0)

    def full(self, as_text=False):
        raise tf.errors.ResourceExhaustedError(None, None, f"saved_model.pb; {FULL}")

    with monkeypatch.context() as patch:
        patch.setattr(v1.saved_model.Builder, "save", full)
        with pytest.raises(eb.errors.DiskFullError, match=r"An export to .*final was not written"):
            eb.train_and_evaluate(estimator, train_spec, eval_spec)
        with pytest.raises(eb.errors.DiskFullError, match=r"An export to .*final was not written"):
            eb.train_and_evaluate(estimator, train_spec, eval_spec)  # the end, which was cut short
    metrics, exports = eb.train_and_evaluate(estimator, train_spec, eval_spec)
    assert metrics["global_step"] == 4
    assert len(exports) == 1

    def refuse(path):
        raise OSError(errno.ENOSPC, FULL, path)

    monkeypatch.setattr(staging, "open_to_write", refuse)
    with pytest.raises(eb.errors.DiskFullError, match=r"No space left"):
        eb.train_and_evaluate(estimator, eb.TrainSpec(examples, max_steps=6), eval_spec)
