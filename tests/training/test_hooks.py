"""Hooks are called at the original's steps, although loops run in between."""

from __future__ import annotations

import json
import types

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def ones():
    return tf.data.Dataset.from_tensors(np.ones([4, 3], np.float32)).repeat()


class Model:
    def __init__(self, *hooks):
        self.hooks = hooks

    def __call__(self, features, labels, mode):
        step = v1.train.get_global_step()
        v1.get_variable("unused", [2], initializer=v1.ones_initializer())
        loss = tf.identity(tf.cast(step, tf.float32) * tf.reduce_mean(features), name="my_loss")
        v1.summary.scalar("mine", loss * 2)
        return eb.EstimatorSpec(
            mode, loss=loss, train_op=v1.assign_add(step, 1), training_hooks=self.hooks
        )


class Recorder(v1.train.SessionRunHook):
    """Writes down every call, and what it fetched."""

    def __init__(self, fetches=None):
        self.calls, self.values, self.fetches = [], [], fetches

    def begin(self):
        self.calls.append("begin")
        assert v1.train.get_global_step() is not None

    def after_create_session(self, session, coord):
        assert session.graph is v1.get_default_graph()
        self.calls.append("session")

    def before_run(self, run_context):
        self.calls.append("before")
        return v1.train.SessionRunArgs(self.fetches) if self.fetches else None

    def after_run(self, run_context, run_values):
        self.calls.append("after")
        self.values.append(run_values.results)

    def end(self, session):
        self.calls.append("end")


def train(tmp_path, *hooks, steps, model=None, **settings):
    settings = {"save_summary_steps": 10, **settings}
    estimator = eb.Estimator(model or Model(), str(tmp_path), eb.RunConfig(**settings))
    estimator.train(ones, hooks=list(hooks), steps=steps)
    return estimator


def test_protocol(tmp_path):
    hook = Recorder()
    train(tmp_path, hook, steps=3)
    assert hook.calls == ["begin", "session", *["before", "after"] * 3, "end"]


def test_fetches_come_from_the_step(tmp_path):
    hook = Recorder({"loss": "my_loss:0", "step": "global_step:0", "op": "my_loss"})
    train(tmp_path, hook, steps=3)
    assert [v["loss"] for v in hook.values] == [0, 1, 2]
    assert [v["step"] for v in hook.values] == [0, 1, 2]
    assert [v["op"] for v in hook.values] == [None] * 3


def test_request_to_stop(tmp_path):
    class Stop(Recorder):
        def after_run(self, run_context, run_values):
            super().after_run(run_context, run_values)
            if len(self.values) == 2:
                run_context.request_stop()

    hook = Stop()
    estimator = train(tmp_path, hook, steps=10)
    assert estimator.get_variable_value("global_step") == 2
    assert hook.calls[-1] == "end"


def test_operation_that_a_hook_fetches_runs_once_a_call(tmp_path):
    """Beside a loop of several steps, what a hook asks for runs in the last of them alone."""

    class Counts(v1.train.LoggingTensorHook):
        def begin(self):
            with v1.variable_scope("", reuse=v1.AUTO_REUSE):
                counter = v1.get_variable("counter", [], initializer=v1.zeros_initializer())
            self._tensors = {"counter": v1.assign_add(counter, 1)}
            self._tag_order = ["counter"]
            self._current_tensors = self._tensors
            self._timer.reset()
            self._iter_count = 0

    estimator = train(tmp_path, Counts({}, every_n_iter=5), steps=12)
    assert estimator.get_variable_value("counter") == 3  # at steps 1, 6 and 11


def test_savers_fire_and_listeners_hear_of_it(tmp_path):
    class Listener(v1.train.CheckpointSaverListener):
        def __init__(self):
            self.saved = []

        def after_save(self, session, global_step_value):
            self.saved.append(int(global_step_value))

    listener = Listener()
    config = eb.RunConfig(save_checkpoints_steps=10, keep_checkpoint_max=2)
    estimator = eb.Estimator(Model(), str(tmp_path), config)
    estimator.train(ones, steps=26, saving_listeners=[listener])
    assert listener.saved == [0, 10, 20, 26]
    checkpoints = {p.name.split(".index")[0] for p in tmp_path.glob("model.ckpt-*.index")}
    assert checkpoints == {"model.ckpt-20", "model.ckpt-26"}


def test_listener_without_a_saver(tmp_path):
    config = eb.RunConfig(save_checkpoints_steps=None, save_checkpoints_secs=None)
    estimator = eb.Estimator(Model(), str(tmp_path), config)
    with pytest.raises(ValueError, match="There should be a CheckpointSaverHook"):
        estimator.train(ones, steps=1, saving_listeners=[v1.train.CheckpointSaverListener()])


def test_summaries_are_of_the_steps_that_the_original_writes(tmp_path):
    train(tmp_path, steps=25)
    steps = {}
    for path in tmp_path.glob("events*"):
        for event in v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                steps.setdefault(value.tag, []).append((event.step, value.simple_value))
    assert steps["mine"] == [(1, 0), (11, 20), (21, 40)]
    assert [step for step, _ in steps["loss"]] == [1, 11, 21]


def test_logging_hook_sees_the_steps_that_are_due(tmp_path):
    seen = []

    def keep(values):
        seen.append(float(values["x"]))
        return ""

    hook = v1.train.LoggingTensorHook({"x": "my_loss:0"}, every_n_iter=10, formatter=keep)
    train(tmp_path, hook, steps=25)
    assert seen == [0, 10, 20]


def test_every_step_is_a_step_even_if_training_raises_the_step_by_two(tmp_path):
    def twice(features, labels, mode):
        step = v1.train.get_global_step()
        loss = tf.reduce_mean(features)
        return eb.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(step, 2))

    estimator = train(tmp_path, steps=9, model=twice)
    assert estimator.get_variable_value("global_step") == 10


def test_input_that_ends_is_a_clean_stop(tmp_path):
    hook = Recorder()
    estimator = eb.Estimator(Model(), str(tmp_path))
    estimator.train(lambda: ones().take(7), hooks=[hook])
    assert estimator.get_variable_value("global_step") == 7
    assert hook.calls.count("after") == 7
    assert hook.calls[-1] == "end"


def test_max_steps_is_absolute_and_steps_add_up(tmp_path):
    estimator = eb.Estimator(Model(), str(tmp_path))
    estimator.train(ones, steps=3)
    estimator.train(ones, steps=2)
    assert estimator.get_variable_value("global_step") == 5
    estimator.train(ones, max_steps=8)
    assert estimator.get_variable_value("global_step") == 8
    before = sorted(p.name for p in tmp_path.iterdir())
    estimator.train(ones, max_steps=8)
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_tpu_hooks_are_called_once_a_loop(tmp_path):
    class Steps(Recorder):
        def after_run(self, run_context, run_values):
            self.values.append(int(run_context.session.run(v1.train.get_global_step())))

    hook = Steps()

    def model_fn(features, labels, mode, params):
        loss = tf.reduce_mean(features)
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    config = eb.tpu.RunConfig(
        master="emulated:1",
        model_dir=str(tmp_path),
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=4),
    )
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=4)
    estimator.train(lambda params: ones(), hooks=[hook], steps=10)
    assert hook.values == [4, 8, 10]


def test_reading_the_global_step_compiles_no_second_loop(tmp_path, monkeypatch):
    """Savers and summaries read the step through a tf.cond, which changes nothing."""
    loops = []
    make = eb.training.program.Program.make_loop
    monkeypatch.setattr(
        eb.training.program.Program,
        "make_loop",
        lambda *arguments: loops.append(make(*arguments)) or loops[-1],
    )
    train(tmp_path, steps=30, save_checkpoints_steps=7)
    assert [loop.has_effects for loop in loops] == [False]


def test_hooks_share_one_context_and_see_what_the_estimator_runs(tmp_path):
    seen = []

    class Looks(v1.train.SessionRunHook):
        def before_run(self, run_context):
            seen.append(run_context)

    train(tmp_path, Looks(), Looks(), steps=1)
    assert seen[0] is seen[1]
    train_op, loss = seen[0].original_args.fetches
    assert loss.name == "my_loss:0" and train_op.name.startswith("AssignAdd")


class Fed:
    """A model whose loss is a placeholder's value, fed by a hook."""

    def __call__(self, features, labels, mode):
        step = v1.train.get_global_step()
        value = v1.placeholder_with_default(-1.0, [], name="value")
        total = v1.get_variable("total", [], initializer=v1.zeros_initializer())
        loss = value + 0 * tf.reduce_mean(features)
        op = tf.group(v1.assign_add(total, loss), v1.assign_add(step, 1))
        return eb.EstimatorSpec(mode, loss=loss, train_op=op, predictions=loss)


def test_a_hook_feeds_each_step(tmp_path):
    values = iter([1.0, 20.0, 300.0])
    feed = v1.train.FeedFnHook(lambda: {"value:0": next(values)})
    estimator = train(tmp_path, feed, steps=3, model=Fed())
    assert estimator.get_variable_value("total") == 321


def test_a_hook_feeds_the_input(tmp_path):
    class Twos(v1.train.SessionRunHook):
        def before_run(self, run_context):
            return v1.train.SessionRunArgs("my_loss:0", feed_dict={self.features: self.value})

    hook, values = Twos(), []

    def model_fn(features, labels, mode):
        hook.features, hook.value = features, np.full([4, 3], 2.0)
        return Model()(features, labels, mode)

    hook.after_run = lambda context, result: values.append(result.results)
    train(tmp_path, hook, steps=3, model=model_fn)
    assert values == [0, 2, 4]


def test_two_hooks_that_feed_the_same(tmp_path):
    hooks = [v1.train.FeedFnHook(lambda: {"value:0": 1.0}) for _ in range(2)]
    with pytest.raises(RuntimeError, match="Same tensor is fed by two hooks: 'value:0', by FeedFn"):
        train(tmp_path, *hooks, steps=1, model=Fed())


@pytest.mark.parametrize(
    "error", [StopIteration, lambda: tf.errors.OutOfRangeError(None, None, "")]
)
@pytest.mark.parametrize("method", ["before_run", "after_run"])
def test_a_hook_that_says_that_its_input_ended_ends_training(tmp_path, error, method):
    class Ends(Recorder):
        def end(self, session):
            super().end(session)
            self.step = session.run(v1.train.get_global_step())

    hook = Ends()

    def fail(*args):
        hook.calls.append(method)
        if hook.calls.count(method) == 3:
            raise error()

    setattr(hook, method, fail)
    estimator = train(tmp_path, hook, steps=10)
    assert hook.calls[-1] == "end"
    assert hook.step == estimator.get_variable_value("global_step")
    assert hook.step == (2 if method == "before_run" else 3)


def test_a_hook_that_fails_is_not_silenced_and_no_end_is_called(tmp_path):
    hook = Recorder()
    hook.after_run = lambda *args: 1 / 0
    with pytest.raises(ZeroDivisionError):
        train(tmp_path, hook, steps=3)
    assert hook.calls == ["begin", "session", "before"]


def test_the_coordinator_can_be_asked_to_stop(tmp_path):
    class Coordinates(Recorder):
        def after_create_session(self, session, coord):
            self.coord = coord

        def after_run(self, run_context, run_values):
            super().after_run(run_context, run_values)
            if self.calls.count("after") == 4:
                self.coord.request_stop()

    assert train(tmp_path, Coordinates(), steps=9).get_variable_value("global_step") == 4


def test_final_ops_run_at_the_end(tmp_path):
    hook = v1.train.FinalOpsHook("global_step:0")
    train(tmp_path, hook, steps=7)
    assert hook.final_ops_values == 7


def test_global_step_waiter_waits_and_then_costs_nothing(tmp_path, monkeypatch):
    estimator = train(tmp_path, steps=5)
    calls = []
    kind = v1.train.GlobalStepWaiterHook
    before_run = kind.before_run
    monkeypatch.setattr(kind, "before_run", lambda *args: calls.append(0) or before_run(*args))
    estimator.train(ones, hooks=[kind(5)], steps=20)
    assert len(calls) == 1


def test_global_step_waiter_of_the_model_itself(tmp_path):
    """Its before_run is looked for when it has not begun, and has no state yet."""

    def with_waiter(features, labels, mode):
        spec = Model()(features, labels, mode)
        return spec._replace(training_hooks=[v1.train.GlobalStepWaiterHook(0)])

    estimator = eb.Estimator(with_waiter, str(tmp_path))
    estimator.train(ones, steps=3)
    assert estimator.get_variable_value("global_step") == 3


def test_a_call_that_is_patched_onto_a_hook_counts(tmp_path):
    hook, calls = v1.train.StopAtStepHook(num_steps=9), []
    before_run = hook.before_run
    hook.before_run = lambda context: calls.append(0) or before_run(context)
    train(tmp_path, hook, steps=4)
    assert len(calls) == 4


def test_profiler_hook_writes_a_trace(tmp_path):
    with tf.Graph().as_default():  # it opens a v1 FileWriter
        hook = v1.train.ProfilerHook(save_steps=5, output_dir=str(tmp_path / "trace"))
    train(tmp_path / "model", hook, steps=12)
    timelines = sorted(p.name for p in tmp_path.glob("trace/timeline-*.json"))
    assert timelines == ["timeline-10.json", "timeline-5.json"]
    events = json.loads((tmp_path / "trace" / "timeline-10.json").read_text())["traceEvents"]
    assert {"Mean", "AssignAddVariableOp"} <= {event["name"] for event in events}
    assert len(list(tmp_path.glob("trace/plugins/profile/*/*.xplane.pb"))) == 2
    (path,) = tmp_path.glob("trace/events*")
    tags = [e.tagged_run_metadata.tag for e in v1.train.summary_iterator(str(path))]
    assert [tag for tag in tags if tag] == ["step_5", "step_10"]


def test_options_and_metadata_reach_the_hooks(tmp_path):
    class Traces(Recorder):
        def before_run(self, run_context):
            level = v1.RunOptions.FULL_TRACE
            return v1.train.SessionRunArgs("my_loss:0", options=v1.RunOptions(trace_level=level))

        def after_run(self, run_context, run_values):
            self.values.append(run_values)

    hook = Traces()
    train(tmp_path, hook, steps=1)
    assert hook.values[0].options.trace_level == v1.RunOptions.FULL_TRACE
    nodes = [n for d in hook.values[0].run_metadata.step_stats.dev_stats for n in d.node_stats]
    assert any(node.node_name == "my_loss" or "Mul" in node.timeline_label for node in nodes)


def test_operations_of_a_gpu_are_told_by_their_kernels():
    """The profiler names a GPU's events by their kernels, and tells the operation beside it."""
    from estimator_bridge.graph.profiling import _add_step_stats

    def event(kernel, *stats):
        stats = [types.SimpleNamespace(metadata_id=1, str_value=s, ref_value=r) for s, r in stats]
        return types.SimpleNamespace(
            metadata_id=kernel, stats=stats, duration_ps=3_000_000, offset_ps=0
        )

    names = {1: "sgemm_128x64", 2: "MemcpyH2D"}
    plane = types.SimpleNamespace(
        name="/device:GPU:0",
        event_metadata={n: types.SimpleNamespace(name=name) for n, name in names.items()},
        stat_metadata={
            1: types.SimpleNamespace(name="tf_op"),
            2: types.SimpleNamespace(name="dense/MatMul:MatMul"),
        },
        lines=[
            types.SimpleNamespace(
                timestamp_ns=0,
                events=[
                    event(1, ("", 2)),
                    event(1, ("loss/Mean:Mean", 0)),
                    event(2),
                ],
            )
        ],
    )
    stats = v1.RunMetadata().step_stats
    _add_step_stats(stats, types.SimpleNamespace(planes=[plane]))
    (device,) = stats.dev_stats
    assert device.device.endswith("/device:GPU:0")
    labels = [node.timeline_label for node in device.node_stats]
    assert labels == ["dense/MatMul = MatMul()", "loss/Mean = Mean()"]
