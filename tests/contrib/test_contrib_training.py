"""tf.contrib.training without HParams: train operations, evaluation, sampling, in v1 sessions."""

from __future__ import annotations

import numpy as np
import pytest

from estimator_bridge_contrib import training

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(1)
        yield graph


def values(*fetches):
    with v1.Session() as session:
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        return session.run(list(fetches))


def test_clip_gradient_norms_is_for_each_gradient():
    a, b = tf.constant([3.0, 4.0]), tf.constant([0.3, 0.4])
    rows = tf.IndexedSlices(tf.constant([[6.0, 8.0]]), tf.constant([1]), tf.constant([2, 2]))
    pairs = [(a, "a"), (b, "b"), (None, "none"), (rows, "rows")]
    clipped = training.clip_gradient_norms_fn(2.0)(pairs)
    assert [name for _, name in clipped] == ["a", "b", "none", "rows"]
    assert clipped[2][0] is None
    got = values(clipped[0][0], clipped[1][0], clipped[3][0].values)
    np.testing.assert_allclose(got[0], [1.2, 1.6], rtol=1e-6)
    np.testing.assert_allclose(got[1], [0.3, 0.4], rtol=1e-6)
    np.testing.assert_allclose(got[2], [[1.2, 1.6]], rtol=1e-6)


def test_multiply_gradients_by_variable_or_name():
    a, b, c = (v1.get_variable(name, initializer=[1.0]) for name in "abc")
    pairs = [(tf.constant([3.0]), v) for v in (a, b, c)]
    multiplied = training.multiply_gradients(pairs, {"a": 2, b: 3})
    np.testing.assert_allclose(np.ravel(values(*(g for g, _ in multiplied))), [6, 9, 3])
    with pytest.raises(ValueError, match="must be a list"):
        training.multiply_gradients(tuple(pairs), {"a": 2})
    with pytest.raises(ValueError, match="is empty"):
        training.multiply_gradients(pairs, {})
    with pytest.raises(ValueError, match=r"multiple of `None` gradient.*on a"):
        training.multiply_gradients([(None, a)], {"a": 2})


def test_create_train_op_trains_updates_and_returns_the_loss_before():
    weight = v1.get_variable("w", initializer=[2.0, -1.0])
    frozen = v1.get_variable("frozen", initializer=[5.0], trainable=False)
    moving = v1.get_variable("moving", initializer=0.0, trainable=False)
    v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_add(moving, 1.0))
    loss = tf.reduce_sum(tf.square(weight))
    train_op = training.create_train_op(
        loss,
        v1.train.GradientDescentOptimizer(0.5),
        transform_grads_fn=training.clip_gradient_norms_fn(1.0),
        summarize_gradients=True,
    )
    tags = [v1.Summary.FromString(s).value[0].tag for s in values(v1.summary.merge_all())]
    assert tags == ["summarize_grads/w_gradient"]
    assert v1.get_collection(v1.GraphKeys.TRAIN_OP)[-1] is train_op
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        assert session.run(train_op) == 5.0
        gradient = np.array([4.0, -2.0])
        expected = np.array([2.0, -1.0]) - 0.5 * gradient / np.linalg.norm(gradient)
        np.testing.assert_allclose(session.run(weight), expected, rtol=1e-6)
        assert session.run([moving, v1.train.get_global_step()]) == [1.0, 1]
    with pytest.raises(ValueError, match="not trainable: \\['frozen'\\]"):
        training.create_train_op(
            loss, v1.train.GradientDescentOptimizer(0.5), variables_to_train=[frozen]
        )


def test_create_train_op_checks_the_loss():
    weight = v1.get_variable("w", initializer=0.0)
    loss = tf.math.log(weight)
    train_op = training.create_train_op(
        loss, v1.train.GradientDescentOptimizer(0.5), global_step=None
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
        values(train_op)
    assert v1.train.get_global_step() is None


def test_train_writes_checkpoints_and_ends_by_its_hook(tmp_path):
    weight = v1.get_variable("w", initializer=8.0)
    train_op = training.create_train_op(tf.square(weight), v1.train.GradientDescentOptimizer(0.25))
    loss = training.train(train_op, str(tmp_path), hooks=[v1.train.StopAtStepHook(num_steps=3)])
    assert loss == 4.0  # w halves with each step: 8, 4, 2
    assert tf.train.load_variable(str(tmp_path), "w") == 1.0
    with pytest.raises(ValueError, match="logdir cannot be None when save_summaries_steps"):
        training.train(train_op, None)


def saved(folder, *steps):
    """Checkpoints of a variable `w`, of these values."""
    weight = v1.get_variable("w", initializer=0.0)
    step = v1.train.get_or_create_global_step()
    saver = v1.train.Saver(max_to_keep=None)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for i in steps:
            session.run([v1.assign(weight, float(i)), v1.assign(step, i)])
            yield saver.save(session, str(folder / "model.ckpt"), global_step=i)


def test_evaluate_once_runs_n_batches_and_writes_summaries(tmp_path):
    (path,) = saved(tmp_path, 3)
    weight = v1.global_variables()[0]
    data = v1.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next()
    mean, update = v1.metrics.mean(tf.cast(data, tf.float32) * weight)
    v1.summary.scalar("metric", mean)
    final = training.evaluate_once(
        path,
        eval_ops=update,
        final_ops={"mean": mean},
        hooks=[
            training.StopAfterNEvalsHook(5),
            training.SummaryAtEndHook(str(tmp_path / "events")),
        ],
    )
    assert final == {"mean": 3 * 2.0}  # of 0 to 4
    (file,) = (tmp_path / "events").iterdir()
    events = [(e.step, v) for e in v1.train.summary_iterator(str(file)) for v in e.summary.value]
    assert [(step, v.tag, v.simple_value) for step, v in events] == [(3, "metric", 6.0)]


def test_evaluate_once_to_the_end_of_the_input(tmp_path):
    (path,) = saved(tmp_path, 1)
    data = v1.data.make_one_shot_iterator(tf.data.Dataset.range(4)).get_next()
    total, update = v1.metrics.mean(data)
    assert training.evaluate_once(path, eval_ops={"update": update}, final_ops=total) == 1.5


def test_evaluate_repeatedly_takes_each_new_checkpoint(tmp_path):
    paths = saved(tmp_path, 1, 2)
    next(paths)
    seen = []
    weight = v1.global_variables()[0]

    class Seen(v1.train.SessionRunHook):
        def end(self, session):
            seen.append(float(session.run(weight)))

    def more():
        return next(paths, None) is None  # the next checkpoint, or there are no more

    got = training.evaluate_repeatedly(
        str(tmp_path),
        final_ops=weight,
        eval_interval_secs=0,
        hooks=[Seen()],
        timeout=0,
        timeout_fn=more,
    )
    assert seen == [1.0, 2.0] and got == 2.0


def test_evaluate_repeatedly_stops_at_its_number(tmp_path):
    list(saved(tmp_path, 1))
    weight = v1.global_variables()[0]
    got = training.evaluate_repeatedly(
        str(tmp_path), final_ops=[weight], max_number_of_evaluations=1
    )
    assert got == [1.0]


def test_wait_for_new_checkpoint(tmp_path):
    wait = training.wait_for_new_checkpoint
    assert wait(str(tmp_path), seconds_to_sleep=0.01, timeout=0.02) is None
    first, second = saved(tmp_path, 1, 2)
    assert wait(str(tmp_path)) == second
    assert wait(str(tmp_path), first) == second
    assert wait(str(tmp_path), second, seconds_to_sleep=0.01, timeout=0.02) is None
    assert list(training.checkpoints_iterator(str(tmp_path), timeout=0)) == [second]


def test_resample_at_rate_follows_the_poisson_distribution():
    rates = np.repeat(np.float32([0.0, 1.0, 3.0]), 3000)
    sampled, again = values(*training.resample_at_rate([rates, -rates], tf.constant(rates)))
    np.testing.assert_array_equal(sampled, -again)
    counts = [np.sum(sampled == rate) / 3000 for rate in (0.0, 1.0, 3.0)]
    np.testing.assert_allclose(counts, [0, 1, 3], atol=0.15)  # 5 standard errors: 0.09, 0.16


def test_weighted_resample_normalizes_by_the_mean_weight():
    weights = tf.constant(np.repeat(np.float32([1.0, 3.0]), 4000))
    (sampled,), rates = training.weighted_resample([weights], weights, overall_rate=0.5)
    sampled, rates = values(sampled, rates)
    np.testing.assert_allclose(rates, sampled / 2 * 0.5, rtol=1e-4)  # the mean weight is 2
    np.testing.assert_allclose(len(sampled) / 8000, 0.5, atol=0.05)


def queued(fetches, batches):
    with v1.Session() as session:
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        got = [session.run(fetches) for _ in range(batches)]
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    return got


def examples(count):
    return v1.data.make_one_shot_iterator(tf.data.Dataset.range(count).repeat()).get_next()


def test_rejection_sample():
    number = examples(10)
    batch = training.rejection_sample(
        [number], lambda x: tf.where(x[0] < 4, 1.0, 0.0), 8, runtime_checks=True
    )
    assert batch[0].shape == [8]
    assert [b.tolist() for (b,) in queued(batch, 2)] == [[0, 1, 2, 3, 0, 1, 2, 3]] * 2


@pytest.mark.parametrize("has_init_probs", [True, False])
def test_stratified_sample_has_the_target_shares(has_init_probs):
    number = examples(10)
    label = tf.cast(number >= 8, tf.int32)  # classes 0 and 1 at 0.8 and 0.2
    (data,), labels = training.stratified_sample(
        [number], label, [0.5, 0.5], 40, init_probs=[0.8, 0.2] if has_init_probs else None
    )
    got = queued([data, labels], 25)
    data, labels = (np.concatenate(part) for part in zip(*got))
    np.testing.assert_array_equal(labels, data >= 8)
    np.testing.assert_allclose(labels.mean(), 0.5, atol=0.08)  # 5 standard errors


def test_stratified_sample_refuses_the_impossible():
    (data,), labels = training.stratified_sample(
        [tf.constant(1.0)], tf.constant(0), [0.5, 0.5], 4, init_probs=[1.0, 0.0]
    )
    del data
    with pytest.raises(tf.errors.OutOfRangeError):  # the queue's thread failed, and closed it
        queued(labels, 1)
    with pytest.raises(ValueError, match="must have the same length"):
        training.stratified_sample([1.0], 0, [0.5, 0.5], 4, init_probs=[1.0])


def test_placement():
    deal = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
    sizes = [(100,), (10,), (10,), (100,), (1,)]
    ops = [v1.get_variable(f"v{i}", shape).op for i, shape in enumerate(sizes)]
    assert [deal(op) for op in ops] == [0, 1, 1, 1, 0]
    spread = training.RandomStrategy(3)
    assert [spread(op) for op in ops] == [training.RandomStrategy(3)(op) for op in ops]
    assert {spread(op) for op in ops} <= {0, 1, 2}
    with pytest.raises(ValueError, match="must have a single output"):
        training.byte_size_load_fn(tf.no_op())


@pytest.mark.parametrize("name", ["Tuner"])
def test_what_is_missing_says_what_to_use(name):
    with pytest.raises(AttributeError, match=f"tf.contrib.training.{name} .*Use "):
        getattr(training, name)
