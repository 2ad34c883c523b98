"""tf.contrib.factorization: what its estimators refuse, and how they end.

contrib_goldens has what TensorFlow 1.15.5 computes for them.
"""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge_contrib import factorization, learn

v1 = tf.compat.v1
MATRIX = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]], np.float32)


def sparse(matrix):
    indices = np.argwhere(matrix)
    return tf.SparseTensor(indices, matrix[tuple(indices.T)], matrix.shape)


def matrix_input():
    return {"input_rows": sparse(MATRIX), "input_cols": sparse(MATRIX.T)}, None


def test_training_stops_after_the_sweeps(tmp_path):
    config = learn.RunConfig(model_dir=str(tmp_path), tf_random_seed=1)
    estimator = factorization.WALSMatrixFactorization(2, 3, 2, max_sweeps=3, config=config)
    estimator.fit(input_fn=matrix_input, steps=50)
    assert estimator.get_variable_value("completed_sweeps") == 3
    assert estimator.get_variable_value("global_step") == 3


def test_predictions_of_constant_points_end(tmp_path):
    points = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]], np.float32)
    mixture = factorization.GMM(2, str(tmp_path), initial_clusters=points[[0, 2]])
    mixture.fit(input_fn=lambda: (tf.constant(points), None), steps=2)
    assigned = list(mixture.predict_assignments(lambda: (tf.constant(points), None)))
    assert assigned == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"row_weights": None}, "Give both row_weights and col_weights"),
        ({"row_weights": "all"}, "row_weights needs a list for each of 1 shards"),
        ({"col_weights": -1}, "Invalid weight initialization argument"),
        ({"row_init": [1, 2]}, "The first row_factors need a value for each of 1 shards. Got 2"),
    ],
)
def test_wals_refuses(options, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        factorization.WALSModel(2, 3, 2, **options)


def test_wals_needs_a_sparse_matrix():
    with tf.Graph().as_default():
        model = factorization.WALSModel(2, 3, 2)
        with pytest.raises(TypeError, match="must be a SparseTensor"):
            model.update_row_factors(tf.constant(MATRIX))


def test_a_mixture_refuses():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Use 'full' or 'diag'"):
        factorization.gmm(tf.zeros([2, 2]), "random", 2, 0, covariance_type="tied")
