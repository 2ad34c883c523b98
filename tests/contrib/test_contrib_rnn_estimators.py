"""tf.contrib.estimator's recurrent estimators: heads of sequences, and any lengths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge.heads import MultiClassHead, SequentialHeadWrapper
from estimator_bridge_contrib import estimator as contrib
from estimator_bridge_contrib import feature_column as columns
from estimator_bridge_contrib.estimator.rnn_network import (
    make_rnn_cell_fn,
    rnn_logit_fn_builder,
)

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
PRICE = columns.sequence_numeric_column("price")


def sparse(rows):
    """The sequences of lists of numbers, padded to the longest."""
    places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [float(value) for row in rows for value in row]
    return tf.SparseTensor(places, values, [len(rows), max(map(len, rows))])


def by_hand(rows, kernel, bias, dense, constant):
    """The logits after the last step of each sequence, by NumPy."""
    outputs = []
    for row in rows:
        state = np.zeros(len(bias))
        for value in row:
            state = np.tanh(np.concatenate([[value], state]) @ kernel + bias)
        outputs.append(state @ dense + constant)
    return np.array(outputs)


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.lists(st.floats(-2, 2, width=32), min_size=1, max_size=4), min_size=1, max_size=4)
)
def test_the_last_step_of_each_sequence_counts(rows):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(2)
        logit_fn = rnn_logit_fn_builder(2, make_rnn_cell_fn([3]), [PRICE], [], None)
        logits, mask = logit_fn({"price": sparse(rows)}, "infer")
        session.run(v1.global_variables_initializer())
        got, lengths, weights = session.run([logits, mask, v1.trainable_variables()])
    np.testing.assert_allclose(got, by_hand(rows, *weights), rtol=1e-4, atol=1e-5)
    assert lengths.sum(axis=1).tolist() == [len(row) for row in rows]


def test_a_head_of_sequences_gets_each_step(tmp_path):
    head = SequentialHeadWrapper(MultiClassHead(3), "mask")
    sequences = contrib.RNNEstimator(
        head, [PRICE], num_units=[4], return_sequences=True, model_dir=str(tmp_path)
    )

    def input_fn():
        features = {"price": sparse([[1, 2, 3], [4]])}
        labels = tf.constant([[[0], [1], [2]], [[1], [0], [0]]])
        return tf.data.Dataset.from_tensors((features, labels)).repeat(40)

    first = sequences.train(input_fn, steps=1).evaluate(input_fn, steps=1)
    last = sequences.train(input_fn, steps=30).evaluate(input_fn, steps=1)
    assert last["loss"] < first["loss"]
    shown = next(sequences.predict(input_fn))
    assert shown["probabilities"].shape == (3, 3)
    assert shown["mask"].tolist() == [True, True, True]


def test_names_of_variables_are_those_of_1_15(tmp_path):
    def input_fn():
        return tf.data.Dataset.from_tensors(({"price": sparse([[1], [2]])}, [[1], [0]]))

    classifier = contrib.RNNClassifier(
        [PRICE], num_units=[3, 2], cell_type="gru", optimizer="SGD", model_dir=str(tmp_path)
    ).train(input_fn)
    cell = "rnn/rnn/multi_rnn_cell/cell_{}/gru_cell/{}/{}"
    assert set(classifier.get_variable_names()) == {
        "global_step",
        "rnn/logits/dense/bias",
        "rnn/logits/dense/kernel",
        *(
            cell.format(layer, part, kind)
            for layer in (0, 1)
            for part in ("candidate", "gates")
            for kind in ("bias", "kernel")
        ),
    }


@pytest.mark.parametrize("cell_type", ["other", dict, None])
def test_what_is_no_cell_is_refused(cell_type):
    error = TypeError if cell_type == "other" else ValueError
    with pytest.raises(error, match="Supported cell types are"):
        make_rnn_cell_fn([3], cell_type)("train")
