"""Session runs that need the batch read the next one, as under the real tf.estimator.

The golden file, and the program that made it, are in ``goldens/draws/``. A test that hangs
ends its process, with the stacks of its threads.
"""

import faulthandler
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from goldens.draws import draw_cases

import estimator_bridge as eb

GOLDENS = Path(__file__).parents[1] / "goldens" / "draws"


DRAWS = json.loads((GOLDENS / "draws.json").read_text())
SECONDS = 300

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def _ends():
    faulthandler.dump_traceback_later(SECONDS, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


def test_every_case_has_a_golden():
    assert list(DRAWS) == list(draw_cases.CASES)


@pytest.mark.parametrize("name", DRAWS)
def test_runs_of_a_session_draw_what_the_original_drew(name):
    golden, outcome = DRAWS[name], draw_cases.run(name, eb)

    assert outcome["error"] == golden["error"]
    assert [entry[:-1] for entry in outcome["log"]] == [entry[:-1] for entry in golden["log"]]
    for mine, theirs in zip(outcome["log"], golden["log"]):
        assert mine[-1] == theirs[-1] or mine[-1] == pytest.approx(theirs[-1], rel=1e-5), mine
    for key in golden.keys() - {"error", "log"}:
        assert outcome[key] == pytest.approx(golden[key], rel=1e-5), key


class Runs(v1.train.SessionRunHook):
    """Runs what a function gives, before each step."""

    def __init__(self, fetch):
        self.fetch, self.values = fetch, []

    def before_run(self, run_context):
        self.values.append(run_context.session.run(self.fetch()))


def _model(tensors, loss_of=tf.reduce_sum):
    def model_fn(features, labels, mode):
        weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
        loss = loss_of(features) + 0.0 * weight
        step = v1.train.get_or_create_global_step()
        tensors.update(features=features, labels=labels, loss=loss, step=step)
        tensors["seen"] = v1.get_variable("seen", [8], initializer=v1.zeros_initializer())
        with tf.control_dependencies([v1.scatter_update(tensors["seen"], step, loss)]):
            return eb.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(step, 1))

    return model_fn


def _seen(estimator):
    step = int(estimator.get_variable_value("global_step"))
    return estimator.get_variable_value("seen")[:step].tolist()


def test_an_eager_dataset_is_drawn_from_too():
    tensors, dataset = {}, tf.data.Dataset.range(20).map(lambda i: tf.cast(i, tf.float32))
    hook = Runs(lambda: tensors["features"])
    estimator = eb.Estimator(_model(tensors))
    estimator.train(lambda: dataset, [hook], steps=3)
    assert hook.values == [0.0, 2.0, 4.0]
    assert _seen(estimator) == [1.0, 3.0, 5.0]


def test_a_chunk_of_steps_and_a_run_behind_it_share_the_input():
    tensors, lines = {}, []
    hook = v1.train.LoggingTensorHook(
        ["features"], every_n_iter=4, at_end=True, formatter=lambda v: lines.append(v) or ""
    )
    hook._tensors = hook._tag_order = None

    def begin():
        hook._tag_order, hook._tensors = ["x"], {"x": tensors["features"].name}
        type(hook).begin(hook)

    estimator = eb.Estimator(_model(tensors))
    hook.begin, saved = begin, hook.begin
    del saved
    estimator.train(_floats(20), [hook], steps=6)
    assert [float(line["x"]) for line in lines] == [0.0, 4.0, 6.0]
    assert _seen(estimator) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def _floats(count):
    return lambda: tf.data.Dataset.range(count).map(lambda i: tf.cast(i, tf.float32))


def test_what_hooks_draw_is_part_of_the_saved_position(tmp_path):
    def train(steps):
        tensors = {}
        config = eb.RunConfig(str(tmp_path), save_checkpoints_steps=2)
        estimator = eb.Estimator(_model(tensors), config=config)
        hook = Runs(lambda: tensors["features"])
        position = eb.experimental.CheckpointInputPipelineHook(estimator)
        estimator.train(_floats(40), [position, hook], steps=steps)
        return hook.values, _seen(estimator)

    assert train(2) == ([0.0, 2.0], [1.0, 3.0])
    assert train(2) == ([4.0, 6.0], [1.0, 3.0, 5.0, 7.0])


def test_an_input_in_parts_has_a_position_too(tmp_path):
    def input_fn():
        one, other = (
            v1.data.make_one_shot_iterator(tf.data.Dataset.range(first, first + 50)).get_next()
            for first in (0, 100)
        )
        return {"a": tf.cast(one, tf.float32), "b": tf.cast(other, tf.float32)}

    def train():
        tensors = {}
        config = eb.RunConfig(str(tmp_path), save_checkpoints_steps=2)
        estimator = eb.Estimator(_model(tensors, lambda f: f["a"] * 1000 + f["b"]), config=config)
        hook = Runs(lambda: tensors["features"]["b"])
        position = eb.experimental.CheckpointInputPipelineHook(estimator, "ignore")
        estimator.train(input_fn, [position, hook], steps=2)
        return hook.values, _seen(estimator)

    assert train() == ([100.0, 102.0], [101.0, 1103.0])
    assert train() == ([104.0, 106.0], [101.0, 1103.0, 2105.0, 3107.0])


def test_random_operations_go_on_behind_a_sessions_runs():
    tensors = {}

    def loss_of(features):
        tensors["noise"] = tf.random.uniform([], seed=1)
        return features * 0.0 + tensors["noise"]

    hook = Runs(lambda: tensors["noise"])
    estimator = eb.Estimator(_model(tensors, loss_of), config=eb.RunConfig(tf_random_seed=2))
    estimator.train(_floats(20), [hook], steps=3)
    between = [x for pair in zip(hook.values, _seen(estimator)) for x in pair]

    alone = eb.Estimator(_model(tensors, loss_of), config=eb.RunConfig(tf_random_seed=2))
    alone.train(_floats(20), steps=6)
    assert between == pytest.approx(_seen(alone))


def test_an_iterator_that_the_step_does_not_need_is_left_alone():
    tensors = {}

    def input_fn():
        short = v1.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next()
        long = v1.data.make_one_shot_iterator(tf.data.Dataset.range(50)).get_next()
        return {"a": tf.cast(long, tf.float32), "b": short}

    estimator = eb.Estimator(_model(tensors, lambda f: f["a"]))
    estimator.train(input_fn, steps=5)
    assert _seen(estimator) == [0.0, 1.0, 2.0, 3.0, 4.0]

    hook = Runs(lambda: tensors["features"]["b"])
    again = eb.Estimator(_model(tensors, lambda f: f["a"]))
    again.train(input_fn, [hook], steps=5)  # the hook comes to the end, and ends the training
    assert hook.values == [0, 1]
    assert _seen(again) == [0.0, 1.0]


def test_a_hooks_fetch_draws_in_the_steps_that_it_is_fetched_in():
    tensors, lines = {}, []

    def input_fn():
        a, b = (
            v1.data.make_one_shot_iterator(tf.data.Dataset.range(50)).get_next() for _ in range(2)
        )
        return {"a": tf.cast(a, tf.float32), "b": tf.identity(b, name="the_other")}

    hook = v1.train.LoggingTensorHook(
        {"b": "the_other:0"}, every_n_iter=2, formatter=lambda v: lines.append(int(v["b"])) or ""
    )
    estimator = eb.Estimator(_model(tensors, lambda f: f["a"]))
    estimator.train(input_fn, [hook], steps=5)
    assert lines == [0, 1, 2]  # of the steps 0, 2 and 4
    assert _seen(estimator) == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_an_input_that_no_step_needs_does_not_end_the_training():
    estimator = eb.Estimator(_model({}, lambda features: tf.constant(1.0)))
    estimator.train(_floats(2), steps=5)
    assert _seen(estimator) == [1.0] * 5


def test_a_hook_that_feeds_the_batch_saves_an_element():
    tensors, count = {}, iter(range(1, 100))

    class Feeds(v1.train.SessionRunHook):
        def before_run(self, run_context):
            number = next(count)
            feeds = {tensors["features"]: number + 0.5} if number % 2 else None
            return v1.train.SessionRunArgs(None, feed_dict=feeds)

    estimator = eb.Estimator(_model(tensors))
    estimator.train(_floats(20), [Feeds()], steps=6)
    assert _seen(estimator) == [1.5, 0.0, 3.5, 1.0, 5.5, 2.0]


@pytest.mark.parametrize("mode", ["train", "evaluate", "predict"])
def test_placeholders_of_an_input_fn_are_fed_in_each_step(mode):
    places, numbers = {}, iter(range(100))

    def input_fn():
        places["x"] = v1.placeholder(tf.float32, [None], name="x")
        places["y"] = v1.placeholder(tf.float32, [None], name="y")
        return {"x": places["x"] * 2.0}, places["y"]

    def model_fn(features, labels, mode):
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        if mode == eb.ModeKeys.PREDICT:
            return eb.EstimatorSpec(mode, predictions=features["x"] * weight)
        loss = tf.reduce_sum(features["x"] - labels) * weight
        train_op = v1.train.GradientDescentOptimizer(0.5).minimize(
            loss, v1.train.get_or_create_global_step()
        )
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def feed():
        x = np.full([3], next(numbers), np.float32)
        return {places["x"]: x, places["y"]: x} if mode != "predict" else {places["x"]: x}

    estimator = eb.Estimator(model_fn)
    hook = v1.train.FeedFnHook(feed)
    if mode == "train":
        estimator.train(input_fn, [hook], steps=3)  # gradients of 0, 3 and 6
        assert estimator.get_variable_value("weight") == pytest.approx(1 - 0.5 * 9)
    elif mode == "evaluate":
        assert estimator.evaluate(input_fn, steps=3, hooks=[hook])["loss"] == pytest.approx(3.0)
    else:
        predictions = estimator.predict(input_fn, hooks=[hook])
        assert [next(predictions) for _ in range(7)] == [0.0] * 3 + [2.0] * 3 + [4.0]


def test_a_placeholder_that_nothing_feeds_is_named_at_once():
    estimator = eb.Estimator(_model({}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="placeholder tensor 'nobody'"):
        estimator.train(lambda: v1.placeholder(tf.float32, [], name="nobody"), steps=1)


def test_a_placeholder_that_the_step_does_not_need_may_stay_unfed():
    estimator = eb.Estimator(_model({}, lambda f: f["x"]))
    estimator.train(
        lambda: {
            "x": v1.data.make_one_shot_iterator(_floats(9)()).get_next(),
            "p": v1.placeholder(tf.float32, []),
        },
        steps=3,
    )
    assert _seen(estimator) == [0.0, 1.0, 2.0]


def test_what_an_input_fn_summarises_on_its_way_is_of_the_steps_batch(tmp_path):
    rows = np.arange(12, dtype=np.float32)

    def input_fn():
        batch = eb.inputs.numpy_input_fn(rows, batch_size=2, shuffle=False, num_epochs=1)()
        v1.summary.scalar("first", batch[0])
        return batch * 10.0

    config = eb.RunConfig(str(tmp_path), save_summary_steps=1)
    eb.Estimator(_model({}), config=config).train(input_fn, steps=4)
    (file,) = tmp_path.glob("events.out*")
    scalars = {}
    for event in v1.train.summary_iterator(str(file)):
        for value in event.summary.value:
            scalars.setdefault(value.tag, []).append(value.simple_value)
    assert scalars["first"] == [0.0, 2.0, 4.0, 6.0]
    assert scalars["loss"] == [10.0, 50.0, 90.0, 130.0]


def _tpu_estimator(model_fn, cores):
    config = eb.tpu.RunConfig(
        model_dir=tempfile.mkdtemp(),
        master=f"emulated:{cores}",
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=1),
    )
    return eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=4)


def _tpu_model(tensors):
    def model_fn(features, labels, mode, params):
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean(tf.square(weight * features))
        tensors.update(features=features)
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
        train_op = optimizer.minimize(loss, v1.train.get_or_create_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def _tpu_input(params):
    rows = np.arange(80, dtype=np.float32)
    return tf.data.Dataset.from_tensor_slices(rows).batch(params["batch_size"], drop_remainder=True)


def test_a_core_alone_lets_its_session_draw():
    tensors = {}
    hook = Runs(lambda: tensors["features"])
    _tpu_estimator(_tpu_model(tensors), 1).train(_tpu_input, hooks=[hook], steps=2)
    assert [value.tolist() for value in hook.values] == [[0, 1, 2, 3], [8, 9, 10, 11]]


def test_several_cores_refuse_and_say_why():
    tensors = {}
    hook = Runs(lambda: tensors["features"])
    estimator = _tpu_estimator(_tpu_model(tensors), 2)
    with pytest.raises(tf.errors.FailedPreconditionError) as caught:
        estimator.train(_tpu_input, hooks=[hook], steps=2)
    message = str(caught.value)
    assert tensors["features"].name in message
    assert "feeds 2 replicas" in message
    assert "before_run" in message
