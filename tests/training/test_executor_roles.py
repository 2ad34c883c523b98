"""The roles of a cluster's processes, with simulated time and a recording estimator."""

from __future__ import annotations

import json
from unittest import mock

import pytest

import estimator_bridge as eb
from estimator_bridge.training.continuous import (
    ContinuousEvalListener,
    EvalResult,
    EvalStatus,
    TrainingExecutor,
    executor,
)

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"]}


def input_fn():
    return tf.data.Dataset.range(3)


class FakeTime:
    def __init__(self):
        self.now = 0.0
        self.slept = []

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds

    def clock(self):
        return self.now


@pytest.fixture(autouse=True)
def in_own_folder(monkeypatch, tmp_path):
    """A chief that ends early leaves a note in model_dir, here "somewhere"."""
    monkeypatch.chdir(tmp_path)


def fake_estimator(checkpoints=(), steps=(), **config):
    """An Estimator that finds these checkpoints, and evaluates them as these steps."""
    estimator = mock.Mock(spec=eb.Estimator, model_dir="somewhere")
    estimator.config = eb.RunConfig(**config)
    estimator.latest_checkpoint.side_effect = list(checkpoints)
    estimator.evaluate.side_effect = [
        step if isinstance(step, Exception) else {"global_step": step} for step in steps
    ]
    return estimator


def in_cluster(monkeypatch, task, index=0, cluster=CLUSTER):
    task = {"type": task, "index": index}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))


def run_evaluator(estimator, listener=None, max_steps=200, time=None, **spec):
    time = time or FakeTime()
    executor = TrainingExecutor(
        estimator,
        eb.TrainSpec(input_fn, max_steps),
        eb.EvalSpec(input_fn, **{"start_delay_secs": 0, "throttle_secs": 60, **spec}),
        continuous_eval_listener=listener,
        sleep=time.sleep,
        clock=time.clock,
    )
    return executor.run_evaluator()


def evaluated(estimator):
    return [call.kwargs["checkpoint_path"] for call in estimator.evaluate.call_args_list]


class Collecting(ContinuousEvalListener):
    def __init__(self):
        self.results = []

    def after_eval(self, eval_result):
        self.results.append(eval_result)
        return True


def test_evaluator_waits_for_new_checkpoints_until_the_last_step():
    estimator = fake_estimator([None, "", "one", "one", "two"], [100, 200])
    listener, time = Collecting(), FakeTime()
    metrics, exports = run_evaluator(estimator, listener, time=time, start_delay_secs=7)
    assert (metrics, exports) == ({"global_step": 200}, [])
    assert evaluated(estimator) == ["one", "two"]
    missing, same = EvalStatus.MISSING_CHECKPOINT, EvalStatus.NO_NEW_CHECKPOINT
    assert [result.status for result in listener.results] == [
        missing, missing, EvalStatus.EVALUATED, same, EvalStatus.EVALUATED,
    ]  # fmt: skip
    assert time.slept == [7, 60, 60, 60, 60]  # and not once more after the last
    assert not estimator.train.called


def test_evaluation_takes_its_time_from_the_throttle():
    time = FakeTime()
    estimator = fake_estimator(["one", "two"])

    def evaluate(**_):
        time.now += 25
        return {"global_step": 100 * estimator.evaluate.call_count}

    estimator.evaluate.side_effect = evaluate
    run_evaluator(estimator, time=time)
    assert time.slept == [35]


def test_evaluator_hands_on_what_the_spec_says():
    estimator = fake_estimator(["one"], [200])
    hook = v1.train.SessionRunHook()
    run_evaluator(estimator, steps=3, name="dev", hooks=[hook])
    estimator.evaluate.assert_called_once_with(
        input_fn=input_fn, steps=3, name="dev", checkpoint_path="one", hooks=(hook,)
    )


def test_evaluator_exports_and_says_which_is_the_last():
    estimator = fake_estimator(["one", "two"], [100, 200])
    exporter = mock.Mock(spec=eb.Exporter)
    exporter.name = "mine"
    exporter.export.side_effect = ["first", "second"]
    _, exports = run_evaluator(estimator, exporters=exporter)
    assert exports == ["second"]
    calls = [call.kwargs for call in exporter.export.call_args_list]
    assert [call["is_the_final_export"] for call in calls] == [False, True]
    assert calls[1] == {
        "estimator": estimator,
        "export_path": "somewhere/export/mine",
        "checkpoint_path": "two",
        "eval_result": {"global_step": 200},
        "is_the_final_export": True,
    }


@pytest.mark.parametrize("where", ["before_eval", "after_eval"])
def test_listener_ends_the_evaluator(where):
    class Stop(ContinuousEvalListener):
        def before_eval(self):
            return where != "before_eval" or estimator.evaluate.call_count < 1

        def after_eval(self, eval_result):
            return where != "after_eval"

    estimator = fake_estimator(["one", "two"], [1, 2])
    assert run_evaluator(estimator, Stop()) == ({"global_step": 1}, [])
    assert evaluated(estimator) == ["one"]


def test_evaluator_without_a_last_step_goes_on():
    class StopAfterThree(Collecting):
        def before_eval(self):
            return len(self.results) < 3

    estimator = fake_estimator(["a", "b", "c", "d"], [10, 20, 30])
    run_evaluator(estimator, StopAfterThree(), max_steps=None)
    assert evaluated(estimator) == ["a", "b", "c"]


def test_checkpoint_that_is_deleted_before_it_is_read_is_passed_over(tmp_path):
    """The trainer keeps five; a slow evaluator may come too late for the oldest."""
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    estimator = fake_estimator([old, new], [ValueError("there is no old.index"), 200])
    metrics, _ = run_evaluator(estimator)
    assert metrics == {"global_step": 200}
    assert evaluated(estimator) == [old, new]


def test_error_in_the_evaluation_of_a_checkpoint_that_is_there(tmp_path):
    (tmp_path / "ckpt.index").touch()
    estimator = fake_estimator([str(tmp_path / "ckpt")], [ValueError("bad labels")])
    with pytest.raises(ValueError, match="bad labels"):
        run_evaluator(estimator)


def test_warnings_are_said_once_in_ten_minutes(monkeypatch):
    warning = mock.Mock()
    monkeypatch.setattr(v1.logging, "warning", warning)
    run_evaluator(fake_estimator([None] * 12 + ["one"], [200]), throttle_secs=60)
    messages = [call.args[0] for call in warning.call_args_list]
    assert len(messages) == 2
    assert "Will start an evaluation when a checkpoint is ready" in messages[0]


def test_throttle_of_nothing_is_warned_of(monkeypatch):
    warning = mock.Mock()
    monkeypatch.setattr(v1.logging, "warning", warning)
    run_evaluator(fake_estimator([None, "one"], [200]), throttle_secs=0)
    assert "EvalSpec.throttle_secs is set as 0." in warning.call_args.args[0]


@pytest.mark.parametrize(("task", "listens"), [("chief", True), ("worker", False)])
def test_chief_and_worker_train(monkeypatch, task, listens):
    in_cluster(monkeypatch, task)
    hook, more = v1.train.SessionRunHook(), v1.train.SessionRunHook()
    listener = v1.train.CheckpointSaverListener()
    estimator, time = fake_estimator([None]), FakeTime()
    executor = TrainingExecutor(
        estimator,
        eb.TrainSpec(input_fn, 9, [hook], [listener]),
        None,
        train_hooks=[more],
        sleep=time.sleep,
        clock=time.clock,
    )
    assert executor.run() is None
    estimator.train.assert_called_once_with(
        input_fn=input_fn,
        max_steps=9,
        hooks=[hook, more],
        saving_listeners=(listener,) if listens else (),
    )
    assert time.slept == []
    assert not estimator.evaluate.called


def test_master_evaluates_its_checkpoints(monkeypatch):
    in_cluster(monkeypatch, "master", cluster={"master": ["a:1"], "worker": ["b:1"]})
    estimator = fake_estimator(["one", "two"], [5, 9])

    def train(saving_listeners, **_):
        (listener,) = saving_listeners
        listener.begin()
        for step in (0, 5):
            listener.after_save(None, step)
        listener.end(None, 9)

    estimator.train.side_effect = train
    spec = eb.EvalSpec(input_fn, throttle_secs=0)
    outcome = eb.train_and_evaluate(estimator, eb.TrainSpec(input_fn, 9), spec)
    assert outcome == ({"global_step": 9}, [])
    assert evaluated(estimator) == ["one", "two"]


@pytest.mark.parametrize("role", ["run_local", "run_master", "run_evaluator"])
def test_roles_that_evaluate_need_an_eval_spec(role):
    executor = TrainingExecutor(fake_estimator(), eb.TrainSpec(input_fn, 9), None)
    with pytest.raises(TypeError, match=r"`eval_spec` must have type `tf.estimator.EvalSpec`"):
        getattr(executor, role)()


@pytest.mark.parametrize(("index", "longest", "delay"), [(0, None, 5), (1, None, 10), (1, 7, 7)])
def test_workers_of_servers_begin_one_after_the_other(monkeypatch, index, longest, delay):
    in_cluster(monkeypatch, "worker", index, {**CLUSTER, "ps": ["d:1"]})
    monkeypatch.setattr(executor, "start_server", mock.Mock())
    monkeypatch.setattr(executor, "announce_end_at_exit", mock.Mock())
    clock = FakeTime()
    estimator = fake_estimator(experimental_max_worker_delay_secs=longest)
    spec = eb.TrainSpec(input_fn, 9)
    TrainingExecutor(estimator, spec, eb.EvalSpec(input_fn), sleep=clock.sleep).run()
    assert clock.slept == [delay]
    assert executor.start_server.call_count == executor.announce_end_at_exit.call_count == 1


@pytest.mark.parametrize(
    ("task", "index", "message"),
    [
        ("evaluator", 1, r"there can only be one `evaluator` task .*Given task id 1"),
        ("local", 0, r"`task.type` in TF_CONFIG cannot be `local`"),
        ("alloc", 0, r"Task type alloc is not supported. Supported task types are \['chief'"),
    ],
)
def test_tasks_that_there_are_not(monkeypatch, task, index, message):
    in_cluster(monkeypatch, task, index, {**CLUSTER, task: ["d:1", "e:1"]})
    spec = eb.EvalSpec(input_fn)
    with pytest.raises(ValueError, match=message):
        eb.train_and_evaluate(fake_estimator(), eb.TrainSpec(input_fn, 9), spec)


def test_config_of_no_task():
    estimator = fake_estimator()
    cluster = tf.train.ClusterSpec({"chief": ["a:1"]})
    estimator.config = mock.Mock(cluster_spec=cluster, task_type="")
    executor = TrainingExecutor(estimator, eb.TrainSpec(input_fn), eb.EvalSpec(input_fn))
    with pytest.raises(ValueError, match=r"`estimator.config` must have task_type set"):
        executor.run()


def test_listener_and_hooks_of_wrong_types():
    arguments = (fake_estimator(), eb.TrainSpec(input_fn), None)
    with pytest.raises(TypeError, match="must have type `_ContinuousEvalListener`"):
        TrainingExecutor(*arguments, continuous_eval_listener=5)
    with pytest.raises(TypeError, match="All hooks must be `SessionRunHook` instances"):
        TrainingExecutor(*arguments, train_hooks=[5])
    with pytest.raises(TypeError, match=r"`eval_spec` must be either `None` or have type"):
        TrainingExecutor(*arguments[:2], 5)


@pytest.mark.parametrize("arguments", [{"metrics": {"a": 1}}, {"checkpoint_path": "p"}])
def test_outcome_of_no_evaluation_has_no_metrics(arguments):
    with pytest.raises(
        ValueError, match=f"{next(iter(arguments))} must be `None` if status is not"
    ):
        EvalResult(EvalStatus.NO_NEW_CHECKPOINT, **arguments)


def test_outcome_of_an_evaluation_has_a_path():
    with pytest.raises(ValueError, match="`checkpoint_path` should never be empty"):
        EvalResult(EvalStatus.EVALUATED, {"global_step": 1})


@pytest.mark.parametrize(
    ("task", "index", "cluster", "is_told"),
    [
        ("chief", 0, CLUSTER, True),
        ("worker", 0, CLUSTER, False),  # the chief tells it
        ("chief", 0, {**CLUSTER, "evaluator": ["d:1"]}, False),
        ("evaluator", 0, CLUSTER, False),
    ],
)
def test_a_cluster_without_an_evaluator_says_who_evaluates(
    monkeypatch, caplog, task, index, cluster, is_told
):
    in_cluster(monkeypatch, task, index, cluster)
    estimator = fake_estimator(["model.ckpt-9"], [9])
    spec = eb.EvalSpec(input_fn, start_delay_secs=0, throttle_secs=0)
    outcome = eb.train_and_evaluate(estimator, eb.TrainSpec(input_fn, 9), spec)
    if task != "evaluator":
        assert outcome is None  # as of 1.15.5 and 2.15.1
        estimator.evaluate.assert_not_called()
    lines = [line for line in caplog.messages if "names no evaluator" in line]
    assert len(lines) == is_told
    if is_told:
        assert "checkpoints in somewhere are evaluated and exported if one more process" in lines[0]
