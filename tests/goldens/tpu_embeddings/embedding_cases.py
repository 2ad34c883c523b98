"""Models with TPU embedding columns, run with sparse ids by the original and by this library.

The original runs them with use_tpu=False: then the model's optimizer trains the tables. With plain
gradient descent at the same rate, the tables' own optimizer on cores makes the same updates.
"""

from __future__ import annotations

import tempfile

import numpy as np
import tensorflow as tf

__all__ = ["BATCH", "CASES", "RATE", "WORDS", "run_case"]

v1 = tf.compat.v1
WORDS, SIZE, BATCH, RATE = 7, 2, 4, 0.5
IDS = [[0, 3, 6], [5], [], [2, 2, 1, 4]]
OTHERS = [[1], [6, 6], [0, 1, 2], []]
# Places of words in sequences of up to four, the second of them with a gap.
SEQUENCES = [[(0, 1)], [(0, 5), (2, 6)], [], [(0, 2), (1, 2), (2, 3), (3, 4)]]


def sparse(rows, shift=0):
    """Returns the ids of each row, in the order of its columns."""
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = [(rows[i][j] + shift) % WORDS for i, j in places]
    shape = [len(rows), max(map(len, rows))]
    return tf.SparseTensor(np.int64(places), np.int64(values), shape)


def weights_of(rows, kind):
    """Returns weights with the places of ``sparse(rows)``; one of them is zero."""
    ids = sparse(rows)
    values = kind([1, 2, 0, 3, 1, 1, 4, 2])[: ids.values.shape[0]]
    return tf.SparseTensor(ids.indices, values, ids.dense_shape)


def steps(shift=0):
    """Returns sequences of words, whose gaps have no id."""
    places = [(i, j) for i, row in enumerate(SEQUENCES) for j, _ in row]
    values = [(word + shift) % WORDS for row in SEQUENCES for _, word in row]
    return tf.SparseTensor(np.int64(places), np.int64(values), [BATCH, 4])


def several_a_step():
    """Returns sequences with up to two words a step."""
    places = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 1], [3, 0, 0], [3, 2, 0], [3, 2, 1]]
    return tf.SparseTensor(np.int64(places), np.int64([1, 2, 3, 4, 5, 6, 0]), [BATCH, 4, 2])


def column(key="a", weights=None, sequence=0, dtype=np.float32, **options):
    make = tf.feature_column.categorical_column_with_identity
    if sequence:
        make = tf.feature_column.sequence_categorical_column_with_identity
        options["max_sequence_length"] = sequence
    ids = make(key, WORDS)
    if weights:
        ids = tf.feature_column.weighted_categorical_column(ids, weights, tf.as_dtype(dtype))
    return v1.tpu.experimental.embedding_column(ids, SIZE, initializer=start, **options)


def shared(**options):
    ids = [tf.feature_column.categorical_column_with_identity(key, WORDS) for key in "ab"]
    return v1.tpu.experimental.shared_embedding_columns(ids, SIZE, initializer=start, **options)


def start(shape, dtype=None, partition_info=None):
    return tf.reshape(tf.range(WORDS * SIZE, dtype=tf.float32), shape) / 10 - 0.3


def combined(combiner):
    return lambda: ([column(combiner=combiner)], {"a": sparse(IDS)})


def weighted(combiner, kind):
    return lambda: (
        [column(weights="w", dtype=kind, combiner=combiner)],
        {"a": sparse(IDS), "w": weights_of(IDS, kind)},
    )


# By name: the columns and the features of a batch.
CASES = {
    "sum": combined("sum"),
    "mean": combined("mean"),
    "sqrtn": combined("sqrtn"),
    "weighted sum": weighted("sum", np.float32),
    "weighted mean": weighted("mean", np.float32),
    "weighted sqrtn": weighted("sqrtn", np.float32),
    "whole weights": weighted("mean", np.int64),
    "shared": lambda: (shared(combiner="sum"), {"a": sparse(IDS), "b": sparse(OTHERS)}),
    "shared, one with sparse ids": lambda: (
        shared(combiner="mean"),
        {"a": sparse(IDS), "b": tf.sparse.to_dense(sparse(OTHERS), -1)},
    ),
    "sequence": lambda: ([column(sequence=4)], {"a": steps()}),
    "sequence, several words a step, sum": lambda: (
        [column(sequence=4, combiner="sum")],
        {"a": several_a_step()},
    ),
    "sequence, several words a step, mean": lambda: (
        [column(sequence=4, combiner="mean")],
        {"a": several_a_step()},
    ),
    "on a core": lambda: (
        [
            column(
                combiner="mean",
                embedding_lookup_device="tpu_tensor_core",
                tensor_core_shape=[None, 4],
            )
        ],
        {"a": sparse(IDS)},
    ),
}


def model_of(columns, library):
    """Returns a model_fn that learns the sum of a layer over what the columns find."""
    is_sequence = columns[0].is_sequence_column()

    def model_fn(features, labels, mode, params):
        if is_sequence:
            embedded, lengths = v1.keras.experimental.SequenceFeatures(columns)(features)
        else:
            embedded = v1.keras.layers.DenseFeatures(columns)(features)
            lengths = tf.zeros_like(embedded[:, 0], tf.int64)
        width = 4 * SIZE if is_sequence else SIZE * len(columns)
        embedded = tf.reshape(embedded, [-1, width])
        lengths = tf.reshape(lengths, [-1])
        kernel = tf.reshape(tf.range(width, dtype=tf.float32), [-1, 1]) / 4 - 0.4
        bias = v1.get_variable("bias", [], initializer=v1.zeros_initializer())
        y = tf.matmul(embedded, kernel) + bias
        if mode == library.estimator.ModeKeys.PREDICT:
            return library.estimator.tpu.TPUEstimatorSpec(
                mode, predictions={"found": embedded, "lengths": lengths}
            )
        loss = tf.reduce_mean(tf.square(y - labels))
        optimizer = v1.train.GradientDescentOptimizer(RATE)
        if params["use_tpu"]:
            optimizer = library.tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return library.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def run_case(name, library, parameters, cores=0):
    """Trains three steps, predicts, and evaluates.

    Args:
      name: a key of CASES.
      library: an object with the original's ``estimator`` and ``tpu`` of compat.v1.
      parameters: the optimizer of the tables on cores.
      cores: the number of emulated cores; 0 for use_tpu=False.

    Returns:
      A dict of lists: the trained table, the embeddings and lengths of the batch, the loss.
    """
    columns, _ = CASES[name]()

    def input_fn(params):
        labels = np.float32([[1], [2], [-1], [0]])
        rows = tf.data.Dataset.from_tensor_slices((CASES[name]()[1], labels))
        return rows.repeat(3).batch(params["batch_size"], drop_remainder=True)

    tpu = library.estimator.tpu
    estimator = tpu.TPUEstimator(
        model_of(columns, library),
        model_dir=tempfile.mkdtemp(),
        config=tpu.RunConfig(master=f"emulated:{cores}" if cores else ""),
        use_tpu=bool(cores),
        train_batch_size=BATCH,
        eval_batch_size=BATCH,
        predict_batch_size=BATCH,
        embedding_config_spec=tpu.experimental.EmbeddingConfigSpec(columns, parameters),
    )
    estimator.train(input_fn, steps=3)
    (table,) = [n for n in estimator.get_variable_names() if "embedding" in n]
    predictions = [each for each, _ in zip(estimator.predict(input_fn), range(BATCH))]
    return {
        "table": estimator.get_variable_value(table).tolist(),
        "found": [each["found"].tolist() for each in predictions],
        "lengths": [int(each["lengths"]) for each in predictions],
        "loss": float(estimator.evaluate(input_fn, steps=1)["loss"]),
        "name": table,
    }
