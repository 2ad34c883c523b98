"""The unsupported names of tf.contrib.distributions, and where tensorflow-probability has each.

tf.contrib.distributions became this package, and some names changed. Release 0.25 has all of these.
"""

from __future__ import annotations

__all__ = ["BIJECTORS", "DISTRIBUTIONS"]

_PACKAGE = (
    "is not supported. Use the package tensorflow-probability (tfp), which "
    "tf.contrib.distributions became: "
)
_UNCHANGED = """
    Autoregressive BatchReshape Kumaraswamy MultivariateNormalDiagPlusLowRank
    PoissonLogNormalQuadratureCompound QuantizedDistribution
    normal_conjugates_known_scale_posterior normal_conjugates_known_scale_predictive
    quadrature_scheme_lognormal_gauss_hermite quadrature_scheme_lognormal_quantiles
"""
# By name: what takes its place.
_CHANGED = {
    "VectorDiffeomixture": "tfp.distributions.MixtureSameFamily, for a mixture of transformed "
    "normals",
    "VectorExponentialDiag": "tfp.distributions.TransformedDistribution of an Independent "
    "Exponential and tfp.bijectors.ScaleMatvecDiag",
    "VectorLaplaceDiag": "tfp.distributions.Independent(tfp.distributions.Laplace(loc, "
    "scale_diag), 1)",
    "VectorSinhArcsinhDiag": "tfp.distributions.Independent(tfp.distributions.SinhArcsinh(loc, "
    "scale_diag, skewness, tailweight), 1)",
    "assign_log_moving_mean_exp": "tfp.stats.assign_log_moving_mean_exp",
    "assign_moving_mean_variance": "tfp.stats.assign_moving_mean_variance",
    "moving_mean_variance": "tfp.stats.assign_moving_mean_variance, with variables of the program",
    "quadrature_scheme_softmaxnormal_gauss_hermite": "tfp.bijectors.SoftmaxCentered, of points of "
    "numpy.polynomial.hermite.hermgauss",
    "quadrature_scheme_softmaxnormal_quantiles": "tfp.bijectors.SoftmaxCentered, of points of "
    "tfp.distributions.Normal.quantile",
}

# Advice, with the name that it applies to.
DISTRIBUTIONS = {
    **{f"{_PACKAGE}tfp.distributions.{name}.": name for name in _UNCHANGED.split()},
    **{f"{_PACKAGE}{instead}.": name for name, instead in _CHANGED.items()},
    "is not supported. Return a loss of log_prob in model_fn: tf.estimator.EstimatorSpec(mode, "
    "loss=-tf.reduce_mean(distribution.log_prob(labels)), train_op=...).": (
        "estimator_head_distribution_regression"
    ),
}

# Bijectors of matrices, and what takes the place of each.
BIJECTORS = {
    f"{_PACKAGE}{instead}.": name
    for name, instead in {
        "AffineLinearOperator": "tfp.bijectors.ScaleMatvecLinearOperator and tfp.bijectors.Shift",
        "CholeskyOuterProduct": "tfp.bijectors.CholeskyOuterProduct",
        "FillTriangular": "tfp.bijectors.FillTriangular",
        "MatrixInverseTriL": "tfp.bijectors.MatrixInverseTriL",
        "ScaleTriL": "tfp.bijectors.FillScaleTriL",
        "TransformDiagonal": "tfp.bijectors.TransformDiagonal",
    }.items()
}
