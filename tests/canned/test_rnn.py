"""RNN estimators: mistakes, cells, optimizers, and combinations of arguments."""

from __future__ import annotations

import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.canned.rnn_network import rnn_layer
from estimator_bridge.heads import SequentialHeadWrapper

fc, v1 = tf.feature_column, tf.compat.v1
COLUMNS = [fc.sequence_numeric_column("x")]
CONTEXT = [fc.numeric_column("c")]
Classifier, Estimator = eb.experimental.RNNClassifier, eb.experimental.RNNEstimator


def sequences():
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])


def rows():
    features = sequences()
    return tf.data.Dataset.from_tensors(({"x": features, "c": [[1.0], [2.0]]}, [[0], [1]])).repeat(
        3
    )


@pytest.mark.parametrize("arguments", [{"units": [3]}, {"cell_type": "lstm"}])
def test_cells_are_described_in_one_way(arguments):
    with pytest.raises(ValueError, match="units and cell_type must not be specified when using rn"):
        Classifier(COLUMNS, rnn_cell_fn=lambda: None, **arguments)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"units": [3], "cell_type": "cnn"}, "`cell_type` should be a class .*'lstm'.*Got: 'cnn'"),
        ({"units": [3], "cell_type": lambda units: object()}, "should have a `call` and `state_s"),
        ({}, "units must be a list of the RNN cells"),
        ({"units": 3}, "units must be a list .*got 3"),
    ],
)
def test_cells_that_are_none(arguments, match):
    estimator = Classifier(COLUMNS, **arguments)
    with pytest.raises(ValueError, match=match):
        estimator.train(rows)


def test_each_step_needs_a_head_of_sequences():
    with pytest.raises(
        ValueError, match=r"must be a `_SequentialHead` object.*Got a BinaryClassHea"
    ):
        Estimator(eb.BinaryClassHead(), COLUMNS, units=[2], return_sequences=True)


def test_v1_optimizers_are_refused():
    estimator = Classifier(COLUMNS, units=[2], optimizer=v1.train.AdamOptimizer())
    with pytest.raises(ValueError, match=r"is not a tf.keras.optimizers.Optimizer instance"):
        estimator.train(rows)


def test_a_number_of_units_makes_a_layer_of_keras():
    layers = tf.keras.layers
    for kind, layer in [("lstm", layers.LSTM), ("gru", layers.GRU), ("simple_rnn", None)]:
        assert isinstance(rnn_layer(None, 3, kind, False), layer or layers.SimpleRNN)
        assert type(rnn_layer(None, [3], kind, False)) is layers.RNN
    stacked = rnn_layer(None, [3, 2], layers.LSTMCell, True)
    assert [cell.units for cell in stacked.cell.cells] == [3, 2]
    assert stacked.return_sequences


def test_a_network_may_be_trained_by_an_optimizer_of_keras_three_times(tmp_path):
    optimizers = [lambda: tf.keras.optimizers.Adam(0.1), "RMSProp", "SGD"]
    for number, optimizer in enumerate(optimizers):
        estimator = Classifier(
            COLUMNS, CONTEXT, [2], "gru", optimizer=optimizer, model_dir=str(tmp_path / str(number))
        )
        estimator.train(rows)
        assert estimator.get_variable_value("global_step") == 3
        assert estimator.evaluate(rows)["loss"] > 0


def test_a_mask_of_the_features_counts(tmp_path):
    head = SequentialHeadWrapper(eb.RegressionHead(), "mask")
    estimator = Estimator(head, COLUMNS, units=[2], return_sequences=True, model_dir=str(tmp_path))

    def masked(mask):
        def input_fn():
            labels = tf.constant([[[1.0], [2.0]], [[3.0], [0.0]]])
            return tf.data.Dataset.from_tensors(({"x": sequences(), "mask": mask}, labels))

        return input_fn

    estimator.train(masked([[True, True], [True, False]]), steps=1)
    first = estimator.evaluate(masked([[True, False], [False, False]]))
    whole = estimator.evaluate(masked([[True, True], [True, False]]))
    assert first["label/mean"] == pytest.approx(1.0)
    assert whole["label/mean"] == pytest.approx(2.0)
    predictions = list(estimator.predict(masked([[True, True], [True, False]])))
    assert predictions[1]["mask"].tolist() == [True, False]
    assert predictions[1]["predictions"].shape == (2, 1)


def test_sequences_of_unknown_length_with_v1_shapes(tmp_path):
    """Then a shape has Dimensions, also for what is unknown."""

    def unknown():
        rows = tf.data.Dataset.from_tensor_slices(({"x": sequences()}, [[0], [1]]))
        return rows.repeat(3).batch(2)

    v1.disable_v2_tensorshape()
    try:
        estimator = Classifier(COLUMNS, units=[2], model_dir=tmp_path)
        estimator.train(unknown)
    finally:
        v1.enable_v2_tensorshape()
    assert estimator.get_variable_value("global_step") == 3
