"""A training without progress reports what it waits for."""

import os
import threading
import time
from pathlib import Path

import pytest
from absl import logging

import estimator_bridge as eb
from estimator_bridge.training.supervision import stall_diagnosis
from estimator_bridge.training.supervision.stall_diagnosis import diagnose_stall

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
NAP = 1.0


def model_fn(features, labels, mode):
    step = v1.train.get_global_step()
    train_op = v1.assign_add(step, 1)
    return eb.EstimatorSpec(mode, loss=tf.reduce_mean(features), train_op=train_op)


def ones():
    return tf.data.Dataset.from_tensors([1.0]).repeat()


class EachStep(v1.train.SessionRunHook):
    def before_run(self, run_context):
        pass


class Hangs(EachStep):
    def after_run(self, run_context, run_values):
        time.sleep(NAP)


@pytest.fixture
def warnings(caplog):
    caplog.set_level(logging.WARNING)
    return lambda: [text for text in caplog.messages if "no progress for" in text]


def test_what_is_waited_for_is_named(tmp_path, warnings):
    def slow_model_fn(features, labels, mode):
        time.sleep(NAP)
        return model_fn(features, labels, mode)

    def examples():
        yield [1.0]
        yield [1.0]
        time.sleep(NAP)
        yield [1.0]

    def slow_input():
        return tf.data.Dataset.from_generator(examples, tf.float32, [1])

    watchdog = eb.training.Watchdog(NAP / 3)
    estimator = eb.Estimator(slow_model_fn, str(tmp_path))
    estimator.train(slow_input, hooks=[watchdog, EachStep()])
    estimator.train(ones, steps=1, hooks=[watchdog, Hangs()])
    text = "\n".join(warnings())
    assert f"It waits for model_fn, in slow_model_fn ({__file__}:" in text
    assert f"It waits for the input: a generator, in examples ({__file__}:" in text
    assert f"It waits for a hook, in after_run ({__file__}:" in text


def test_steps_on_jax_are_watched(tmp_path, warnings):
    pytest.importorskip("jax", reason="jax is not installed: the extra [jax]")

    def on_tpu(features, labels, mode, params):
        spec = model_fn(features, labels, mode)
        return eb.tpu.TPUEstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op)

    def examples():
        yield [1.0]
        yield [1.0]
        time.sleep(NAP)
        yield [1.0]

    def slow_input(params):
        examples_of_one = tf.data.Dataset.from_generator(examples, tf.float32, [1])
        return examples_of_one.batch(params["batch_size"], drop_remainder=True)

    config = eb.tpu.RunConfig(master="jax:cpu:1", model_dir=str(tmp_path))
    estimator = eb.tpu.TPUEstimator(on_tpu, config=config, train_batch_size=1)
    estimator.train(slow_input, hooks=[eb.training.Watchdog(NAP / 3)])
    text = "\n".join(warnings())
    assert f"It waits for the input: a generator, in examples ({__file__}:" in text


def test_a_prediction_is_watched_but_not_while_the_caller_has_control(tmp_path, warnings):
    def predicting(features, labels, mode):
        return eb.EstimatorSpec(mode, predictions=features)

    def examples():
        yield [1.0]
        time.sleep(2 * NAP)
        yield [1.0]

    def slow_input():
        return tf.data.Dataset.from_generator(examples, tf.float32, [1])

    watchdog = eb.training.Watchdog(NAP)
    estimator = eb.Estimator(predicting, str(tmp_path))
    predictions = estimator.predict(ones, hooks=[watchdog])
    next(predictions)
    time.sleep(2 * NAP)  # the caller's own
    estimator.predict(ones)
    next(predictions)
    predictions.close()
    assert warnings() == []
    assert len(list(estimator.predict(slow_input, hooks=[watchdog]))) == 2
    text = warnings()[0]
    assert text.startswith("Prediction: no progress for ")
    assert "It waits for the input: a generator, in examples (" in text


def test_the_environment_sets_it_and_stacks_are_written(tmp_path, warnings, monkeypatch, capfd):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_WATCHDOG", f"{NAP / 3}, stacks")
    # Three naps: on a busy machine the first report may come while TensorFlow starts.
    eb.Estimator(model_fn, str(tmp_path)).train(ones, steps=3, hooks=[Hangs()])
    assert warnings()
    written = capfd.readouterr().err
    assert "most recent call first" in written
    assert "in after_run" in written
    monkeypatch.setenv("ESTIMATOR_BRIDGE_WATCHDOG", "300,stack")
    with pytest.raises(
        ValueError, match="ESTIMATOR_BRIDGE_WATCHDOG must be seconds, then 'stacks'"
    ):
        eb.Estimator(model_fn, str(tmp_path)).train(ones, steps=1)


def test_steps_that_end_in_time_are_not_spoken_of(tmp_path, warnings):
    before = set(threading.enumerate())
    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(ones, steps=3)
    estimator.evaluate(ones, steps=3)
    assert warnings() == []
    time.sleep(0.1)
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert "estimator_bridge watchdog" not in left


def test_the_process_can_be_ended(tmp_path):
    watchdog = eb.training.Watchdog(NAP / 3, end=True)
    child = os.fork()  # nothing of TensorFlow runs in the child but what it ends in
    if not child:
        from estimator_bridge.training.supervision.watchdog import watched

        with watched("Training", [watchdog], str(tmp_path)):
            time.sleep(60)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 75


def test_a_thread_without_anything_of_note_is_in_a_step():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert diagnose_stall(thread.ident, is_first=False).startswith(
            "a step, or for the next batch"
        )
        assert diagnose_stall(thread.ident, is_first=True).startswith("the first step")
    finally:
        done.set()
        thread.join()


def test_each_file_that_names_the_reason_of_a_stall_exists():
    package = Path(eb.__file__).parent
    assert [place for place in stall_diagnosis._PLACES if not (package / place).is_file()] == []


def test_a_program_beside_the_package_whose_folder_begins_with_its_name():
    package = Path(eb.__file__).parent
    program = package.with_name("estimator_bridge_experiments") / "train.py"
    scope: dict = {}
    exec(compile("def wait(done):\n    done.wait()\n", str(program), "exec"), scope)
    source = "def call(function, done):\n    function(done)\n"
    exec(compile(source, str(package / "training" / "a_module.py"), "exec"), scope)
    done = threading.Event()
    thread = threading.Thread(target=scope["call"], args=(scope["wait"], done))
    thread.start()
    try:
        expected = f"the program's own code, in wait ({program}:2)"
        wait_until = time.monotonic() + 20
        while diagnose_stall(thread.ident, is_first=False) != expected:
            assert time.monotonic() < wait_until, diagnose_stall(thread.ident, is_first=False)
            time.sleep(0.01)
    finally:
        done.set()
        thread.join()
