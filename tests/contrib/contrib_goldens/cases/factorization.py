"""Cases of tf.contrib.factorization.

A case of an estimator trains it, and returns what it gives.
"""

import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.observe import Case

__all__ = ["CASES"]

factorization = tf.contrib.factorization
_RANDOM = np.random.RandomState(3)
_POINTS = np.concatenate(
    [_RANDOM.normal(loc=center, scale=0.3, size=(10, 2)) for center in ((0, 0), (3, 1))]
).astype(np.float32)
_MEANS = np.array([[0.5, 0.5], [2.0, 1.0]], np.float32)
_MATRIX = np.array(
    [[0.1, 0.0, 0.2, 0.0, 0.4], [0.0, 1.1, 0.0, 1.3, 1.5], [0.1, 1.1, 0.2, 0.0, 0.4]], np.float32
)
_COLUMNS = np.cos(np.arange(10)).reshape(5, 2).astype(np.float32)


def _all_points():
    return tf.constant(_POINTS), None


def _kmeans(**options):
    def build():
        kmeans = factorization.KMeansClustering(
            2, tempfile.mkdtemp(), initial_clusters=_MEANS, **options
        )
        kmeans.train(_all_points, steps=4)

        def some():
            return tf.data.Dataset.from_tensors(_POINTS[::7])

        return {
            "centers": np.asarray(kmeans.cluster_centers()),
            "score": np.asarray(kmeans.score(_all_points), np.float64),
            "indices": np.array(list(kmeans.predict_cluster_index(some))),
            "distances": np.array(list(kmeans.transform(some))),
        }

    return Case(build, has_gradients=False)


def _mixture(covariance_type, params="wmc"):
    def build():
        gmm = factorization.GMM(
            2,
            tempfile.mkdtemp(),
            params=params,
            initial_clusters=_MEANS,
            covariance_type=covariance_type,
        )
        gmm.fit(input_fn=_all_points, steps=5)
        return {
            "weights": np.asarray(gmm.weights()),
            "clusters": np.asarray(gmm.clusters()),
            "covariances": np.asarray(gmm.covariances()),
            "score": np.asarray(gmm.score(_all_points, steps=1), np.float64),
            "assignments": np.array(list(gmm.predict_assignments(_all_points))),
        }

    return Case(build, has_gradients=False)


def _sparse(matrix):
    indices = np.argwhere(matrix)
    return tf.SparseTensor(
        indices.astype(np.int64), matrix[tuple(indices.T)], np.array(matrix.shape, np.int64)
    )


def _projections():
    """Factors of rows and columns, where the Gramians are 0."""
    model = factorization.WALSModel(
        3,
        5,
        2,
        regularization=0.1,
        row_init=_COLUMNS[:3],
        col_init=_COLUMNS,
        use_factors_weights_cache=False,
        use_gramian_cache=False,
    )
    part = _sparse(_MATRIX)
    rows = model.project_row_factors(part, projection_weights=0.5)
    columns = model.project_col_factors(_sparse(_MATRIX.T), transpose_input=True)
    update = model.update_row_factors(part)
    return {
        "rows": tf.identity(rows, "rows"),
        "columns": tf.identity(columns, "columns"),
        "loss": tf.identity(update[2], "loss"),
        "regularization": tf.identity(update[3], "regularization"),
        "sum_weights": tf.identity(update[4], "sum_weights"),
    }


def _factorized(**options):
    def build():
        model = factorization.WALSMatrixFactorization(
            3,
            5,
            2,
            unobserved_weight=0.1,
            regularization_coeff=0.01,
            col_init=_COLUMNS,
            model_dir=tempfile.mkdtemp(),
            **options,
        )

        def input_fn():
            rows, columns = _sparse(_MATRIX), _sparse(_MATRIX.T)
            return {model.INPUT_ROWS: rows, model.INPUT_COLS: columns}, None

        model.fit(input_fn=input_fn, steps=3)

        def project():
            features, _ = input_fn()
            features[model.PROJECT_ROW] = tf.constant(True)
            return features, None

        return {
            "rows": np.concatenate(model.get_row_factors()),
            "columns": np.concatenate(model.get_col_factors()),
            "loss": np.asarray(model.evaluate(input_fn=project, steps=1)["loss"], np.float64),
            "projections": np.array(
                [row for row, _ in zip(model.get_projections(project), range(3))]
            ),
            "state": {
                name: np.asarray(model.get_variable_value(name)).astype(np.float64)
                for name in ("completed_sweeps", "is_row_sweep", "WALS_loss", "WALS_RWSE")
            },
            "names": sorted(model.get_variable_names()),
        }

    return Case(build, has_gradients=False)


CASES = {
    "factorization.GMM: diag": _mixture("diag"),
    "factorization.GMM: full": _mixture("full"),
    "factorization.GMM: means": _mixture("full", "m"),
    "factorization.KMeansClustering": _kmeans(use_mini_batch=False),
    "factorization.KMeansClustering: cosine": _kmeans(
        use_mini_batch=False, distance_metric="cosine"
    ),
    "factorization.WALSModel": Case(_projections, has_gradients=False),
    "factorization.WALSMatrixFactorization": _factorized(),
    "factorization.WALSMatrixFactorization: shards": _factorized(
        num_row_shards=2,
        row_weights=[[0.1, 0.2], [0.3]],
        col_weights=[0.1, 0.2, 0.3, 0.4, 0.5],
        max_sweeps=2,
    ),
    "factorization.WALSMatrixFactorization: no weights": _factorized(
        row_weights=None, col_weights=None
    ),
}
