"""tf.contrib.eager.Network in programs of today: training, estimators, and what a checkpoint keeps.

The recorded cases of test_contrib_goldens.py have the names and the values of 1.15.5.
"""

import gc
import weakref

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge_contrib import eager

v1 = tf.compat.v1


class TwoLayers(eager.Network):
    """Two dense layers."""

    def __init__(self, name=None):
        super().__init__(name=name)
        self.hidden = self.track_layer(v1.layers.Dense(3, activation=tf.nn.relu))
        self.scores = self.track_layer(v1.layers.Dense(1))

    def call(self, x):
        return self.scores(self.hidden(x))


@pytest.fixture(autouse=True)
def names_from_the_start():
    """Names are numbered in a graph, which all eager code of a process shares."""
    with tf.Graph().as_default(), eager_mode():
        yield


def batch():
    x = np.float32([[0, 1], [1, 0], [1, 1], [0, 0]])
    return x, x.sum(axis=1, keepdims=True)


def test_training_with_a_tape_lowers_the_loss():
    network = TwoLayers("trained")
    x, y = batch()
    optimizer, losses = v1.train.AdamOptimizer(0.05), []
    for _ in range(30):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(network(tf.constant(x)) - y))
        variables = network.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        losses.append(float(loss))
    assert losses[-1] < losses[0] / 2
    assert [each.name for each in variables] == [
        f"trained/{layer}/{kind}:0" for layer in ("dense", "dense_1") for kind in ("kernel", "bias")
    ]


def test_an_estimator_trains_a_network_and_its_checkpoint_has_the_names(tmp_path):
    def model_fn(features, labels, mode):
        network = TwoLayers()
        loss = tf.reduce_mean(tf.square(network(features) - labels))
        step = v1.train.get_or_create_global_step()
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = eb.Estimator(model_fn, str(tmp_path), config=eb.RunConfig(tf_random_seed=1))
    estimator.train(lambda: tf.data.Dataset.from_tensors(batch()).repeat(), steps=3)
    assert estimator.evaluate(lambda: tf.data.Dataset.from_tensors(batch()))["global_step"] == 3
    assert {"two_layers/dense/kernel", "two_layers/dense_1/bias"} < set(
        estimator.get_variable_names()
    )


def test_a_new_network_starts_from_a_checkpoint_and_goes_when_it_is_let_go(tmp_path):
    x = tf.constant(batch()[0])
    network = TwoLayers("first")
    expected = network(x).numpy()
    path = eager.save_network_checkpoint(network, str(tmp_path / "model"))
    again = TwoLayers("second")
    eager.restore_network_checkpoint(again, path)
    np.testing.assert_array_equal(again(x), expected)
    gone = [weakref.ref(each) for each in (network, again, again.hidden)]
    del network, again
    gc.collect()
    assert [each() for each in gone] == [None] * 3


def test_a_graph_without_a_session_says_so(tmp_path):
    with tf.Graph().as_default():
        network = TwoLayers()
        network(tf.constant(batch()[0]))
        with pytest.raises(ValueError, match="save_network_checkpoint needs a default session"):
            eager.save_network_checkpoint(network, str(tmp_path / "model"))


def test_errors_say_what_to_do():
    network = TwoLayers("network")
    with pytest.raises(ValueError, match=r"No such layer: other. The network has: dense, dense_1"):
        network.get_layer("other")
    with pytest.raises(TypeError, match=r"Layers of tf.keras.layers belong in a tf.keras.Model"):
        network.track_layer(tf.keras.layers.Dense(1))
    with pytest.raises(AttributeError, match="set trainable of its layers"):
        network.trainable = False
    with pytest.raises(ValueError, match="call the network 'network' without scope="):
        network(tf.constant(batch()[0]), scope="other")


def test_a_checkpoint_that_lacks_a_variable_names_it(tmp_path):
    variable = tf.Variable([1.0], name="kept")
    path = eager.Saver([variable]).save(str(tmp_path / "model"))
    with (
        pytest.raises(tf.errors.NotFoundError, match=r"other not found in .* It has: kept"),
        eager.restore_variables_on_create(path),
    ):
        tf.Variable([2.0], name="other")
    assert float(tf.Variable(3.0, name="other")) == 3.0
