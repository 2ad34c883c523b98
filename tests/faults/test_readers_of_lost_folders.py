"""The folder is lost while something that holds no lock uses it: nothing is made anew there."""

import contextlib
import os
import shutil
from pathlib import Path

import pytest
import tensorflow as tf
from small_training import examples, few_examples, make, receiver

import estimator_bridge as eb
from estimator_bridge.errors import ModelDirLostError
from estimator_bridge.export.export_folders import new_version, remove_abandoned
from estimator_bridge.own_files import make_own_folder, new_token, this_machine
from estimator_bridge.training.continuous.evaluator import Evaluator
from estimator_bridge.training.continuous.evaluator_loop import evaluate_until_final
from estimator_bridge.training.continuous.listeners import ContinuousEvalListener

v1 = tf.compat.v1


def removed(folder):
    shutil.rmtree(folder)


def renamed(folder):
    folder.rename(folder.with_name("moved"))


def replaced(folder):
    renamed(folder)
    folder.mkdir()


LOSSES = pytest.mark.parametrize("lose", [removed, replaced])


class Once(v1.train.SessionRunHook):
    """Calls a function after the first batch."""

    def __init__(self, call):
        self.call = call

    def after_run(self, run_context, run_values):
        call, self.call = self.call, lambda: None
        call()


@pytest.fixture
def trained(tmp_path):
    estimator = make(tmp_path / "model")
    estimator.train(examples, steps=2)
    return estimator, tmp_path / "model"


def check_is_lost(folder, lose):
    if lose is replaced:
        assert os.listdir(folder) == []
    else:
        assert not folder.exists()


@pytest.mark.parametrize(
    ("lose", "has_writer"), [(removed, True), (renamed, False), (replaced, True)]
)
def test_an_evaluation_does_not_make_the_folder_anew(trained, lose, has_writer):
    estimator, folder = trained
    if has_writer:  # which TensorFlow keeps open for the next evaluation
        estimator.evaluate(few_examples)
    with pytest.raises(ModelDirLostError, match="This evaluation ends and writes nothing there"):
        estimator.evaluate(few_examples, hooks=[Once(lambda: lose(folder))])
    check_is_lost(folder, lose)
    estimator.train(examples, steps=2)
    estimator.evaluate(few_examples)
    assert len(list((folder / "eval").glob("*.tfevents.*"))) == 1


def test_an_evaluation_before_the_folder_exists(trained, tmp_path):
    estimator, folder = trained
    other = make(tmp_path / "other")
    other.evaluate(few_examples, checkpoint_path=estimator.latest_checkpoint())
    assert list((tmp_path / "other" / "eval").glob("*.tfevents.*"))
    assert folder.exists()


@LOSSES
def test_predictions_go_on_as_in_the_original(trained, lose, caplog, monkeypatch):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_MONITOR", "1")
    estimator, folder = trained
    predictions = estimator.predict(few_examples)
    first = next(predictions)
    lose(folder)
    assert [first, *predictions] == [first, first]
    check_is_lost(folder, lose)


@pytest.mark.parametrize(
    ("lose", "base"), [(removed, "model/export"), (replaced, "model/export"), (renamed, "apart")]
)
def test_an_export_does_not_make_the_folder_anew(trained, lose, base, tmp_path):
    estimator, folder = trained
    lost = folder if base != "apart" else tmp_path / base

    def receiver_of_a_lost_folder():
        lose(lost)
        return receiver()

    with pytest.raises(ModelDirLostError):
        estimator.export_saved_model(str(tmp_path / base), receiver_of_a_lost_folder)
    check_is_lost(lost, lose)
    assert not list(tmp_path.rglob("saved_model.pb"))


class Lost(ContinuousEvalListener):
    def __init__(self, lose, when):
        self.lose, self.when, self.rounds = lose, when, 0

    def before_eval(self):
        if self.when == "before" and self.rounds == 1:
            self.lose()
        return True

    def after_eval(self, eval_result):
        self.rounds += 1
        assert self.rounds < 5, "it waits for a checkpoint that never comes"
        if self.when == "after":
            self.lose()
        return True


@LOSSES
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_continuous_evaluation_ends(trained, lose, when):
    estimator, folder = trained
    spec = eb.EvalSpec(few_examples, steps=1, start_delay_secs=0, throttle_secs=1)
    evaluator = Evaluator(estimator, spec, max_steps=100)
    listener = Lost(lambda: lose(folder), when)
    with pytest.raises(ModelDirLostError, match="This continuous evaluation ends"):
        evaluate_until_final(evaluator, spec, listener, lambda secs: None, lambda: 0.0)
    check_is_lost(folder, lose)


def test_a_continuous_evaluation_waits_for_a_folder_that_is_to_come(tmp_path):
    estimator, waits = make(tmp_path / "model"), []

    def sleep(secs):
        waits.append(secs)
        if len(waits) == 2:
            estimator.train(examples, steps=2)

    spec = eb.EvalSpec(few_examples, steps=1, start_delay_secs=0, throttle_secs=1)
    metrics, _ = evaluate_until_final(
        Evaluator(estimator, spec, max_steps=2), spec, ContinuousEvalListener(), sleep, lambda: 0.0
    )
    assert metrics["global_step"] == 2
    assert len(waits) == 2


A_DAY = 25 * 3600
NOW = 1_700_000_000


@pytest.mark.parametrize("machine", ["here, dead", "here, running", "elsewhere"])
@pytest.mark.parametrize("age", [0, A_DAY, -10 * A_DAY])
def test_only_exports_that_are_shown_to_be_dead_are_removed(machine, age, tmp_path, caplog):
    token = new_token()
    host = "00000000" if machine == "elsewhere" else this_machine()
    process = os.getpid() if machine == "here, running" else 2**22 + 1
    name = f"temp-{NOW - age}-{host}-{process}-{token}"
    make_own_folder(str(tmp_path / name), token)
    (tmp_path / name / f"{token}.export").mkdir()
    with contextlib.suppress(KeyError), new_version(str(tmp_path), NOW) as version:
        Path(version.temporary, "half").write_text("")
        raise KeyError
    remove_abandoned(str(tmp_path), NOW)
    is_left = machine != "here, dead"
    assert (tmp_path / name).exists() == is_left
    lines = [record.getMessage() for record in caplog.records if name in record.getMessage()]
    assert len(lines) == (is_left and age > 24 * 3600)
