"""Checkpoints that are written while training continues."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge import checkpoint
from estimator_bridge.own_files import staged
from estimator_bridge.training import (
    AsyncCheckpoints,
    AsyncCheckpointSaverHook,
    CheckpointInputPipelineHook,
)

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
FULL = "No space left on device"


def model_fn(features, labels, mode, params):
    """Dense, sparse and assigned variables, and a draw."""
    del labels
    table = v1.get_variable("table", [8, 2], initializer=v1.random_normal_initializer(seed=3))
    rows = tf.nn.embedding_lookup(table, tf.cast(tf.abs(features[:, 0]) * 4, tf.int32) % 8)
    out = v1.layers.dense(tf.concat([features, rows], 1), 3, name="dense")
    out = v1.nn.dropout(out, rate=0.3, seed=5)
    loss = tf.reduce_mean(tf.square(out - 1.0))
    averages = tf.train.ExponentialMovingAverage(0.9)
    optimizer = v1.train.AdamOptimizer(0.05)
    if params.get("use_tpu"):
        optimizer = eb.tpu.CrossShardOptimizer(optimizer)
    step = optimizer.minimize(loss, v1.train.get_global_step())
    with tf.control_dependencies([step]):
        train_op = averages.apply([table])
    spec = eb.tpu.TPUEstimatorSpec if "use_tpu" in params else eb.EstimatorSpec
    return spec(mode, loss=loss, train_op=train_op)


def batches(params=None):
    numbers = np.random.RandomState(0).normal(size=[40, 5]).astype(np.float32)
    examples = tf.data.Dataset.from_tensor_slices(numbers).shuffle(16, seed=3).repeat()
    return examples.batch(4, drop_remainder=True).prefetch(2)


def make(folder, cores=0, **settings):
    settings = {"tf_random_seed": 11, "save_checkpoints_steps": 2, **settings}
    if cores:
        config = eb.tpu.RunConfig(
            master=f"emulated:{cores}",
            model_dir=str(folder),
            tpu_config=eb.tpu.TPUConfig(iterations_per_loop=2),
            **settings,
        )
        return eb.tpu.TPUEstimator(model_fn, config=config, params={}, train_batch_size=4)
    return eb.Estimator(model_fn, str(folder), eb.RunConfig(**settings), params={})


def train(estimator, max_steps, *hooks, **more):
    position = CheckpointInputPipelineHook(estimator)
    estimator.train(
        batches, hooks=[position, AsyncCheckpoints(), *hooks], max_steps=max_steps, **more
    )


def values(folder, step):
    reader = tf.train.load_checkpoint(os.path.join(folder, f"model.ckpt-{step}"))
    return {n: reader.get_tensor(n).tobytes() for n in reader.get_variable_to_shape_map()}


class Steps(v1.train.SessionRunHook):
    """Calls a function with the number of each step."""

    def __init__(self, function):
        self.function, self.done = function, 0

    def before_run(self, run_context):
        pass

    def after_run(self, run_context, run_values):
        self.done += 1
        self.function(self.done)


class Listener(eb.CheckpointSaverListener):
    def __init__(self):
        self.calls = []

    def begin(self):
        self.calls.append("begin")

    def before_save(self, session, global_step_value):
        weight = session.run("dense/bias:0")
        self.calls.append(("before", int(global_step_value), weight.tobytes()))
        assert threading.current_thread() is threading.main_thread()

    def after_save(self, session, global_step_value):
        self.calls.append(("after", int(global_step_value)))
        assert threading.current_thread() is threading.main_thread()

    def end(self, session, global_step_value):
        self.calls.append(("end", int(global_step_value)))


@pytest.fixture
def slow(monkeypatch):
    """Has each write wait for an event, and then a moment."""
    save, go = checkpoint.CheckpointingSession.save, threading.Event()

    def slowly(self, prefix, *rest):
        if threading.current_thread() is not threading.main_thread():
            assert go.wait(60)
        return save(self, prefix, *rest)

    monkeypatch.setattr(checkpoint.CheckpointingSession, "save", slowly)
    yield go
    go.set()


@pytest.fixture(scope="module", params=[0, 2], ids=["one", "cores"])
def whole(request, tmp_path_factory):
    """Returns the number of cores, and the folder of a run with synchronous checkpoints."""
    folder = tmp_path_factory.mktemp("whole")
    estimator = make(folder, request.param)
    position = CheckpointInputPipelineHook(estimator)
    estimator.train(batches, hooks=[position], max_steps=12)
    return request.param, folder


def test_the_files_are_those_of_training_that_waits(whole, tmp_path):
    cores, folder = whole
    train(make(tmp_path, cores), 12)

    def names(where):
        return sorted(name for name in os.listdir(where) if "tfevents" not in name)

    assert names(tmp_path) == names(folder)
    for step in (4, 6, 8, 10, 12):
        assert values(tmp_path, step) == values(folder, step)
    written = [(where / "checkpoint").read_text() for where in (tmp_path, folder)]
    assert written[0] == written[1]


def test_steps_go_on_while_a_checkpoint_is_written(whole, tmp_path, slow):
    """And it holds the values of its step, not those of the step at which it is written."""
    cores, folder = whole
    listener, reached = Listener(), []

    def seen(step):
        reached.append(step)
        if step == 3 if cores else step == 7:
            assert not list(tmp_path.glob("model.ckpt-*.index"))
            slow.set()

    estimator = make(tmp_path, cores, save_checkpoints_steps=8)
    train(estimator, 12, Steps(seen), saving_listeners=[listener])
    steps = [(call[0], call[1]) for call in listener.calls[1:]]
    assert listener.calls[0] == "begin"
    assert steps == [
        ("before", 0), ("after", 0), ("before", 8), ("after", 8), ("before", 12), ("after", 12),
        ("end", 12),
    ]  # fmt: skip
    for step in (8, 12):
        assert values(tmp_path, step) == values(folder, step)
    (bias,) = [call[2] for call in listener.calls if call[:2] == ("before", 8)]
    assert bias == values(tmp_path, 8)["dense/bias"]
    for name in ("input.ckpt-8", "input.ckpt-12"):
        assert (tmp_path / f"{name}.index").exists()


def test_a_second_save_waits_for_the_first_and_says_so(tmp_path, slow, monkeypatch):
    messages = []

    def warning(text, *arguments):
        messages.append(text % arguments)
        slow.set()

    monkeypatch.setattr(checkpoint.background_writer, "_FIRST_LINE_SECS", 0.2)
    monkeypatch.setattr(checkpoint.background_writer.logging, "warning", warning)
    train(make(tmp_path), 6)
    assert (
        f"Training waits for the checkpoint {tmp_path}/model.ckpt-0, which is still" in messages[0]
    )
    assert {path.name for path in tmp_path.glob("model.*.index")} == {
        f"model.ckpt-{step}.index" for step in (0, 2, 4, 6)
    }


def test_a_write_that_ends_before_the_next_steps_begin_hides_no_later_save(tmp_path, monkeypatch):
    start = checkpoint.background_writer.BackgroundWriter.start

    def start_and_wait(self, *arguments):
        write = start(self, *arguments)
        write.wait()
        return write

    monkeypatch.setattr(checkpoint.background_writer.BackgroundWriter, "start", start_and_wait)
    estimator = make(tmp_path, save_checkpoints_steps=3)
    estimator.train(batches, hooks=[AsyncCheckpoints()], max_steps=8)
    assert sorted(path.name for path in tmp_path.glob("*.index")) == [
        f"model.ckpt-{step}.index" for step in (0, 3, 6, 8)
    ]


@pytest.mark.parametrize("step", [0, 4, 8], ids=["first", "between", "last"])
def test_a_full_disk_ends_training_and_the_checkpoint_before_stands(tmp_path, monkeypatch, step):
    save = checkpoint.CheckpointingSession.save

    def failing(self, prefix, *rest):
        if not prefix.endswith(f"-{step}"):
            return save(self, prefix, *rest)
        with staged(*os.path.split(prefix)) as place:
            with open(place + ".data-00000-of-00001", "wb") as file:
                file.write(b"half")
            raise tf.errors.ResourceExhaustedError(None, None, f"{prefix}; {FULL}")

    estimator = make(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.CheckpointingSession, "save", failing)
        with pytest.raises(eb.errors.DiskFullError, match=f"model.ckpt-{step}; {FULL}") as raised:
            train(estimator, 8)
    stands = f"model.ckpt-{step - 2} is whole" if step else "There is no whole checkpoint"
    assert stands in str(raised.value)
    assert not list(tmp_path.glob(f"model.ckpt-{step}.*"))
    train(estimator, 8)
    assert estimator.get_variable_value("global_step") == 8


def test_an_error_of_a_step_leaves_the_checkpoint_that_is_being_written(tmp_path, slow):
    def fail(step):
        threading.Timer(0.5, slow.set).start()
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        train(make(tmp_path), 8, Steps(fail))
    assert checkpoint.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-0")
    assert not [t for t in threading.enumerate() if "checkpoint writer" in t.name]


def test_sigterm_waits_for_the_write_and_the_last_checkpoint_is_whole(tmp_path, slow):
    def ask(step):
        if step == 1:  # the checkpoint of step 0 is being written
            threading.Timer(0.5, slow.set).start()
            os.kill(os.getpid(), signal.SIGTERM)

    estimator = make(tmp_path, save_checkpoints_steps=100)
    with pytest.raises(SystemExit) as ended:
        train(estimator, 50, Steps(ask))
    assert ended.value.code == 143
    step = int(estimator.get_variable_value("global_step"))
    assert 1 <= step < 50
    assert estimator.latest_checkpoint().endswith(f"model.ckpt-{step}")
    train(estimator, 50)
    whole = make(tmp_path.with_name("whole"), save_checkpoints_steps=100)
    whole.train(batches, hooks=[CheckpointInputPipelineHook(whole)], max_steps=50)
    assert values(tmp_path, 50) == values(whole.model_dir, 50)


def test_a_listener_stops_training_and_evaluations_see_whole_checkpoints(tmp_path):
    seen = []

    class Stops(eb.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            newest = checkpoint.latest_checkpoint(str(tmp_path))
            seen.append(int(newest.split("-")[-1]) == global_step_value)
            return global_step_value == 4

    estimator = make(tmp_path)
    train(estimator, 100, Steps(lambda step: time.sleep(0.05)), saving_listeners=[Stops()])
    assert all(seen)
    assert 4 < estimator.get_variable_value("global_step") <= 6


def test_the_environment_asks_for_it(tmp_path, monkeypatch):
    threads = set()
    save = v1.train.Saver.save

    def noted(self, *args, **kwargs):
        threads.add(threading.current_thread() is threading.main_thread())
        return save(self, *args, **kwargs)

    monkeypatch.setattr(v1.train.Saver, "save", noted)
    # Savers with a save() of their own are called as they were.
    monkeypatch.setattr(checkpoint.saver_snapshot._Saver, "save", noted)
    monkeypatch.setenv("ESTIMATOR_BRIDGE_ASYNC_CHECKPOINTS", "1")
    make(tmp_path / "a").train(batches, max_steps=2)
    assert threads == {False}
    threads.clear()
    make(tmp_path / "b").train(batches, max_steps=2, hooks=[AsyncCheckpoints(False)])
    assert threads == {True}
    monkeypatch.setenv("ESTIMATOR_BRIDGE_ASYNC_CHECKPOINTS", "yes")
    with pytest.raises(ValueError, match="ASYNC_CHECKPOINTS must be 0 or 1; got 'yes'"):
        make(tmp_path / "c").train(batches, max_steps=2)


def test_a_saver_with_a_save_of_its_own_has_training_wait(tmp_path, caplog):
    class Own(v1.train.Saver):
        def save(self, *args, **kwargs):
            assert threading.current_thread() is threading.main_thread()
            return super().save(*args, **kwargs)

    def own(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        return spec._replace(scaffold=v1.train.Scaffold(saver=Own()))

    estimator = eb.Estimator(own, str(tmp_path), params={})
    estimator.train(batches, max_steps=2, hooks=[AsyncCheckpoints()])
    assert "Training waits while checkpoints are written: Own overrides save()" in caplog.text
    assert estimator.get_variable_value("global_step") == 2


def test_a_write_takes_no_thread_from_the_steps(tmp_path, monkeypatch):
    """A function of the graph would: with one thread for operations, steps waited for the disk."""
    save, threads = tf.raw_ops.SaveV2, []

    def noted(**arguments):
        threads.append(threading.current_thread().name)
        return save(**arguments)

    monkeypatch.setattr(tf.raw_ops, "SaveV2", noted)
    make(tmp_path).train(batches, max_steps=2, hooks=[AsyncCheckpoints()])
    assert threads == ["estimator_bridge checkpoint writer"] * 2


def test_a_saver_with_operations_of_its_own_has_training_wait(tmp_path, caplog):
    def own(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        saver = v1.train.Saver()
        with tf.control_dependencies([tf.print("saved")]):
            saved = tf.identity(spec.loss.graph.as_graph_element(saver.saver_def.save_tensor_name))
        saver.saver_def.save_tensor_name = saved.name
        return spec._replace(scaffold=v1.train.Scaffold(saver=saver))

    estimator = eb.Estimator(own, str(tmp_path), params={})
    estimator.train(batches, max_steps=2, hooks=[AsyncCheckpoints()])
    assert "written: the saver has an operation of type PrintV2" in caplog.text
    assert estimator.get_variable_value("global_step") == 2


def test_tables_and_partitions_are_saved_as_they_were(tmp_path):
    def tabled(features, labels, mode, params):
        table = v1.get_variable(
            "parts", [6, 2], partitioner=v1.fixed_size_partitioner(3),
            initializer=v1.zeros_initializer(),
        )  # fmt: skip
        keys = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1, name="keys")
        step = v1.train.get_global_step()
        insert = keys.insert(step, step * 2)
        v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, _saveable(keys))
        loss = tf.reduce_mean(tf.square(tf.convert_to_tensor(table) - 1.0))
        with tf.control_dependencies([insert]):
            train_op = v1.train.GradientDescentOptimizer(0.5).minimize(loss, step)
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    checkpoints = []
    for hooks in ([], [AsyncCheckpoints()]):
        folder = tmp_path / str(len(hooks))
        config = eb.RunConfig(save_checkpoints_steps=3)
        estimator = eb.Estimator(tabled, str(folder), config, params={})
        estimator.train(batches, hooks=hooks, max_steps=6)
        checkpoints.append([values(folder, step) for step in (3, 6)])
    assert checkpoints[0] == checkpoints[1]
    assert any("keys" in name for name in checkpoints[0][0])


def _saveable(table):
    from tensorflow.python.training.saver import BaseSaverBuilder

    class Saveable(BaseSaverBuilder.SaveableObject):
        def __init__(self):
            keys, contents = table.export()
            order = tf.argsort(keys)
            specs = [
                BaseSaverBuilder.SaveSpec(tf.gather(keys, order), "", "keys-keys"),
                BaseSaverBuilder.SaveSpec(tf.gather(contents, order), "", "keys-values"),
            ]
            super().__init__(table, specs, "keys")

        def restore(self, tensors, shapes):
            return table.insert(tensors[0], tensors[1])

    return Saveable()


def test_the_original_name_leads_here():
    eb.install()
    from tensorflow.python.tpu.async_checkpoint import AsyncCheckpointSaverHook as Named

    assert Named is AsyncCheckpointSaverHook
