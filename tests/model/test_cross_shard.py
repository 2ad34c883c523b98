import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from running import BATCH, STEPS, X, Y, assert_same, linear, squared, train

from estimator_bridge.graph import trace_graph
from estimator_bridge.model import CrossShardOptimizer, TPUEstimatorSpec, cross_replica_sum

v1 = tf.compat.v1
SUM = v1.losses.Reduction.SUM


def model_fn_of(optimizer, scale=1.0):
    def model_fn(features, labels, mode, params, config):
        loss = scale * squared(labels, linear(features))
        train_op = optimizer().minimize(loss, v1.train.get_global_step())
        return TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def momentum():
    return v1.train.MomentumOptimizer(0.01, 0.9)


def _sums(graph):
    return [op for op in graph.get_operations() if op.type == "CrossReplicaSum"]


def test_it_does_what_tensorflows_own_does():
    _, expected = train(model_fn_of(lambda: v1.tpu.CrossShardOptimizer(momentum())), X, Y, STEPS, 2)
    _, got = train(model_fn_of(lambda: CrossShardOptimizer(momentum())), X, Y, STEPS, 2)
    assert_same(got, expected, 0)


def test_sum_adds_the_replicas_losses():
    _, expected = train(model_fn_of(lambda: CrossShardOptimizer(momentum())), X, Y, STEPS, 2)
    halved = model_fn_of(lambda: CrossShardOptimizer(momentum(), reduction=SUM), scale=0.5)
    _, got = train(halved, X, Y, STEPS, 2)
    assert_same(got, expected)


def test_groups_share_their_gradients():
    every = model_fn_of(lambda: CrossShardOptimizer(momentum(), group_assignment=[[0, 1]]))
    _, expected = train(model_fn_of(lambda: CrossShardOptimizer(momentum())), X, Y, STEPS, 2)
    assert_same(train(every, X, Y, STEPS, 2)[1], expected)
    alone = model_fn_of(lambda: CrossShardOptimizer(momentum(), group_assignment=[[0], [1]]))
    _, expected = train(model_fn_of(momentum), X[:, : BATCH // 2], Y[:, : BATCH // 2], STEPS)
    assert_same(train(alone, X, Y, STEPS, 2)[1], expected)  # the first replica's


def test_without_a_tpu_it_is_the_optimizer_itself():
    _, expected = train(model_fn_of(momentum), X, Y, STEPS)
    _, got = train(model_fn_of(lambda: CrossShardOptimizer(momentum())), X, Y, STEPS)
    assert_same(got, expected, 0)
    with tf.Graph().as_default() as graph:
        x = v1.get_variable("x", [])
        CrossShardOptimizer(momentum()).minimize(x)
        assert not _sums(graph)


def test_each_gradient_is_summed_once():
    with trace_graph(shards=4) as graph:
        a, b, c = (v1.get_variable(name, [2]) for name in "abc")
        optimizer = CrossShardOptimizer(momentum())
        pairs = optimizer.compute_gradients(tf.reduce_sum(a * b), [a, b, c])
        assert [pair[0] is None for pair in pairs] == [False, False, True]
        assert not _sums(graph)  # so that a model can clip its own gradients
        optimizer.apply_gradients(pairs)
        assert len(_sums(graph)) == 2
        assert optimizer.get_slot_names() == ["momentum"]
        assert optimizer.get_slot(a, "momentum").op.name == "a/Momentum"
        assert len(optimizer.variables()) == 2


def test_gradients_of_an_embedding_are_summed_as_a_whole():
    with trace_graph(shards=2) as graph:
        table = v1.get_variable("table", [5, 2])
        loss = tf.reduce_sum(tf.gather(table, [1, 1]))
        CrossShardOptimizer(momentum()).minimize(loss)
        assert [op.inputs[0].shape.as_list() for op in _sums(graph)] == [[5, 2]]


@pytest.mark.parametrize("legacy", [True, False])
def test_slots_of_keras_optimizers(legacy):
    kind = tf_keras.optimizers.legacy.SGD if legacy else tf_keras.optimizers.SGD
    with trace_graph(shards=2):
        a = v1.get_variable("a", [2])
        optimizer = CrossShardOptimizer(kind(0.1, momentum=0.9))
        optimizer.minimize(tf.reduce_sum(a), v1.train.get_or_create_global_step())
        assert optimizer.get_slot_names() == (["momentum"] if legacy else [])
        assert (optimizer.get_slot(a, "momentum") is not None) == legacy
        shapes = [variable.shape.as_list() for variable in optimizer.variables()]
        assert [2] in shapes


def test_what_it_cannot_wrap_is_named():
    with pytest.raises(ValueError, match=r"one of \('weighted_sum', 'weighted_mean'\).*'none'"):
        CrossShardOptimizer(momentum(), reduction="none")
    with pytest.raises(TypeError, match=r"got builtins.float: 0.1"):
        CrossShardOptimizer(0.1)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([0, 1], "must be a list of lists"),
        ([[0], [2]], r"must be a permutation of range\(2\)"),
        ([[0, 1], [1]], r"must be a permutation of range\(2\)"),
        ([[0, 1], []], r"size of each subgroup .* must be equal.*\[2, 0\]"),
    ],
)
def test_groups_are_checked(groups, message):
    with trace_graph(shards=2):
        optimizer = CrossShardOptimizer(momentum(), group_assignment=groups)
        with pytest.raises(ValueError, match=message):
            optimizer.compute_gradients(v1.get_variable("x", []) * 1.0)


def test_a_value_summed_over_the_replicas():
    def model_fn(features, labels, mode, params, config):
        step = v1.train.get_global_step()
        total = v1.get_variable("total", [], initializer=v1.zeros_initializer(), trainable=False)
        local = tf.reduce_sum(features)
        train_op = tf.group(
            total.assign(cross_replica_sum(local, name="add_up")), step.assign_add(1)
        )
        return TPUEstimatorSpec(mode, loss=local, train_op=train_op)

    for cores in (None, 1, 2):
        _, weights = train(model_fn, X, Y, 1, cores)
        np.testing.assert_allclose(weights["total"], X[0].sum(), rtol=1e-5)
