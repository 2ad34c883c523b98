"""A scaffold's parts are used in every mode, and in the order of the original's sessions."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
INIT, INIT_FN = ["init_op", "init_fn"], ["ready_for_local_init", "local_init", "ready"]


def ones():
    return tf.data.Dataset.from_tensor_slices(np.ones([4, 3], np.float32)).batch(2)


def variables():
    return {v.op.name: v for v in v1.global_variables()}


def make(scaffold, folder, **settings):
    def model_fn(features, labels, mode):
        w = v1.get_variable("w", [3], initializer=v1.ones_initializer())
        v1.get_variable("v", [2], initializer=v1.ones_initializer())
        loss = tf.reduce_sum(features * w)
        return eb.EstimatorSpec(
            mode,
            loss=loss,
            train_op=v1.assign_add(v1.train.get_global_step(), 1),
            predictions={"w": features * w},
            eval_metric_ops={"mean": v1.metrics.mean(w)} if mode == "eval" else None,
            scaffold=scaffold(),
        )

    return eb.Estimator(model_fn, str(folder), eb.RunConfig(tf_random_seed=1, **settings))


def run(estimator, mode):
    if mode == "train":
        estimator.train(ones, steps=1)
        return estimator.get_variable_value("w").tolist()
    if mode == "evaluate":
        return float(estimator.evaluate(ones)["mean"])
    return next(estimator.predict(ones))["w"].tolist()


MODES = ["train", "evaluate", "predict"]


class RecordingParts:
    """A scaffold of parts that tell when they are run."""

    def __init__(self):
        self.calls = []

    def _recorded(self, name, result):
        def tell():
            self.calls.append(name)
            return result

        return v1.py_func(tell, [], tf.string if result is _NOTHING else tf.int32)

    def __call__(self):
        fed, fed_later = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
        fed_value = v1.get_local_variable("kept", [], initializer=v1.zeros_initializer())
        w = variables()["w"]

        def init_fn(scaffold, session):
            assert isinstance(scaffold, v1.train.Scaffold)
            self.calls.append("init_fn")
            w.load(session.run(w) * 2, session)

        with tf.control_dependencies([v1.global_variables_initializer()]):
            times = w.assign(tf.fill([3], fed))
        return v1.train.Scaffold(
            init_op=[times, self._recorded("init_op", np.int32(0))],
            init_feed_dict={fed: 5.0},
            init_fn=init_fn,
            ready_for_local_init_op=self._recorded("ready_for_local_init", _NOTHING),
            local_init_op=tf.group(
                fed_value.assign(fed_later), self._recorded("local_init", np.int32(0))
            ),
            local_init_feed_dict={fed_later: 4.0},
            ready_op=self._recorded("ready", _NOTHING),
        )


_NOTHING = np.array([], object)


@pytest.mark.parametrize(("mode", "result"), zip(MODES, [[10.0] * 3, 10.0, [10.0] * 3]))
def test_parts_are_run_in_order(tmp_path, mode, result):
    recorder = RecordingParts()
    assert run(make(recorder, tmp_path), mode) == result
    assert recorder.calls == [*INIT, *INIT_FN]


def test_a_restored_model_is_not_initialized(tmp_path):
    recorder = RecordingParts()
    estimator = make(recorder, tmp_path)
    estimator.train(ones, steps=1)
    for mode in MODES:
        recorder.calls.clear()
        run(estimator, mode)
        assert recorder.calls == INIT_FN


def test_copied_from_another_scaffold(tmp_path):
    def scaffold():
        def init_fn(scaffold, session):
            variables()["w"].load(np.full([3], 7.0), session)

        first = v1.train.Scaffold(init_fn=init_fn)
        return v1.train.Scaffold(copy_from_scaffold=first)

    assert run(make(scaffold, tmp_path), "predict") == [7.0] * 3


def initializes_in_part():
    return v1.train.Scaffold(init_op=v1.variables_initializer([v1.train.get_global_step()]))


def is_never_ready_for_local_init():
    return v1.train.Scaffold(ready_for_local_init_op=tf.constant(["not", "yet"]))


def is_never_ready():
    return v1.train.Scaffold(ready_op=tf.constant(["x"]))


def asks_for_a_variable_without_value():
    unset = v1.get_variable(
        "unset", [1], tf.string, v1.constant_initializer("a"), collections=["u"]
    )
    return v1.train.Scaffold(ready_op=tf.identity(unset))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("scaffold", "message"),
    [
        (initializes_in_part, r"ready for local_init\.  Init op: init.* not initialized: w, v\."),
        (is_never_ready_for_local_init, r"ready for local_init\. .* not initialized: not, yet\."),
        (is_never_ready, r"model ready\.  Init op: .* not initialized: x\. Give"),
        (asks_for_a_variable_without_value, r"model ready\. .*uninitialized value 'unset'"),
    ],
)
def test_a_model_that_is_not_ready_is_an_error(tmp_path, mode, scaffold, message):
    with pytest.raises(RuntimeError, match=f"^Init operations did not make .*{message}"):
        run(make(scaffold, tmp_path), mode)


@pytest.mark.parametrize(
    "ready", [lambda: tf.constant([1]), v1.no_op, lambda: tf.constant([], tf.string)]
)
def test_a_ready_op_without_names_says_yes(tmp_path, ready):
    def scaffold():
        return v1.train.Scaffold(ready_op=ready(), ready_for_local_init_op=ready())

    assert run(make(scaffold, tmp_path), "train") == [1.0] * 3


def test_metrics_are_initialized_beside_a_local_init_op(tmp_path):
    def scaffold():
        mine = v1.get_local_variable("mine", [], initializer=v1.zeros_initializer())
        return v1.train.Scaffold(local_init_op=mine.assign(4.0).op)

    assert run(make(scaffold, tmp_path), "evaluate") == 1.0


def test_summary_op(tmp_path):
    def scaffold():
        v1.summary.scalar("left_out", 1.0)
        return v1.train.Scaffold(summary_op=v1.summary.scalar("chosen", 2.0))

    make(scaffold, tmp_path).train(ones, steps=1)
    (events,) = tmp_path.glob("events*")
    written = [
        v.tag for event in v1.train.summary_iterator(str(events)) for v in event.summary.value
    ]
    assert written == ["chosen"]


@pytest.mark.parametrize("mode", MODES)
def test_two_savers_and_no_word_which(tmp_path, mode):
    def scaffold():
        for _ in range(2):
            v1.add_to_collection(v1.GraphKeys.SAVERS, v1.train.Saver())

    with pytest.raises(RuntimeError, match="More than one item in collection savers"):
        run(make(scaffold, tmp_path), mode)


def test_scaffold_fn_on_replicas(tmp_path):
    def model_fn(features, labels, mode, params):
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        average = v1.train.ExponentialMovingAverage(0.5)
        if mode == eb.ModeKeys.TRAIN:
            with tf.control_dependencies([v1.tpu.cross_replica_sum(w)]):
                raised = w.assign_add(1.0)
            with tf.control_dependencies([raised]), tf.control_dependencies([average.apply([w])]):
                train_op = v1.assign_add(v1.train.get_global_step(), 1)

        def scaffold_fn():
            def init_fn(scaffold, session):
                w.load(3.0, session)

            if mode == eb.ModeKeys.TRAIN:
                return v1.train.Scaffold(init_fn=init_fn)
            return v1.train.Scaffold(saver=v1.train.Saver(average.variables_to_restore([w])))

        copies = tf.zeros_like(features) + w
        return eb.tpu.TPUEstimatorSpec(
            mode,
            loss=tf.reduce_mean(features) * w,
            train_op=train_op if mode == eb.ModeKeys.TRAIN else None,
            predictions={"w": copies},
            eval_metrics=(lambda w: {"w": v1.metrics.mean(w)}, [copies]),
            scaffold_fn=scaffold_fn,
        )

    config = eb.tpu.RunConfig(master="emulated:2", model_dir=str(tmp_path))
    estimator = eb.tpu.TPUEstimator(
        model_fn, config=config, train_batch_size=4, eval_batch_size=4, predict_batch_size=4
    )

    def batch(params):
        return tf.data.Dataset.from_tensor_slices(np.ones([4], np.float32)).batch(4, True)

    estimator.train(batch, steps=1)
    assert estimator.get_variable_value("w") == 4
    average = 0.5 * 0 + 0.5 * 4  # the average starts from the initial value, which was 0
    assert estimator.evaluate(batch)["w"] == average
    assert [p["w"] for p in estimator.predict(batch)] == [average] * 4
