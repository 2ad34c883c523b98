"""Readers that would open a pipe in place of a file, also inside TensorFlow's kernels.

A thread looks for a reader that has the pipe open. One that waits is released at once, so that a
missing check fails here instead of hanging the tests.
"""

import os
import select
import shutil
import stat
import threading
import time
from pathlib import Path

import pytest
import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
import flags
from estimator_bridge.checkpoint import latest_checkpoint, load_variable
from estimator_bridge.checkpoint.any_checkpoints import newest_listed, reader_of
from estimator_bridge.checkpoint.publishing import _finish
from estimator_bridge.errors import CheckpointError, DataError
from estimator_bridge.prediction.served_model import load_model
from estimator_bridge.training.supervision.guard_process import _newest
from estimator_bridge_contrib import predictor
from estimator_bridge_contrib.data.lmdb_files import LMDBFile
from estimator_bridge_contrib.learn.datasets.base import (
    load_csv_with_header,
    load_csv_without_header,
    shrink_csv,
)
from estimator_bridge_contrib.learn.text_processors import VocabularyProcessor
from estimator_bridge_contrib.saved_model.keras_saved_model import load_keras_model
from estimator_bridge_contrib.saved_model.reader import read_saved_model
from estimator_bridge_contrib.session_bundle.session_bundle import load_session_bundle_from_path
from models.mnist.idx import read_idx

v1 = tf.compat.v1
REFUSALS = (DataError, CheckpointError, OSError, ValueError)


@pytest.fixture
def pipe(tmp_path):
    """Makes pipes, and fails the test if a reader waits for one of them."""
    paths, waiting, is_over = [], [], threading.Event()

    def watch():
        while not is_over.wait(0.02):
            for path in paths:
                release(path)

    def release(path):
        try:
            if not stat.S_ISFIFO(os.lstat(path).st_mode):  # it was set aside
                return
            writer = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads
            return
        time.sleep(0.2)  # one that only looks closes it at once
        poll = select.poll()
        poll.register(writer, 0)
        if not any(event & select.POLLERR for _, event in poll.poll(0)):
            waiting.append(path)
        os.close(writer)

    def make(name):
        path = str(tmp_path / name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        os.mkfifo(path)
        paths.append(path)
        return path

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield make
    is_over.set()
    thread.join()
    assert not waiting


def test_the_fixture_notices_a_reader_that_waits(tmp_path):
    read, seen = [], []
    path = str(tmp_path / "p")
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(Path(path).read_bytes()))
    reader.start()
    while not seen:
        try:
            seen.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            time.sleep(0.01)
    time.sleep(0.2)
    poll = select.poll()
    poll.register(seen[0], 0)
    assert not poll.poll(0)
    os.close(seen[0])
    reader.join(10)
    assert read == [b""]
    seen[:] = [os.open(path, os.O_RDONLY | os.O_NONBLOCK)]
    writer = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.close(seen[0])
    poll.register(writer, 0)
    assert any(event & select.POLLERR for fd, event in poll.poll(0) if fd == writer)
    os.close(writer)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("trained"))
    estimator = eb.Estimator(_model_fn, folder)
    estimator.train(_numbers, steps=2)
    return folder


def _numbers():
    return tf.data.Dataset.range(100).map(lambda n: tf.cast(n, tf.float32)).batch(2)


def _model_fn(features, labels, mode):
    weight = v1.get_variable("weight", [3, 1])
    loss = tf.reduce_mean(features) * tf.reduce_sum(weight)
    step = v1.train.get_or_create_global_step()
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return eb.EstimatorSpec(mode, {"y": features}, loss, train_op)


def _with_table(make_table):
    def model_fn(features, labels, mode):
        table = make_table()
        ids = table.lookup(tf.constant(["a"]))
        weight = v1.get_variable("weight", [])
        loss = weight * tf.cast(ids[0], tf.float32)
        step = v1.train.get_or_create_global_step()
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return eb.EstimatorSpec(mode, {"y": features}, loss, train_op)

    return model_fn


def _static_table(path):
    index = tf.lookup.TextFileIndex
    content = tf.lookup.TextFileInitializer(
        path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
    )
    return tf.lookup.StaticHashTable(content, -1)


def _contrib_table(path):
    from estimator_bridge_contrib import lookup

    return lookup.index_table_from_file(path, num_oov_buckets=1, vocab_size=3)


@pytest.mark.parametrize("make_table", [_static_table, _contrib_table])
def test_the_vocabulary_of_a_table(make_table, pipe, tmp_path):
    path = pipe("words.txt")
    estimator = eb.Estimator(_with_table(lambda: make_table(path)), str(tmp_path / "m"))
    with pytest.raises(OSError, match="is a pipe or a device") as caught:
        estimator.train(_numbers, steps=1)
    assert "words.txt" in str(caught.value)


def test_the_vocabulary_of_a_feature_column(pipe, tmp_path):
    path = pipe("words.txt")
    words = tf.feature_column.categorical_column_with_vocabulary_file("x", path, 3)
    estimator = eb.LinearClassifier([words], str(tmp_path / "m"))
    with pytest.raises(OSError, match="is a pipe or a device"):
        estimator.train(lambda: ({"x": tf.constant([["a"]])}, tf.constant([[1]])), steps=1)


def test_the_vocabulary_of_an_inputs_table(pipe, tmp_path):
    path = pipe("words.txt")

    def input_fn():
        table = _static_table(path)
        ids = table.lookup(tf.constant(["a"]))
        return tf.cast(ids, tf.float32)

    with pytest.raises(OSError, match="is a pipe or a device"):
        eb.Estimator(_model_fn, str(tmp_path / "m")).train(input_fn, steps=1)


@pytest.mark.parametrize("which", ["old_vocab", "new_vocab"])
def test_the_vocabularies_of_a_warm_start(which, pipe, trained, tmp_path):
    words = tmp_path / "words"
    words.write_text("a\nb\nc\n")
    paths = {"old_vocab": str(words), "new_vocab": str(words), which: pipe("other")}
    settings = eb.WarmStartSettings(
        trained,
        "weight",
        {"weight": eb.VocabInfo(new_vocab_size=3, num_oov_buckets=0, **paths)},
    )
    estimator = eb.Estimator(_model_fn, str(tmp_path / "m"), warm_start_from=settings)
    with pytest.raises(OSError, match="is a pipe or a device"):
        estimator.train(_numbers, steps=1)


ENDINGS = [".index", ".data-00000-of-00001", ".meta"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_of_the_checkpoint(ending, pipe, trained, tmp_path):
    folder = tmp_path / "m"
    shutil.copytree(trained, folder)
    pipe(f"m/model.ckpt-2{ending}")
    if ending == ".meta":  # which is not read
        estimator = eb.Estimator(_model_fn, str(folder))
        estimator.train(_numbers, max_steps=3)
        assert latest_checkpoint(str(folder)).endswith("-3")
        return
    for read in (
        latest_checkpoint,
        lambda path: load_variable(f"{path}/model.ckpt-2", "weight"),
        lambda path: eb.Estimator(_model_fn, path).train(_numbers, max_steps=3),
        reader_of,
        lambda path: reader_of(f"{path}/model.ckpt-2"),
        lambda path: eb.Estimator(
            _model_fn, f"{tmp_path}/other", warm_start_from=f"{path}/model.ckpt-2"
        ).train(_numbers, max_steps=3),
    ):
        with pytest.raises((CheckpointError, OSError), match="is a pipe or a device") as caught:
            read(str(folder))
        assert f"model.ckpt-2{ending}" in str(caught.value)


def test_a_checkpoint_of_one_file(pipe):
    path = pipe("model.ckpt")
    for read in (lambda: load_variable(path, "x"), lambda: reader_of(path)):
        with pytest.raises((CheckpointError, OSError), match="is a pipe or a device"):
            read()


def test_the_list_of_checkpoints(pipe, tmp_path):
    pipe("checkpoint")
    for read in (latest_checkpoint, newest_listed, reader_of):
        with pytest.raises(OSError, match="is a pipe or a device"):
            read(str(tmp_path))
    assert "No checkpoint was written" in _newest(str(tmp_path))


def _train_with_position(folder, steps):
    estimator = eb.Estimator(_model_fn, folder)
    hook = eb.training.CheckpointInputPipelineHook(estimator)
    estimator.train(_numbers, max_steps=steps, hooks=[hook])


def test_the_list_of_an_inputs_positions(pipe, tmp_path):
    folder = str(tmp_path / "m")
    _train_with_position(folder, 1)
    pipe("m/checkpoint_input")
    _train_with_position(folder, 2)
    assert eb.Estimator(_model_fn, folder).latest_checkpoint().endswith("-2")
    assert stat.S_ISFIFO(os.lstat(f"{folder}/checkpoint_input.set_aside-1").st_mode)


@pytest.mark.parametrize("ending", ENDINGS[:2])
def test_a_position_of_an_input(ending, pipe, tmp_path):
    folder = str(tmp_path / "m")
    _train_with_position(folder, 2)
    path = pipe(f"m/input.ckpt-2{ending}")
    try:
        _train_with_position(folder, 3)
    except REFUSALS as error:
        assert "input.ckpt-2" in str(error)
    else:  # from the checkpoint before, which has a whole position
        assert eb.Estimator(_model_fn, folder).latest_checkpoint().endswith("-3")
    assert stat.S_ISFIFO(os.lstat(path).st_mode)


def test_a_record_of_files_to_publish(pipe, tmp_path):
    record = pipe(".estimator_bridge.staging-x/0.model.ckpt-1.publishing")
    _finish(str(tmp_path), record[: -len(".publishing")], record)
    assert os.listdir(tmp_path) == [".estimator_bridge.staging-x"]


def _refused_flags(words, capsys):
    values = absl_flags.FlagValues()
    absl_flags.DEFINE_integer("steps", 1, "", flag_values=values)
    with pytest.raises(SystemExit):
        flags.parse_flags(["p", *words], values)
    return capsys.readouterr().err


def test_flag_files(pipe, tmp_path, capsys):
    path = pipe("flags.txt")
    (tmp_path / "outer.txt").write_text(f"--steps=2\n--flagfile={path}\n")
    for words in (
        [f"--flagfile={path}"],
        ["--flagfile", path],
        [f"--flagfile={tmp_path}/outer.txt"],
    ):
        assert "flags.txt: cannot be read: is a pipe or a device" in _refused_flags(words, capsys)


def test_flag_files_that_name_one_another_too_often(tmp_path, capsys):
    for number in range(40):
        line = f"--flagfile={tmp_path}/{number + 1}\n"
        (tmp_path / str(number)).write_text(line * 2)
    (tmp_path / "40").write_text("--steps=2\n")
    assert "more than 100 files" in _refused_flags([f"--flagfile={tmp_path}/0"], capsys)


def _save_model(folder):
    module = tf.Module()
    module.v = tf.Variable(1.0)
    signature = tf.function(
        lambda x: {"y": x * module.v}, input_signature=[tf.TensorSpec([], tf.float32)]
    )
    tf.saved_model.save(module, folder, signatures=signature)


@pytest.mark.parametrize(
    "name",
    ["saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001",
     "fingerprint.pb"],
)  # fmt: skip
def test_a_saved_model(name, pipe, tmp_path):
    folder = str(tmp_path / "saved")
    _save_model(folder)
    pipe(f"saved/{name}")
    with pytest.raises(DataError, match="is a pipe or a device"):
        load_model(folder)
    with pytest.raises(OSError, match="is a pipe or a device"):
        predictor.from_saved_model(folder)


OTHERS = {
    "idx": ("a-idx1-ubyte", lambda path: read_idx(path, 1)),
    "packed idx": ("a.gz", lambda path: read_idx(path, 3)),
    "processor": ("vocab", VocabularyProcessor.restore),
    "csv": ("a.csv", lambda path: load_csv_with_header(path, int, float)),
    "csv without header": ("a.csv", lambda path: load_csv_without_header(path, int, float)),
    "csv to shrink": ("a.csv", lambda path: shrink_csv(path, 2)),
    "lmdb": ("data.mdb", lambda path: LMDBFile(os.path.dirname(path))),
    "message": ("saved_model.pb", lambda path: read_saved_model(os.path.dirname(path))),
    "bundle": (
        "export.meta",
        lambda path: load_session_bundle_from_path(os.path.dirname(path)),
    ),
    "layers": (
        "assets/saved_model.json",
        lambda path: load_keras_model(os.path.dirname(os.path.dirname(path))),
    ),
}


@pytest.mark.parametrize("reader", OTHERS)
def test_another_file(reader, pipe):
    name, read = OTHERS[reader]
    path = pipe(name)
    with pytest.raises(REFUSALS, match="is a pipe or a device"):
        read(path)
