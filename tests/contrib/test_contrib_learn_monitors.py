"""tf.contrib.learn.monitors, called as a training calls them."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge_contrib.learn import monitors

v1 = tf.compat.v1


class Seen(monitors.EveryN):
    def __init__(self, *args):
        super().__init__(*args)
        self.begun, self.after = [], []

    def every_n_step_begin(self, step):
        self.begun.append(step)
        return super().every_n_step_begin(step)

    def every_n_post_step(self, step, session):
        self.after.append(step)


def run(monitor, steps, session=None):
    """Calls a monitor for some steps, and returns the step that it stops at."""
    monitor.begin()
    stopped = None
    for step in range(1, steps + 1):
        fetches = monitor.step_begin(step)
        values = session.run(fetches) if fetches else []
        names = [each if isinstance(each, str) else each.name for each in fetches]
        if monitor.step_end(step, dict(zip(names, values))) and stopped is None:
            stopped = step
        monitor.post_step(step, session)
    monitor.end(session)
    return stopped


@pytest.mark.parametrize(
    ("every", "first", "begun", "after"),
    [
        (3, 1, [1, 4, 7], [1, 4, 7, 8]),
        (3, 2, [1, 2, 5, 8], [1, 2, 5, 8]),
        (1, -1, [*range(1, 9)], [*range(1, 9)]),
    ],
)
def test_every_n_steps_and_at_the_end(every, first, begun, after):
    seen = Seen(every, first)
    run(seen, 8)
    assert (seen.begun, seen.after) == (begun, after)


def test_a_step_that_failed_begins_again():
    seen = Seen(1)
    seen.begin()
    seen.step_begin(1)
    seen.step_begin(1)
    assert seen.begun == [1, 1]
    with pytest.raises(ValueError, match="step_end expected 1 but got 2"):
        seen.step_end(2, {})
    with pytest.raises(ValueError, match="begin called twice without end"):
        seen.begin()


def test_training_stops():
    assert run(monitors.StopAtStep(num_steps=3), 5) == 3
    assert run(monitors.StopAtStep(last_step=4), 5) == 4
    with pytest.raises(ValueError, match="Only one of num_steps or last_step"):
        monitors.StopAtStep(1, 1)
    with pytest.raises(ValueError, match="One of num_steps or last_step"):
        monitors.StopAtStep()


def test_a_loss_that_is_no_number():
    with tf.Graph().as_default(), v1.Session() as session:
        loss = tf.constant(np.nan)
        assert run(monitors.NanLoss(loss, 2, fail_on_nan_loss=False), 3, session) == 1
        with pytest.raises(monitors.NanLossDuringTrainingError, match="NaN loss"):
            run(monitors.NanLoss(loss), 1, session)
        assert run(monitors.NanLoss(tf.constant(1.0)), 3, session) is None


def test_dumps_are_compared():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.placeholder_with_default([1.0, 2.0], [2], name="same")
        changed = v1.Variable(0.0, use_resource=True)
        changes = v1.assign_add(changed, 1.0, name="changes")
        tf.identity(changes)
        session.run(v1.global_variables_initializer())
        first, second = monitors.GraphDump(["NoOp", "VarHandleOp"]), monitors.GraphDump(["NoOp"])
        for dump in (first, second):
            dump.begin()
            dump._tensors = [each for each in dump._tensors if each.dtype == tf.float32]
            dump.step_begin(1)
            names = [each.name for each in dump._tensors]
            dump.step_end(1, dict(zip(names, session.run(dump._tensors))))
        matched, other = first.compare(second, 1)
        assert "same:0" in matched
        assert any("changes" in name or "Read" in name for name in other)
        with pytest.raises(ValueError, match="does not have data of step 2"):
            first.compare(second, 2)


def test_files_are_written(tmp_path):
    folder = str(tmp_path)
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        session.run(v1.global_variables_initializer())
        summary = v1.summary.scalar("ten", tf.constant(10.0))
        run(monitors.SummarySaver(summary, 2, folder), 3, session)
        run(monitors.StepCounter(1, folder), 3, session)
        saver = monitors.CheckpointSaver(folder, save_steps=2, saver=v1.train.Saver([step]))
        run(saver, 4, session)
    v1.summary.FileWriterCache.get(folder).flush()
    v1.summary.FileWriterCache.clear()
    assert sorted(path.name for path in tmp_path.glob("*.index")) == [
        "model.ckpt-1.index",
        "model.ckpt-3.index",
        "model.ckpt-4.index",
    ]
    scalars = [
        (value.tag, event.step)
        for path in tmp_path.glob("events*")
        for event in v1.train.summary_iterator(str(path))
        for value in event.summary.value
    ]
    assert {("ten", 1), ("ten", 3), ("global_step/sec", 2)} <= set(scalars)
    with pytest.raises(ValueError, match="Can not provide both"):
        monitors.CheckpointSaver(folder, 1, 1)


def test_default_monitors():
    with tf.Graph().as_default():
        loss = tf.constant(1.0)
        defaults = monitors.get_default_monitors(loss, v1.summary.scalar("a", loss))
    assert [type(each).__name__ for each in defaults] == ["PrintTensor", "SummarySaver"]
    assert monitors.get_default_monitors() == []


class ListOfStrings(monitors.BaseMonitor):
    def step_begin(self, step):
        super().step_begin(step)
        return ("loss",)


def test_a_monitor_that_returns_no_list():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.train.get_or_create_global_step()
        session.run(v1.global_variables_initializer())
        hook = monitors.RunHookAdapterForMonitors([ListOfStrings()])
        hook.begin()
        context = v1.train.SessionRunContext(v1.train.SessionRunArgs(None), session)
        with pytest.raises(ValueError, match="ListOfStrings returned"):
            hook.before_run(context)


def test_a_validation_monitor_needs_an_input():
    with pytest.raises(ValueError, match="Either x or input_fn"):
        monitors.ValidationMonitor()
    with pytest.raises(ValueError, match="Missing call to set_estimator"):
        run(monitors.ValidationMonitor(input_fn=dict, every_n_steps=1), 1)
