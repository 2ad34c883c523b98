"""tf.contrib.distributions: distributions of numbers and classes, and those made of others."""

import tensorflow as tf
from contrib_goldens.cases.inputs import array, shares, unknown
from contrib_goldens.observe import Case

distributions = tf.contrib.distributions

# Operations that draw, whose seeds are observed.
_DRAWING = (
    "Multinomial",
    "RandomGamma",
    "RandomPoissonV2",
    "RandomStandardNormal",
    "RandomUniform",
)
_STATISTICS = ["entropy", "mean", "mode", "stddev", "variance", "covariance"]
_FUNCTIONS = ["log_prob", "prob", "log_cdf", "cdf", "log_survival_function", "survival_function"]


def tensor(*shape):
    return tf.constant(array(*shape), name="input")


def positive(*shape):
    return tf.exp(tensor(*shape))


def seeds():
    """The seeds of all operations that draw, in the graph's order."""
    return [
        [op.type, op.get_attr("seed"), op.get_attr("seed2")]
        for op in tf.get_default_graph().get_operations()
        if op.type in _DRAWING
    ]


def tried(function):
    """A function's result, or the name of the error that it raises."""
    try:
        return function()
    except (NotImplementedError, TypeError, ValueError, tf.errors.OpError) as error:
        return type(error).__name__


def named(seen):
    """Tensors by names of their own: names inside depend on how a formula is written."""
    return {
        key: tf.identity(each, name=key.replace(" ", "_")) if isinstance(each, tf.Tensor) else each
        for key, each in seen.items()
    }


def drawn(distribution, shape, seed):
    """Samples; without gradients, where the operation that draws has none."""
    samples = distribution.sample(shape, seed=seed, name="draws")
    is_smooth = distribution.reparameterization_type == distributions.FULLY_REPARAMETERIZED
    return samples if is_smooth else tf.stop_gradient(samples)


def described(distribution, values, shares_of=None, attributes=(), sample=True):
    """What a distribution says of itself, and of values."""
    seen = {
        "batch": distribution.batch_shape,
        "batch tensor": distribution.batch_shape_tensor(),
        "event": distribution.event_shape,
        "event tensor": distribution.event_shape_tensor(),
        "is scalar batch": distribution.is_scalar_batch(),
        "is scalar event": distribution.is_scalar_event(),
        "name": distribution.name,
        "dtype": distribution.dtype,
        "is reparameterized": distribution.reparameterization_type
        == distributions.FULLY_REPARAMETERIZED,
    }
    for key in _STATISTICS:
        seen[key] = tried(getattr(distribution, key))
    for key in _FUNCTIONS:
        seen[key] = tried(lambda key=key: getattr(distribution, key)(values))
    if shares_of is not None:
        seen["quantile"] = tried(lambda: distribution.quantile(shares_of))
    if sample:
        seen["sample"] = tried(lambda: drawn(distribution, (), 1))
        seen["samples"] = tried(lambda: drawn(distribution, [2, 3], 7))
    seen.update({key: getattr(distribution, key) for key in attributes})
    seen["seeds"] = seeds()
    return named(seen)


def of(kind, values, *arguments, **options):
    """A case of a distribution: arguments that are functions are called in the graph."""
    extra = {
        key: options.pop(key) for key in ("attributes", "quantile", "sample") if key in options
    }

    def build():
        distribution = getattr(distributions, kind)(
            *[each() if callable(each) else each for each in arguments],
            **{key: each() if callable(each) else each for key, each in options.items()},
        )
        shares_of = shares(2, 3) if extra.get("quantile") else None
        return described(
            distribution,
            values() if callable(values) else values,
            shares_of,
            extra.get("attributes", ()),
            extra.get("sample", True),
        )

    return build


def checked(kind, function, **options):
    """A case of what validate_args refuses."""

    def build():
        return function(getattr(distributions, kind)(validate_args=True, **options))

    return Case(build, has_gradients=False)


def counts():
    return tf.constant([[0.0, 1.0, 2.0], [3.0, 1.0, 5.0]])


def one_hot():
    return tf.constant([[0, 1, 0], [1, 0, 0]])


def logarithms(*shape):
    return tf.nn.log_softmax(tf.constant(array(*shape)))


def probabilities(*shape):
    return tf.nn.softmax(tf.constant(array(*shape)))


def mixture(**options):
    def build():
        cat = distributions.Categorical(logits=tensor(2, 3))
        parts = [
            distributions.Normal(tensor(2), positive(2)),
            distributions.Normal(tf.constant([1.0, 2.0]), tf.constant([0.5, 1.0])),
            distributions.Logistic(tf.constant([0.0, -1.0]), tf.constant([1.0, 2.0])),
        ]
        mixture = distributions.Mixture(cat, parts, **options)
        static = options.get("use_static_graph", False)
        seen = described(mixture, tf.constant(array(4, 2)), sample=static)
        seen["bound"] = tf.identity(mixture.entropy_lower_bound(), name="bound")
        seen["count"] = mixture.num_components
        if not static:  # how often a component draws is random: draw many of one, and compare seeds
            mixture.sample(2, seed=5)
            seen["seeds"] = seeds()
        return seen

    return build


def vector_mixture():
    cat = distributions.Categorical(probs=[0.3, 0.7])
    parts = [
        distributions.MultivariateNormalDiag(tensor(3), positive(3)),
        distributions.MultivariateNormalDiag(tf.ones([3]), tf.ones([3])),
    ]
    mixture = distributions.Mixture(cat, parts, use_static_graph=True, validate_args=True)
    return described(mixture, tf.constant(array(2, 3)))


def of_one(static):
    """A mixture that always draws from its second component."""

    def build():
        cat = distributions.Categorical(logits=tf.constant([[-1e9, 0.0], [-1e9, 0.0]]))
        parts = [
            distributions.Deterministic(tf.constant([1.0, 2.0])),
            distributions.Deterministic(tf.constant([3.0, 4.0])),
        ]
        mixture = distributions.Mixture(cat, parts, use_static_graph=static)
        return mixture.sample([2, 3], seed=1, name="sample")

    return Case(build, has_gradients=False)


def refused_mixture(cat_count, parts):
    def build():
        cat = distributions.Categorical(logits=tf.zeros([cat_count]))
        return distributions.Mixture(cat, parts() if callable(parts) else parts).mean()

    return build


def same_family(vectors, scalar=False):
    def build():
        mixing = distributions.Categorical(logits=tensor(3) if scalar else tensor(2, 3))
        if vectors:
            parts = distributions.MultivariateNormalDiag(tensor(2, 3, 4), positive(4))
            values = tf.constant(array(5, 2, 4))
        else:
            parts = distributions.Normal(tensor(2, 3), positive(3))
            values = tf.constant(array(5, 2))
        mixture = distributions.MixtureSameFamily(mixing, parts)
        seen = described(mixture, values, sample=False)  # it draws without the seed
        certain = distributions.Categorical(logits=tf.constant([-1e9, 0.0, -1e9]))
        seen["sample"] = distributions.MixtureSameFamily(certain, parts).sample([2, 3])
        return named(seen)

    return build


def refused_family(mixing, shape):
    def build():
        parts = distributions.Normal(tf.zeros(shape), 1.0)
        return distributions.MixtureSameFamily(mixing(), parts).mean()

    return build


def independent(count=None, **options):
    def build():
        base = distributions.Normal(tensor(2, 3), positive(3))
        independent = distributions.Independent(base, count, **options)
        seen = described(independent, tf.constant(array(4, 2, 3)))
        seen["count"] = independent.reinterpreted_batch_ndims
        return seen

    return build


def independent_divergence(first, second):
    def build():
        normal = distributions.Normal
        a = distributions.Independent(normal(tensor(2, 3), positive(3)), first)
        b = distributions.Independent(normal(tf.zeros([2, 3]), 1.0), second)
        return tf.identity(distributions.kl_divergence(a, b), name="divergence")

    return build


def hot_divergence():
    a = distributions.OneHotCategorical(tensor(2, 3))
    b = distributions.OneHotCategorical(tf.constant(array(3)))
    return tf.identity(distributions.kl_divergence(a, b), name="divergence")


class Shifted(distributions.ConditionalDistribution):
    """A distribution whose methods take a shift."""

    def __init__(self):
        super().__init__(
            dtype=tf.float32,
            reparameterization_type=distributions.FULLY_REPARAMETERIZED,
            validate_args=False,
            allow_nan_stats=True,
        )

    def _batch_shape(self):
        return tf.TensorShape([])

    def _event_shape(self):
        return tf.TensorShape([])

    def _sample_n(self, n, seed=None, shift=0.0):
        return tf.random_normal([n], seed=seed) + shift

    def _log_prob(self, x, shift=0.0):
        return -tf.square(x - shift)

    def _prob(self, x, shift=0.0):
        return tf.exp(-tf.square(x - shift))

    def _cdf(self, x, shift=0.0):
        return tf.sigmoid(x - shift)

    def _log_cdf(self, x, shift=0.0):
        return tf.log_sigmoid(x - shift)

    def _log_survival_function(self, x, shift=0.0):
        return tf.log_sigmoid(shift - x)

    def _survival_function(self, x, shift=0.0):
        return tf.sigmoid(shift - x)


def conditional():
    shifted, x = Shifted(), tensor(3)
    names = ["log_prob", "prob", "log_cdf", "cdf", "log_survival_function", "survival_function"]
    seen = {name: getattr(shifted, name)(x, shift=2.0) for name in names}
    seen["sample"] = shifted.sample(3, seed=1, shift=tensor(3))
    return named(seen)


def conditional_transformed():
    class Moved(distributions.bijectors.ConditionalBijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, name="moved")

        def _forward(self, x, by=0.0):
            return x + by

        def _inverse(self, y, by=0.0):
            return y - by

        def _inverse_log_det_jacobian(self, y, by=0.0):
            return tf.zeros([])

    transformed, x = distributions.ConditionalTransformedDistribution(Shifted(), Moved()), tensor(3)
    names = ["log_prob", "prob", "cdf", "survival_function"]
    both = {"bijector_kwargs": {"by": 1.5}, "distribution_kwargs": {"shift": 2.0}}
    seen = {name: getattr(transformed, name)(x, **both) for name in names}
    seen["sample"] = transformed.sample(3, seed=1, **both)
    return named(seen)


def covariance(*shape):
    matrix = tf.constant(array(*shape), name="input")
    return tf.matmul(matrix, matrix, transpose_b=True) + 2.0 * tf.eye(shape[-1])


def wishart(kind, scale, df=lambda: tf.constant(4.5), **options):
    def build():
        wishart = getattr(distributions, kind)(df(), scale(), **options)
        x = covariance(2, 3, 3)
        values = tf.cholesky(x) if options.get("cholesky_input_output_matrices") else x
        seen = described(wishart, values, attributes=("df", "dimension"))
        seen["scale"] = wishart.scale()
        seen["operator"] = wishart.scale_operator.to_dense()
        seen["normalization"] = wishart.log_normalization()
        seen["log det"] = wishart.mean_log_det()
        return named(seen)

    return build


def stream():
    first = distributions.SeedStream(4, salt="a")
    second = distributions.SeedStream(first, salt="b")
    nothing = distributions.SeedStream(None, salt="a")
    numbers = [str(first()), str(first()), str(second()), nothing()]
    return [numbers, second.original_seed, second.salt]


CASES = {
    "distributions.Poisson": of(
        "Poisson", counts, rate=lambda: positive(3), attributes=("rate", "log_rate")
    ),
    "distributions.Poisson: logarithm": of(
        "Poisson", counts, log_rate=lambda: tensor(2, 3), name="own", attributes=("rate",)
    ),
    "distributions.Poisson: both": of("Poisson", counts, 1.0, 2.0),
    "distributions.Poisson: integer": of("Poisson", counts, 2),
    "distributions.Poisson: negative": checked("Poisson", lambda dist: dist.mean(), rate=-1.0),
    "distributions.Poisson: fraction": checked("Poisson", lambda dist: dist.prob(0.5), rate=1.0),
    "distributions.Poisson: unknown": of("Poisson", counts, lambda: tf.exp(unknown(array(2, 3)))),
    "distributions.Logistic": of(
        "Logistic",
        lambda: tensor(2, 3),
        lambda: tf.constant(array(3)),
        lambda: positive(2, 1),
        quantile=True,
        attributes=("loc", "scale"),
    ),
    "distributions.Logistic: float64": of(
        "Logistic",
        lambda: tf.constant([0.5, -1.0], tf.float64),
        lambda: tf.constant(0.5, tf.float64),
        lambda: tf.constant([2.0, 3.0], tf.float64),
    ),
    "distributions.Logistic: negative": checked(
        "Logistic", lambda dist: dist.mean(), loc=0.0, scale=-1.0
    ),
    "distributions.Logistic: two types": of("Logistic", 0.0, 1, 2.0),
    "distributions.Cauchy": of(
        "Cauchy",
        lambda: tensor(2, 3),
        lambda: tf.constant(array(3)),
        lambda: positive(2, 1),
        quantile=True,
        attributes=("loc", "scale"),
    ),
    "distributions.Cauchy: no statistics": of(
        "Cauchy", [0.5, 1.0], 0.0, 1.0, allow_nan_stats=False
    ),
    "distributions.HalfNormal": of(
        "HalfNormal",
        lambda: tf.abs(tensor(2, 3)),
        lambda: positive(2, 3),
        quantile=True,
        attributes=("scale",),
    ),
    "distributions.HalfNormal: negative": checked(
        "HalfNormal", lambda dist: dist.mean(), scale=-1.0
    ),
    "distributions.InverseGamma": of(
        "InverseGamma",
        lambda: positive(2, 3),
        lambda: tf.constant([0.5, 1.5, 3.0]),
        lambda: positive(2, 1),
        attributes=("concentration", "rate"),
    ),
    "distributions.InverseGamma: no mean": checked(
        "InverseGamma",
        lambda dist: dist.mean(),
        concentration=[1.0, 3.0],
        rate=1.0,
        allow_nan_stats=False,
    ),
    "distributions.InverseGamma: no variance": checked(
        "InverseGamma",
        lambda dist: dist.variance(),
        concentration=[2.0, 3.0],
        rate=1.0,
        allow_nan_stats=False,
    ),
    "distributions.InverseGamma: statistics": checked(
        "InverseGamma",
        lambda dist: named({"mean": dist.mean(), "variance": dist.variance()}),
        concentration=[2.5, 3.0],
        rate=1.0,
        allow_nan_stats=False,
    ),
    "distributions.InverseGamma: negative value": checked(
        "InverseGamma", lambda dist: dist.prob(-0.5), concentration=1.0, rate=1.0
    ),
    "distributions.InverseGammaWithSoftplusConcentrationRate": of(
        "InverseGammaWithSoftplusConcentrationRate",
        lambda: positive(2, 3),
        lambda: tensor(3),
        lambda: tf.constant(array(2, 1)),
        attributes=("concentration", "rate"),
    ),
    "distributions.Chi2": of(
        "Chi2", lambda: positive(2, 3), lambda: positive(3), attributes=("df", "rate")
    ),
    "distributions.Chi2: negative": checked("Chi2", lambda dist: dist.mean(), df=-1.0),
    "distributions.Chi2WithAbsDf": of(
        "Chi2WithAbsDf",
        lambda: positive(2, 3),
        lambda: tf.constant([-3.5, 2.0, 1.2]),
        attributes=("df",),
    ),
    "distributions.Binomial": of(
        "Binomial",
        counts,
        lambda: tf.constant([5.0, 1.0, 5.0]),
        logits=lambda: tensor(3),
        attributes=("total_count", "logits", "probs"),
    ),
    "distributions.Binomial: probabilities": of(
        "Binomial", counts, 6.0, probs=lambda: shares(2, 3), validate_args=True, name="own"
    ),
    "distributions.Binomial: one probability": of("Binomial", counts, 5.0, probs=0.4),
    "distributions.Binomial: fraction": checked(
        "Binomial", lambda dist: dist.mean(), total_count=1.5, probs=0.5
    ),
    "distributions.Binomial: too many": checked(
        "Binomial", lambda dist: dist.prob(3.0), total_count=2.0, probs=0.5
    ),
    "distributions.Binomial: both": of("Binomial", counts, 2.0, 0.5, 0.5),
    "distributions.NegativeBinomial": of(
        "NegativeBinomial",
        counts,
        lambda: positive(3),
        logits=lambda: tf.constant(array(2, 3)),
        attributes=("total_count", "logits", "probs"),
    ),
    "distributions.NegativeBinomial: probabilities": of(
        "NegativeBinomial",
        counts,
        lambda: tf.constant([0.5, 1.0, 4.0]),
        probs=lambda: shares(3),
        validate_args=True,
    ),
    "distributions.NegativeBinomial: negative": checked(
        "NegativeBinomial", lambda dist: dist.mean(), total_count=-1.0, probs=0.5
    ),
    "distributions.Geometric": of(
        "Geometric", counts, logits=lambda: tensor(3), attributes=("logits", "probs")
    ),
    "distributions.Geometric: probabilities": of(
        "Geometric", counts, probs=lambda: shares(2, 3), validate_args=True
    ),
    "distributions.Geometric: fractions": of(
        "Geometric", lambda: tf.constant([-0.5, 0.5, 2.5]), probs=0.3
    ),
    "distributions.Geometric: one": checked(
        "Geometric", lambda dist: dist.entropy(), probs=[0.5, 1.0]
    ),
    "distributions.Deterministic": of(
        "Deterministic",
        lambda: tf.constant([1.0, 2.0, 3.0]),
        lambda: tf.constant([1.0, 2.1, 2.9]),
        attributes=("loc", "atol", "rtol"),
    ),
    "distributions.Deterministic: tolerant": of(
        "Deterministic",
        lambda: tf.constant([1.0, 2.0, 3.0]),
        lambda: tf.constant([1.0, 2.1, 2.9]),
        0.05,
        0.02,
        validate_args=True,
        attributes=("atol", "rtol"),
    ),
    "distributions.Deterministic: negative": checked(
        "Deterministic", lambda dist: dist.prob(1.0), loc=1.0, atol=-1.0
    ),
    "distributions.Deterministic: integers": of(
        "Deterministic", lambda: tf.constant([1, 2, 3]), lambda: tf.constant([[1], [3]])
    ),
    "distributions.VectorDeterministic": of(
        "VectorDeterministic",
        lambda: tf.constant([[1.0, 2.0, 3.0], [1.0, 2.1, 2.9]]),
        lambda: tf.constant([1.0, 2.1, 2.9]),
        0.01,
        attributes=("loc", "atol", "rtol"),
    ),
    "distributions.VectorDeterministic: batch": of(
        "VectorDeterministic",
        lambda: tf.constant([[1.0, 2.0, 3.0], [1.0, 2.1, 2.9]]),
        lambda: tf.constant([[1.0, 2.1, 2.9], [1.0, 2.1, 2.9]]),
        validate_args=True,
    ),
    "distributions.VectorDeterministic: scalar": checked(
        "VectorDeterministic", lambda dist: dist.mean(), loc=1.0
    ),
    "distributions.VectorDeterministic: other size": checked(
        "VectorDeterministic", lambda dist: dist.prob([1.0, 2.0, 3.0]), loc=[1.0, 2.0]
    ),
    "distributions.OneHotCategorical": of(
        "OneHotCategorical",
        one_hot,
        lambda: tensor(2, 3),
        attributes=("event_size", "logits", "probs"),
    ),
    "distributions.OneHotCategorical: probabilities": of(
        "OneHotCategorical",
        lambda: tf.constant([[0.0, 1.0, 0.0]] * 2),
        None,
        lambda: probabilities(3),
        dtype=tf.float32,
        name="own",
    ),
    "distributions.OneHotCategorical: batch": of(
        "OneHotCategorical", one_hot, lambda: tensor(4, 2, 3)
    ),
    "distributions.OneHotCategorical: unknown": of(
        "OneHotCategorical", one_hot, lambda: unknown(array(2, 3), [None, None])
    ),
    "distributions.OneHotCategorical: sample refused": checked(
        "OneHotCategorical",
        lambda dist: dist.log_prob([0.0, 1.0, 0.0]),
        logits=[0.5, 1.0, 0.0],
        dtype=tf.float32,
    ),
    "distributions.OneHotCategorical: divergence": hot_divergence,
    "distributions.OneHotCategorical: both": of("OneHotCategorical", one_hot, [0.5], [0.5]),
    "distributions.ExpRelaxedOneHotCategorical": of(
        "ExpRelaxedOneHotCategorical",
        lambda: logarithms(2, 3),
        0.5,
        lambda: tensor(2, 3),
        attributes=("event_size", "logits", "probs", "temperature"),
    ),
    "distributions.ExpRelaxedOneHotCategorical: probabilities": of(
        "ExpRelaxedOneHotCategorical",
        lambda: logarithms(4, 2, 3),
        2,
        probs=lambda: shares(2, 3),
        name="own",
    ),
    "distributions.ExpRelaxedOneHotCategorical: temperatures": of(
        "ExpRelaxedOneHotCategorical",
        lambda: logarithms(2, 3),
        lambda: positive(2),
        lambda: tf.constant(array(2, 3)),
        sample=False,
    ),
    "distributions.ExpRelaxedOneHotCategorical: negative": checked(
        "ExpRelaxedOneHotCategorical",
        lambda dist: dist.sample(),
        temperature=-0.5,
        logits=[0.0, 1.0],
    ),
    "distributions.ExpRelaxedOneHotCategorical: no logarithms": checked(
        "ExpRelaxedOneHotCategorical",
        lambda dist: dist.prob([-0.1, -0.1]),
        temperature=0.5,
        logits=[0.0, 1.0],
    ),
    "distributions.RelaxedOneHotCategorical": of(
        "RelaxedOneHotCategorical", lambda: probabilities(2, 3), 0.5, lambda: tensor(2, 3)
    ),
    "distributions.RelaxedOneHotCategorical: probabilities": of(
        "RelaxedOneHotCategorical",
        lambda: probabilities(4, 2, 3),
        lambda: tf.constant(0.7),
        probs=lambda: shares(2, 3),
        name="own",
    ),
    "distributions.RelaxedOneHotCategorical: one": of(
        "RelaxedOneHotCategorical",
        lambda: probabilities(3),
        2.0,
        [0.5, 1.0, -0.5],
        validate_args=True,
    ),
    "distributions.RelaxedBernoulli": of(
        "RelaxedBernoulli",
        lambda: shares(2, 3),
        0.5,
        lambda: tensor(2, 3),
        quantile=True,
        attributes=("logits", "probs", "temperature"),
    ),
    "distributions.RelaxedBernoulli: probabilities": of(
        "RelaxedBernoulli",
        lambda: shares(2, 3),
        lambda: tf.constant(2.0),
        None,
        lambda: shares(3),
        validate_args=True,
    ),
    "distributions.RelaxedBernoulli: negative": checked(
        "RelaxedBernoulli", lambda dist: dist.sample(), temperature=-1.0, probs=0.5
    ),
    "distributions.Independent": independent(),
    "distributions.Independent: all": independent(2, validate_args=True, name="own"),
    "distributions.Independent: none": independent(0),
    "distributions.Independent: too many": independent(3),
    "distributions.Independent: divergence": independent_divergence(1, 1),
    "distributions.Independent: other events": independent_divergence(1, 2),
    "distributions.Mixture": mixture(),
    "distributions.Mixture: static": mixture(use_static_graph=True, name="own"),
    "distributions.Mixture: checked": mixture(validate_args=True),
    "distributions.Mixture: vectors": vector_mixture,
    "distributions.Mixture: one": of_one(False),
    "distributions.Mixture: one, static": of_one(True),
    "distributions.Mixture: other count": refused_mixture(
        3, lambda: [distributions.Normal(0.0, 1.0)]
    ),
    "distributions.Mixture: nothing": refused_mixture(1, []),
    "distributions.Mixture: no distribution": refused_mixture(1, [1.0]),
    "distributions.Mixture: other types": refused_mixture(
        2, lambda: [distributions.Normal(0.0, 1.0), distributions.Bernoulli(0.5)]
    ),
    "distributions.MixtureSameFamily": same_family(False),
    "distributions.MixtureSameFamily: vectors": same_family(True),
    "distributions.MixtureSameFamily: scalar": same_family(False, scalar=True),
    "distributions.MixtureSameFamily: other count": refused_family(
        lambda: distributions.Categorical([0.5, 1.0]), [3]
    ),
    "distributions.MixtureSameFamily: other batch": refused_family(
        lambda: distributions.Categorical(tf.zeros([4, 3])), [2, 3]
    ),
    "distributions.MixtureSameFamily: no integers": refused_family(
        lambda: distributions.Normal(0.0, 1.0), [3]
    ),
    "distributions.ConditionalDistribution": conditional,
    "distributions.ConditionalTransformedDistribution": conditional_transformed,
    "distributions.SeedStream": stream,
    "distributions.BetaWithSoftplusConcentration": of(
        "BetaWithSoftplusConcentration", lambda: shares(3), lambda: tensor(3), 1.0
    ),
    "distributions.ExponentialWithSoftplusRate": of(
        "ExponentialWithSoftplusRate", lambda: shares(3), lambda: tensor(3)
    ),
    "distributions.GammaWithSoftplusConcentrationRate": of(
        "GammaWithSoftplusConcentrationRate", lambda: shares(3), lambda: tensor(3), 1.0
    ),
    "distributions.LaplaceWithSoftplusScale": of(
        "LaplaceWithSoftplusScale", lambda: shares(3), 0.5, lambda: tensor(3)
    ),
    "distributions.NormalWithSoftplusScale": of(
        "NormalWithSoftplusScale", lambda: shares(3), 0.5, lambda: tensor(3)
    ),
    "distributions.StudentTWithAbsDfSoftplusScale": of(
        "StudentTWithAbsDfSoftplusScale", lambda: shares(3), -3.5, 0.5, lambda: tensor(3)
    ),
    "distributions.WishartFull": wishart("WishartFull", lambda: covariance(3, 3)),
    "distributions.WishartFull: batch": wishart(
        "WishartFull", lambda: covariance(2, 3, 3), validate_args=True, name="own"
    ),
    "distributions.WishartFull: factors": wishart(
        "WishartFull", lambda: covariance(3, 3), cholesky_input_output_matrices=True
    ),
    "distributions.WishartFull: not symmetric": checked(
        "WishartFull", lambda dist: dist.mean(), df=4.0, scale=[[2.0, 0.0], [1.0, 2.0]]
    ),
    "distributions.WishartFull: too few": wishart(
        "WishartFull", lambda: covariance(3, 3), lambda: 2.0
    ),
    "distributions.WishartFull: integers": wishart("WishartFull", lambda: [[2, 0], [0, 2]]),
    "distributions.WishartCholesky": wishart(
        "WishartCholesky", lambda: tf.cholesky(covariance(3, 3)), validate_args=True
    ),
    "distributions.WishartCholesky: unknown": wishart(
        "WishartCholesky",
        lambda: tf.placeholder_with_default(tf.cholesky(covariance(3, 3)), [None, None]),
        lambda: unknown(4.5, []),
    ),
    "distributions.WishartCholesky: not positive": checked(
        "WishartCholesky", lambda dist: dist.mean(), df=4.0, scale=[[-2.0, 0.0], [1.0, 2.0]]
    ),
}
