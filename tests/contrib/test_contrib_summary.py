"""tf.contrib.summary: the events that TensorFlow 1 wrote, from sessions and from host_call."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import summary

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def events(folder):
    """(step, value) of all summaries in a folder's event files."""
    for path in sorted(folder.glob("events*")):
        for event in v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                yield event.step, value


def scalars(folder):
    return [(step, value.tag, value.simple_value) for step, value in events(folder)]


def test_a_session_writes_as_tensorflow_1_did(tmp_path):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        step = v1.train.create_global_step()
        writer = summary.create_file_writer(str(tmp_path), flush_millis=1000)
        with writer.as_default(), summary.always_record_summaries():
            with tf.name_scope("net"):
                summary.scalar("loss", tf.constant(0.5))
                summary.scalar("rate", 2, family="train", step=7)
            summary.histogram("weights", tf.constant([1.0, 2.0, 4.0]))
            summary.image("picture", tf.zeros([1, 2, 3, 1], tf.float32), max_images=1)
            session.run(v1.global_variables_initializer())
            session.run(step.assign(3))
            summary.initialize(graph=graph, session=session)
        session.run(summary.all_summary_ops())
        session.run(summary.flush(writer))
    summaries = {value.tag: (step, value) for step, value in events(tmp_path)}
    # A family comes twice, as tf.summary's does too.
    assert set(summaries) == {"net/loss", "train/net/train/rate", "weights", "picture/image"}
    assert summaries["train/net/train/rate"][0] == 7
    assert summaries["net/loss"][0] == 3 and summaries["net/loss"][1].simple_value == 0.5
    histogram = summaries["weights"][1].histo
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (1, 4, 3, 7)
    assert (
        summaries["picture/image"][1].image.height,
        summaries["picture/image"][1].image.width,
    ) == (2, 3)


def test_nothing_is_recorded_unless_it_is_asked_for(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.train.create_global_step()
        with summary.create_file_writer(str(tmp_path)).as_default():
            summary.scalar("silent", 1.0)  # TensorFlow 2's would write
            with summary.never_record_summaries():
                summary.scalar("never", 1.0)
            with summary.always_record_summaries():
                summary.scalar("always", 1.0)
        summary.scalar("no_writer", 1.0)
        with summary.create_file_writer(None).as_default(), summary.always_record_summaries():
            summary.scalar("no_folder", 1.0)
        session.run(v1.global_variables_initializer())
        session.run(summary.summary_writer_initializer_op())
        session.run(summary.all_summary_ops())
        session.run(summary.flush(summary.create_file_writer(str(tmp_path))))
    assert scalars(tmp_path) == [(0, "always", 1.0)]


def test_every_n_global_steps(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.create_global_step()
        writer = summary.create_file_writer(str(tmp_path))
        with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
            asked = summary.should_record_summaries()
            summary.scalar("step", tf.cast(step, tf.float32))
        session.run(v1.global_variables_initializer())
        session.run(summary.summary_writer_initializer_op())
        decisions = []
        for i in range(5):
            session.run(step.assign(i))
            decisions.append(bool(session.run([asked, summary.all_summary_ops()])[0]))
        session.run(summary.flush(writer))
    assert decisions == [True, False, True, False, True]
    assert scalars(tmp_path) == [(0, "step", 0), (2, "step", 2), (4, "step", 4)]


def test_import_event(tmp_path):
    value = v1.Summary.Value(tag="old", simple_value=4)
    event = v1.Event(step=9, summary=v1.Summary(value=[value]))
    with tf.Graph().as_default(), v1.Session() as session:
        with summary.create_file_writer(str(tmp_path)).as_default() as writer:
            imported = summary.import_event(tf.constant(event.SerializeToString()))
        session.run(summary.summary_writer_initializer_op())
        session.run(imported)
        session.run(summary.flush(writer))
    assert scalars(tmp_path) == [(9, "old", 4.0)]


def test_eval_dir():
    assert summary.eval_dir("runs") == "runs/eval"
    assert summary.eval_dir("runs", "dev") == "runs/eval_dev"


def test_what_is_missing_says_what_to_use():
    with pytest.raises(AttributeError, match=r"tf.contrib.summary.create_db_writer .*create_file"):
        _ = summary.create_db_writer


def numbers(params):
    data = tf.data.Dataset.from_tensor_slices(np.arange(32, dtype=np.float32))
    return data.batch(params["batch_size"], drop_remainder=True)


def resnet_like(every, folder):
    """The host_call of resnet_main.py and its many copies."""

    def model_fn(features, labels, mode, params):
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean(features * weight)
        step = v1.train.get_global_step()
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.0))
        train_op = optimizer.minimize(loss, step)

        def host_call_fn(gs, loss):
            gs = gs[0]
            writer = summary.create_file_writer(str(folder), max_queue=1)
            recorded = summary.always_record_summaries()
            if every > 1:
                recorded = summary.record_summaries_every_n_global_steps(every, global_step=gs)
            with writer.as_default(), recorded:
                summary.scalar("loss", tf.reduce_mean(loss), step=gs)
                summary.scalar("no_step_given", 1.0)
                return summary.all_summary_ops()

        host_call = (host_call_fn, [tf.reshape(step, [1]), tf.reshape(loss, [1])])
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, host_call=host_call)

    return model_fn


@pytest.mark.parametrize(("cores", "every"), [(0, 1), (1, 2), (2, 1), (2, 2)])
def test_host_call(cores, every, tmp_path):
    config = eb.tpu.RunConfig(
        master=f"emulated:{cores or 1}",
        model_dir=str(tmp_path / "model"),
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=2),
    )
    model_fn = resnet_like(every, tmp_path / "host")
    estimator = eb.tpu.TPUEstimator(
        model_fn, config=config, train_batch_size=4, use_tpu=bool(cores)
    )
    estimator.train(numbers, steps=5)
    got = scalars(tmp_path / "host")
    means = np.arange(20).reshape(5, 4).mean(axis=1)
    expected = [(i, "loss", means[i]) for i in range(5) if i % every == 0]
    assert [g for g in got if g[1] == "loss"] == expected
    assert len([g for g in got if g[1] == "no_step_given"]) == len(expected)
