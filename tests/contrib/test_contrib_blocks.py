"""Layers and metrics of tf.contrib that keep state or have gradients of their own."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import checkpoint, feature_column, layers, metrics, opt, rnn

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
RANDOM = np.random.RandomState(5)
X = RANDOM.normal(size=(12, 8)).astype(np.float32)
Y = (RANDOM.rand(12) < 0.5).astype(np.int64)


def halves(features):
    return tf.split(features, 2, axis=1)


def part(inputs):
    outputs = v1.layers.dense(inputs, 4, tf.tanh, kernel_initializer=_kernel())
    return layers.gdn(outputs[:, None])[:, 0]


def _kernel():
    return v1.random_normal_initializer(seed=3, stddev=0.5)


def network(features, is_training):
    """Reversible layers, and a head that is computed again for its gradient."""

    def g(inputs):
        return v1.layers.dense(inputs, 4, tf.tanh, kernel_initializer=_kernel())

    both = layers.rev_block(*halves(features), part, g, num_layers=2, is_training=is_training)

    def head(one, two):
        hidden = v1.layers.dense(tf.concat([one, two], 1), 5, tf.tanh, kernel_initializer=_kernel())
        return v1.layers.dense(hidden, 1, kernel_initializer=_kernel())

    with v1.variable_scope("head", use_resource=True):
        return (layers.recompute_grad(head) if is_training else head)(*both)


def model_fn(features, labels, mode):
    training = mode == "train"
    logits = network(features, training)
    predicted = tf.sigmoid(logits[:, 0])
    loss = tf.reduce_mean(tf.square(predicted - tf.cast(labels, tf.float32)))
    step = v1.train.get_or_create_global_step()
    optimizer = opt.ShampooOptimizer(step, learning_rate=0.1, epsilon=0.1, svd_interval=2)
    interval, update = metrics.auc_with_confidence_intervals(labels, predicted)
    return eb.EstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, step) if training else None,
        eval_metric_ops={
            "auc": metrics.streaming_dynamic_auc(labels, predicted),
            "upper": (interval.upper, update),
            "histogram": metrics.auc_using_histogram(labels > 0, predicted, [0.0, 1.0], 50),
            "kappa": metrics.cohen_kappa(labels, tf.cast(predicted > 0.5, tf.int64), 2),
        },
    )


@pytest.fixture(scope="module")
def estimator(tmp_path_factory):
    config = eb.RunConfig(tf_random_seed=1)
    trained = eb.Estimator(model_fn, str(tmp_path_factory.mktemp("blocks")), config)
    trained.train(batches, steps=4)
    return trained


def batches():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(6).repeat(2)


def test_an_estimator_trains_as_a_session_without_these_gradients(estimator):
    """The same numbers, with gradients of TensorFlow and all activations kept."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)  # that of the estimator
        features, labels = v1.placeholder(tf.float32, [6, 8]), v1.placeholder(tf.int64, [6])
        predicted = tf.sigmoid(network(features, is_training=False)[:, 0])
        loss = tf.reduce_mean(tf.square(predicted - tf.cast(labels, tf.float32)))
        step = v1.train.get_or_create_global_step()
        optimizer = opt.ShampooOptimizer(step, learning_rate=0.1, epsilon=0.1, svd_interval=2)
        train_op = optimizer.minimize(loss, step)
        session.run(v1.global_variables_initializer())
        for number in range(4):
            rows = slice(0, 6) if number % 2 == 0 else slice(6, 12)
            session.run(train_op, {features: X[rows], labels: Y[rows]})
        trained = {each.op.name: session.run(each) for each in v1.trainable_variables()}
    assert trained.keys() <= set(estimator.get_variable_names())
    for name, value in trained.items():
        got = estimator.get_variable_value(name)
        np.testing.assert_allclose(got, value, rtol=2e-3, atol=2e-4, err_msg=name)


def test_metrics_in_an_evaluation(estimator):
    results = estimator.evaluate(lambda: tf.data.Dataset.from_tensor_slices((X, Y)).batch(5))
    scores = 1 / (1 + np.exp(-_logits(estimator)))
    pairs = [(p, n) for p in scores[Y == 1] for n in scores[Y == 0]]
    area = np.mean([(p > n) + 0.5 * (p == n) for p, n in pairs])
    assert results["auc"] == pytest.approx(area, abs=1e-5)
    assert results["histogram"] == pytest.approx(area, abs=0.15)
    assert area <= results["upper"] <= 1
    guess = (scores > 0.5).astype(np.int64)
    agreed = np.mean(guess == Y)
    chance = np.mean(guess) * np.mean(Y) + (1 - np.mean(guess)) * (1 - np.mean(Y))
    assert results["kappa"] == pytest.approx((agreed - chance) / (1 - chance), abs=1e-5)


def _logits(estimator):
    with tf.Graph().as_default(), v1.Session() as session:
        logits = network(tf.constant(X), is_training=False)
        v1.train.Saver(v1.trainable_variables()).restore(session, estimator.latest_checkpoint())
        return session.run(logits)[:, 0]


def test_a_second_block_and_its_gradient_leave_names_as_they_are():
    """Computing a gradient calls the functions again; later variables keep their names."""
    with tf.Graph().as_default():
        x = tf.constant(X)

        def f(inputs):
            return v1.layers.dense(inputs, 4)

        with v1.variable_scope("own"):
            first = layers.rev_block(*halves(x), f, f)
        tf.gradients(first, [x, *v1.trainable_variables()])
        with v1.variable_scope("own", reuse=True):
            layers.rev_block(*halves(x), f, f)
        assert len(v1.trainable_variables()) == 4
        layers.rev_block(*halves(x), f, f)
        assert v1.trainable_variables()[-1].op.name == "revblock/revlayer_0/g/dense/bias"


def test_as_many_functions_as_layers():
    with pytest.raises(ValueError, match=r"f is a list of 1 functions, num_layers is 2"):
        layers.rev_block(tf.zeros([2, 2]), tf.zeros([2, 2]), [tf.tanh], tf.tanh, num_layers=2)


def test_a_recomputed_function_in_the_scope_of_its_gradient():
    with tf.Graph().as_default(), v1.variable_scope("own", use_resource=True):
        x = tf.constant(X)
        y = layers.recompute_grad(lambda inputs: v1.layers.dense(inputs, 2))(x)
        with pytest.raises(ValueError, match=r"Compute gradients outside of that scope"):
            tf.gradients(y, x)


def test_labels_that_are_no_classes():
    """The check stays when constants are not folded, and the graph is optimized otherwise."""
    config = v1.ConfigProto()
    config.graph_options.rewrite_options.constant_folding = 2  # off
    with tf.Graph().as_default(), v1.Session(config=config) as session:
        _, update = metrics.streaming_dynamic_auc(tf.constant([0, 2]), tf.constant([0.1, 0.2]))
        session.run(v1.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"at least one is >1"):
            session.run(update)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_size": None, "num_frequency_blocks": [1]}, "feature_size and frequency_skip"),
        ({"feature_size": 3, "num_frequency_blocks": [5]}, r"is 5, but 6 slices of 3, 1 apart"),
        ({"num_frequency_blocks": None}, "Must specify num_frequency_blocks"),
        ({"feature_size": 8, "num_frequency_blocks": [1], "num_unit_shards": 99}, "Too many"),
    ],
)
def test_slices_that_do_not_fit(options, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        cell = rnn.GridLSTMCell(4, frequency_skip=1, **options)
        cell(tf.constant(X), cell.zero_state(12, tf.float32))


def test_arrays_are_restored_and_other_objects_refused(tmp_path):
    state = checkpoint.NumpyState()
    state.x = np.arange(4.0)
    with pytest.raises(NotImplementedError, match=r"the y property .*np.asarray"):
        state.y = 3
    path = tf.train.Checkpoint(numpy=state).save(str(tmp_path / "kept"))
    state.x[0] = 9.0
    tf.train.Checkpoint(numpy=state).restore(path)
    assert state.x.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert 'label="x"' in checkpoint.dot_graph_from_checkpoint(path)


def test_parts_that_are_not_filled_in(tmp_path):
    parts = checkpoint.split_dependency(("a",), (tf.float32,), lambda buffer: None, None, "")
    with pytest.raises(ValueError, match=r"without 'a'. It must set each of component_names"):
        tf.train.Checkpoint(part=parts["a"]).save(str(tmp_path / "kept"))
    with pytest.raises(ValueError, match=r"Give each part a type"):
        checkpoint.split_dependency(("a", "b"), (tf.float32,), None, None, "")


def test_columns_with_one_name():
    column = feature_column.sequence_numeric_column("x")
    with pytest.raises(ValueError, match=r"names of their own, got \['x', 'x'\]"):
        feature_column.sequence_input_layer({}, [column, column])
