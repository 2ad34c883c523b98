"""tf.contrib.distributions: normal distributions of vectors."""

import tensorflow as tf
from contrib_goldens.cases.inputs import array, unknown
from contrib_goldens.observe import Case

distributions = tf.contrib.distributions


def tensor(*shape):
    return tf.constant(array(*shape), name="input")


def positive(*shape):
    return tf.exp(tensor(*shape))


def lower(*shape):
    matrix = tf.linalg.band_part(tensor(*shape), -1, 0)
    return tf.linalg.set_diag(matrix, tf.exp(tf.linalg.diag_part(matrix)))


def covariance(*shape):
    triangle = lower(*shape)
    return tf.matmul(triangle, triangle, transpose_b=True)


def described(kind, place=(), **options):
    """What a distribution says of itself, and of vectors at a place."""

    def build():
        arguments = {key: make() for key, make in options.items() if callable(make)}
        arguments.update({key: each for key, each in options.items() if not callable(each)})
        distribution = getattr(distributions, kind)(**arguments)
        vectors = tf.constant(array(*(place + (3,))))
        seen = {
            "batch": distribution.batch_shape,
            "batch tensor": distribution.batch_shape_tensor(),
            "event": distribution.event_shape,
            "event tensor": distribution.event_shape_tensor(),
            "log_prob": distribution.log_prob(vectors),
            "prob": distribution.prob(vectors),
            "entropy": distribution.entropy(),
            "mean": distribution.mean(),
            "mode": distribution.mode(),
            "stddev": distribution.stddev(),
            "variance": distribution.variance(),
            "covariance": distribution.covariance(),
            "sample": distribution.sample(4, seed=1),
            "samples": distribution.sample([2, 1]),
            "loc": distribution.loc,
            "scale": distribution.scale.to_dense(),
            "name": distribution.name,
            "parameters": sorted(distribution.parameters),
            "copy": distribution.copy(loc=tf.constant(array(3)) + 1).mean(),
            "dtype": distribution.dtype,
            "is reparameterized": distribution.reparameterization_type
            == distributions.FULLY_REPARAMETERIZED,
        }
        # Names inside of a distribution depend on how a formula is written.
        return {
            key: tf.identity(each, name=key.replace(" ", "_"))
            if isinstance(each, tf.Tensor)
            else each
            for key, each in seen.items()
        }

    return build


def divergence(first, second):
    return lambda: distributions.kl_divergence(first(), second())


def diagonal():
    return distributions.MultivariateNormalDiag(tensor(2, 3), positive(3))


def triangular():
    return distributions.MultivariateNormalTriL(tensor(3), lower(3, 3))


def checked():
    distribution = distributions.MultivariateNormalDiag(
        scale_diag=tf.constant([1.0, 0.0]), validate_args=True
    )
    return distribution.sample(2)


def not_symmetric():
    distribution = distributions.MultivariateNormalFullCovariance(
        covariance_matrix=tf.constant([[2.0, 0.0], [1.0, 2.0]]), validate_args=True
    )
    return distribution.sample(2)


_DIAG = "MultivariateNormalDiag"
_SOFTPLUS = "MultivariateNormalDiagWithSoftplusScale"
_TRIANGLE = "MultivariateNormalTriL"
_FULL = "MultivariateNormalFullCovariance"

CASES = {
    "distributions.%s" % _DIAG: described(
        _DIAG, loc=lambda: tensor(3), scale_diag=lambda: positive(3)
    ),
    "distributions.%s: batch" % _DIAG: described(
        _DIAG, (2,), loc=lambda: tensor(2, 3), scale_diag=lambda: positive(3), name="own"
    ),
    "distributions.%s: both" % _DIAG: described(
        _DIAG, scale_diag=lambda: positive(3), scale_identity_multiplier=lambda: tf.constant(0.5)
    ),
    "distributions.%s: checked" % _DIAG: Case(checked, has_gradients=False),
    "distributions.%s: divergence" % _DIAG: divergence(diagonal, diagonal),
    "distributions.%s: divergence of another" % _DIAG: divergence(diagonal, triangular),
    "distributions.%s: loc" % _DIAG: described(_DIAG, loc=lambda: tensor(3)),
    "distributions.%s: multiplier" % _DIAG: described(
        _DIAG, loc=lambda: tensor(2, 3), scale_identity_multiplier=lambda: tf.constant([0.5, 2.0])
    ),
    "distributions.%s: nothing" % _DIAG: described(_DIAG),
    "distributions.%s: numbers" % _DIAG: described(
        _DIAG, loc=[1.0, 2.0, 3.0], scale_diag=[1.0, 0.5, 2.0]
    ),
    "distributions.%s: unknown" % _DIAG: described(
        _DIAG,
        loc=lambda: unknown(array(2, 3)),
        scale_diag=lambda: tf.exp(unknown(array(3), [None])),
    ),
    "distributions.%s" % _SOFTPLUS: described(
        _SOFTPLUS, loc=lambda: tensor(2, 3), scale_diag=lambda: tensor(3)
    ),
    "distributions.%s" % _TRIANGLE: described(
        _TRIANGLE, (2,), loc=lambda: tensor(3), scale_tril=lambda: lower(2, 3, 3)
    ),
    "distributions.%s: divergence" % _TRIANGLE: divergence(triangular, diagonal),
    "distributions.%s: loc" % _TRIANGLE: described(_TRIANGLE, loc=lambda: tensor(3)),
    "distributions.%s: nothing" % _TRIANGLE: described(_TRIANGLE),
    "distributions.%s" % _FULL: described(
        _FULL, loc=lambda: tensor(3), covariance_matrix=lambda: covariance(3, 3)
    ),
    "distributions.%s: not symmetric" % _FULL: Case(not_symmetric, has_gradients=False),
    "distributions.%s: scale" % _FULL: described(
        _FULL, (4, 2), covariance_matrix=lambda: covariance(2, 3, 3), validate_args=True
    ),
}
