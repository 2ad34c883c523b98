"""tf.contrib.distributions: SinhArcsinh, and the auto-correlation of samples."""

import tensorflow as tf
from contrib_goldens.cases.distribution_families import checked, of, tensor
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case

distributions = tf.contrib.distributions
_ATTRIBUTES = ["loc", "scale", "skewness", "tailweight"]


def bent(*arguments, **options):
    return of(
        "SinhArcsinh", lambda: tensor(3), *arguments, attributes=_ATTRIBUTES, quantile=True,
        **options
    )  # fmt: skip


def base(make):
    """A case of what a base is refused for."""
    return Case(
        lambda: distributions.SinhArcsinh(0.0, 1.0, distribution=make(), validate_args=True),
        has_gradients=False,
    )


def correlated(x, **options):
    return lambda: distributions.auto_correlation(x(), **options)


def unknown_series():
    return tf.placeholder_with_default(array(2, 6), [None, None])


def unknown_loc():
    return tf.placeholder_with_default(array(3), [None])


CASES = {
    "distributions.SinhArcsinh": bent(0.5, 2.0),
    "distributions.SinhArcsinh: skewed": bent(0.5, 2.0, 0.3, 1.5),
    "distributions.SinhArcsinh: batch": bent(lambda: tensor(3), 2.0, [0.3, 0.0, -0.2], 0.7),
    "distributions.SinhArcsinh: unknown shape": bent(unknown_loc, 1.5, 0.2),
    "distributions.SinhArcsinh: base": bent(
        0.5, 2.0, 0.3, distribution=lambda: distributions.Laplace(0.1, 1.2)
    ),
    "distributions.SinhArcsinh: checked": bent(0.5, 2.0, validate_args=True),
    "distributions.SinhArcsinh: no scale": checked(
        "SinhArcsinh", lambda dist: dist.prob(1.0), loc=0.0, scale=0.0
    ),
    "distributions.SinhArcsinh: shapes": Case(
        lambda: distributions.SinhArcsinh([0.0, 1.0], [1.0, 1.0, 1.0]), has_gradients=False
    ),
    "distributions.SinhArcsinh: base of a batch": base(lambda: distributions.Normal([0.0], 1.0)),
    "distributions.SinhArcsinh: base of vectors": base(
        lambda: distributions.MultivariateNormalDiag([0.0, 1.0])
    ),
    "distributions.SinhArcsinh: base of another type": base(
        lambda: distributions.Normal(tf.constant(0.0, tf.float64), tf.constant(1.0, tf.float64))
    ),
    "distributions.SinhArcsinh: base without gradients": base(
        lambda: distributions.Bernoulli(0.5, dtype=tf.float32)
    ),
    "distributions.auto_correlation": correlated(lambda: tensor(2, 6)),
    "distributions.auto_correlation: axis": correlated(lambda: tensor(5, 2, 2), axis=0),
    "distributions.auto_correlation: middle axis": correlated(lambda: tensor(2, 5, 2), axis=-2),
    "distributions.auto_correlation: lags": correlated(lambda: tensor(2, 6), max_lags=3),
    "distributions.auto_correlation: too many lags": correlated(lambda: tensor(2, 6), max_lags=30),
    "distributions.auto_correlation: lags of a tensor": lambda: distributions.auto_correlation(
        tensor(2, 6), max_lags=tf.placeholder_with_default(2, [])
    ),
    "distributions.auto_correlation: plain": correlated(
        lambda: tensor(2, 6), center=False, normalize=False
    ),
    "distributions.auto_correlation: unknown shape": correlated(unknown_series, max_lags=3),
    "distributions.auto_correlation: complex": lambda: distributions.auto_correlation(
        tf.complex(tensor(6), 2 * tensor(6)[::-1])
    ),
    "distributions.auto_correlation: integers": Case(
        lambda: distributions.auto_correlation([1, 2, 3]), has_gradients=False
    ),
}
