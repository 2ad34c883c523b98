"""Input functions that read from queues, and the threads that fill them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def model_fn(features, labels, mode):
    values = tf.cast(features["x"] if isinstance(features, dict) else features, tf.float32)
    seen = v1.get_variable("seen", [], initializer=v1.zeros_initializer(), trainable=False)
    loss = tf.reduce_sum(values)
    with tf.control_dependencies([v1.assign_add(seen, loss)]):
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
    metrics = {"mean": v1.metrics.mean(values)}
    return eb.EstimatorSpec(mode, {"x": values}, loss, train_op, metrics)


@pytest.fixture
def files(tmp_path):
    """Three files of each kind with the numbers 0 to 3, 10 to 13, 20 to 23."""
    for first in (0, 10, 20):
        numbers = [str(first + i) for i in range(4)]
        (tmp_path / f"{first}.txt").write_text("\n".join(numbers) + "\n")
        with tf.io.TFRecordWriter(str(tmp_path / f"{first}.records")) as writer:
            for number in numbers:
                writer.write(number.encode())
    return lambda ending: [str(tmp_path / f"{first}.{ending}") for first in (0, 10, 20)]


@pytest.fixture(autouse=True)
def no_thread_stays():
    before = set(threading.enumerate())
    yield
    new = set(threading.enumerate()) - before
    for thread in new:
        if thread.name == "estimator_bridge end of input":
            thread.join(120)  # an iterator's own thread may sleep for a minute
    left = {thread.name for thread in new if thread.is_alive()}
    # Summary writers stay open, and the watcher of signals is one for the whole process.
    assert left <= {"EventLoggerThread", "estimator_bridge signals"}


def one_by_one(count=10, epochs=1):
    (x,) = v1.train.slice_input_producer([tf.range(float(count))], num_epochs=epochs, shuffle=False)
    return x


def in_order():
    return {"x": v1.train.batch([one_by_one()], 4, allow_smaller_final_batch=True)}


def full_batches_only():
    return v1.train.batch([one_by_one()], 4)


def shuffled():
    (x,) = v1.train.slice_input_producer([tf.range(10.0)], num_epochs=2)
    return v1.train.shuffle_batch([x], 5, capacity=100, min_after_dequeue=10, num_threads=2), None


def some_of_them():
    x = one_by_one()
    even = tf.equal(tf.math.floormod(x, 2.0), 0.0)
    return v1.train.maybe_batch([x], even, 2, allow_smaller_final_batch=True)


def padded():
    length = tf.cast(one_by_one(4), tf.int32)
    return v1.train.batch([tf.range(length)], 2, dynamic_pad=True)


def limited():
    return v1.train.limit_epochs(tf.constant([1.0, 2.0]), 3)


def generated():
    numbers = iter(range(7))
    queue = v1.FIFOQueue(10, [tf.float32], [[]])
    read = v1.py_func(lambda: np.float32(next(numbers)), [], tf.float32)
    v1.train.add_queue_runner(v1.train.QueueRunner(queue, [queue.enqueue([read])] * 2))
    return queue.dequeue_up_to(3)


@pytest.mark.parametrize(
    ("input_fn", "total", "steps"),
    [
        (in_order, 45, 3),
        (full_batches_only, 28, 2),
        (shuffled, 90, 4),
        (some_of_them, 20, 3),
        (padded, 4, 2),
        (limited, 9, 3),
        (generated, 21, 3),
    ],
)
def test_training_reads_the_queue_to_its_end(input_fn, total, steps, tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path), eb.RunConfig(save_summary_steps=1))
    estimator.train(input_fn)
    assert estimator.get_variable_value("seen") == total
    assert estimator.get_variable_value("global_step") == steps


def numbers_of(value):
    return v1.strings.to_number(value)


def text_lines(names):
    _, line = v1.TextLineReader().read(names)
    return v1.train.batch([numbers_of(line)], 5, allow_smaller_final_batch=True)


def records(names):
    _, record = v1.TFRecordReader().read(names)
    return v1.train.batch([numbers_of(record)], 5, allow_smaller_final_batch=True)


def many_records(names):
    return numbers_of(v1.TFRecordReader().read_up_to(names, 3)[1])


def two_readers(names):
    read = [[numbers_of(v1.TFRecordReader().read(names)[1])] for _ in range(2)]
    return v1.train.batch_join(read, 5, allow_smaller_final_batch=True)


def whole_files(names):
    _, content = v1.WholeFileReader().read(names)
    lines = tf.strings.split([content], "\n").values
    return numbers_of(lines[:4])


@pytest.mark.parametrize(
    ("read", "ending"),
    [
        (text_lines, "txt"),
        (records, "records"),
        (many_records, "records"),
        (two_readers, "records"),
        (whole_files, "txt"),
    ],
)
def test_readers_read_all_files(read, ending, files, tmp_path):
    def input_fn():
        return read(v1.train.string_input_producer(files(ending), num_epochs=1))

    estimator = eb.Estimator(model_fn, str(tmp_path / "model"))
    estimator.train(input_fn)
    assert estimator.get_variable_value("seen") == 138
    first, second = estimator.evaluate(input_fn), estimator.evaluate(input_fn)
    assert first["mean"] == second["mean"] == 11.5
    predicted = [p["x"] for p in estimator.predict(input_fn)]
    assert sorted(predicted) == [f + i for f in (0, 10, 20) for i in range(4)]


def endless():
    return v1.train.batch([one_by_one(epochs=None)], 4)


def test_training_ends_by_steps_where_the_queue_does_not(tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(endless, steps=10)
    assert estimator.get_variable_value("seen") == 4 * 45
    estimator.train(endless, steps=5)
    assert estimator.get_variable_value("global_step") == 15


def test_an_abandoned_prediction_leaves_no_thread(tmp_path):
    predictions = eb.Estimator(model_fn, str(tmp_path)).predict(endless)
    assert next(predictions)["x"] == 0
    predictions.close()


def test_a_hook_that_fails_leaves_no_thread(tmp_path):
    class Fails(v1.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            raise ZeroDivisionError

    estimator = eb.Estimator(model_fn, str(tmp_path))
    with pytest.raises(ZeroDivisionError):
        estimator.train(endless, steps=10, hooks=[Fails()])
    with pytest.raises(ZeroDivisionError):
        estimator.evaluate(endless, steps=10, hooks=[Fails()])


@pytest.mark.parametrize("call", ["train", "evaluate", "predict"])
def test_the_error_of_a_thread_reaches_the_caller(call, files, tmp_path):
    def input_fn():
        names = v1.train.string_input_producer([*files("txt"), "no such file"], num_epochs=1)
        return text_lines(names)

    estimator = eb.Estimator(model_fn, str(tmp_path / "model"))
    with pytest.raises(tf.errors.NotFoundError, match="no such file"):
        list(getattr(estimator, call)(input_fn))


def test_an_error_leaves_no_last_checkpoint_behind(files, tmp_path):
    def input_fn():
        names = v1.train.string_input_producer(["no such file"], num_epochs=1)
        return text_lines(names)

    estimator = eb.Estimator(model_fn, str(tmp_path / "model"))
    with pytest.raises(tf.errors.NotFoundError):
        estimator.train(input_fn)
    assert estimator.latest_checkpoint().endswith("model.ckpt-0")


def test_a_hook_may_stop_training_by_the_coordinator(tmp_path):
    class Stops(v1.train.SessionRunHook):
        def after_create_session(self, session, coord):
            self._coordinator, self._calls = coord, 0

        def after_run(self, run_context, run_values):
            self._calls += 1
            if self._calls == 3:
                self._coordinator.request_stop()

    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(lambda: tf.constant([1.0]), steps=10, hooks=[Stops()])
    assert estimator.get_variable_value("global_step") == 3


def test_a_queue_in_the_model_is_filled_as_well(tmp_path):
    def with_noise(features, labels, mode):
        noise = v1.train.batch([one_by_one(2, epochs=None)], 2)
        return model_fn(features + noise, labels, mode)

    estimator = eb.Estimator(with_noise, str(tmp_path))
    estimator.train(lambda: tf.constant([1.0, 1.0]), steps=2)
    assert estimator.get_variable_value("seen") == 6
    totals = [estimator.evaluate(lambda: tf.constant([1.0, 1.0]), steps=2)["mean"] for _ in "ab"]
    assert totals == [1.5, 1.5]


EACH = eb.tpu.InputPipelineConfig


@pytest.mark.parametrize("each", [EACH.PER_HOST_V1, EACH.PER_SHARD_V1, EACH.PER_HOST_V2])
def test_replicas_read_the_queue_of_their_host_or_their_own(each, tmp_path):
    """Each call's queue holds 0 to 7, over and over."""

    def input_fn(params):
        x = v1.train.batch([one_by_one(8, epochs=None)], params["batch_size"])
        return {"x": tf.reshape(x, [params["batch_size"]])}

    def tpu_model_fn(features, labels, mode, params):
        total = eb.tpu.cross_replica_sum(tf.reduce_sum(features["x"]))
        seen = v1.get_variable("seen", [], initializer=v1.zeros_initializer(), trainable=False)
        with tf.control_dependencies([v1.assign_add(seen, total)]):
            train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.tpu.TPUEstimatorSpec(mode, loss=total, train_op=train_op)

    tpu_config = eb.tpu.TPUConfig(per_host_input_for_training=each)
    config = eb.tpu.RunConfig(tpu_config, model_dir=str(tmp_path), master="emulated:2")
    estimator = eb.tpu.TPUEstimator(tpu_model_fn, config=config, train_batch_size=4)
    estimator.train(input_fn, steps=4)  # of 4 examples
    assert estimator.get_variable_value("seen") == 2 * 28


def test_control_edges_on_the_batch_draw_no_second_one(tmp_path):
    def waiting(features, labels, mode):
        with tf.control_dependencies([features["x"].op, features["x"]]):
            return model_fn({"x": tf.identity(features["x"])}, labels, mode)

    estimator = eb.Estimator(waiting, str(tmp_path))
    estimator.train(in_order)
    assert estimator.get_variable_value("seen") == 45
    assert estimator.get_variable_value("global_step") == 3
