"""tf.contrib.distributions.bijectors, and distributions of their images."""

import tensorflow as tf
from contrib_goldens.cases.distribution_families import described, named, positive, tensor, tried
from contrib_goldens.cases.inputs import array, shares, unknown
from contrib_goldens.observe import Case
from tensorflow.contrib.distributions.python.ops.bijectors.weibull import Weibull

distributions = tf.contrib.distributions
bijectors = distributions.bijectors


def observed(bijector, x, y, event_ndims, attributes=()):
    """What a bijector does with x and y."""
    seen = {
        "forward": tried(lambda: bijector.forward(x)),
        "inverse": tried(lambda: bijector.inverse(y)),
        "fldj": tried(lambda: bijector.forward_log_det_jacobian(x, event_ndims=event_ndims)),
        "ildj": tried(lambda: bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims)),
        "forward shape": tried(lambda: bijector.forward_event_shape(x.shape)),
        "inverse shape": tried(lambda: bijector.inverse_event_shape(y.shape)),
        "forward shape tensor": tried(lambda: bijector.forward_event_shape_tensor(tf.shape(x))),
        "inverse shape tensor": tried(lambda: bijector.inverse_event_shape_tensor(tf.shape(y))),
        "name": bijector.name,
        "dtype": bijector.dtype,
        "is constant": bijector.is_constant_jacobian,
        "forward ndims": bijector.forward_min_event_ndims,
        "inverse ndims": bijector.inverse_min_event_ndims,
        "validates": bijector.validate_args,
    }
    seen.update({key: getattr(bijector, key) for key in attributes})
    return named(seen)


def of(kind, x, y, event_ndims=0, attributes=(), **options):
    """A case of a bijector: arguments that are functions are called in the graph."""

    def build():
        arguments = {key: each() if callable(each) else each for key, each in options.items()}
        bijector = (Weibull if kind == "Weibull" else getattr(bijectors, kind))(**arguments)
        return observed(bijector, x(), y(), event_ndims, attributes)

    return build


def checked(kind, function, **options):
    """A case of what validate_args refuses."""

    def build():
        arguments = {key: each() if callable(each) else each for key, each in options.items()}
        class_ = Weibull if kind == "Weibull" else getattr(bijectors, kind)
        return function(class_(validate_args=True, **arguments))

    return Case(build, has_gradients=False)


def absolute():
    bijector, y = bijectors.AbsoluteValue(), positive(2, 3)
    inverse = bijector.inverse(y)
    ildj = bijector.inverse_log_det_jacobian(y, event_ndims=0)
    seen = {"forward": bijector.forward(tensor(3)), "name": bijector.name}
    seen.update({"inverse %d" % i: each for i, each in enumerate(inverse)})
    seen.update({"ildj %d" % i: each for i, each in enumerate(ildj)})
    return named(seen)


def chain(make, x, y, event_ndims, **options):
    def build():
        chain = bijectors.Chain(make(), **options)
        return observed(chain, x(), y(), event_ndims)

    return build


def inline():
    inline_bijector = bijectors.Inline(
        forward_fn=tf.exp,
        inverse_fn=tf.log,
        inverse_log_det_jacobian_fn=lambda y: -tf.log(y),
        forward_min_event_ndims=0,
    )
    return observed(inline_bijector, tensor(2, 3), positive(2, 3), 0)


def no_inline():
    return bijectors.Inline(forward_min_event_ndims=0).forward(1.0)


def conditional():
    class Times(bijectors.ConditionalBijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0, name="times")

        def _forward(self, x, by):
            return x * by

        def _inverse(self, y, by):
            return y / by

        def _forward_log_det_jacobian(self, x, by):
            return tf.log(tf.abs(by)) + tf.zeros_like(x)

        def _inverse_log_det_jacobian(self, y, by):
            return -tf.log(tf.abs(by)) + tf.zeros_like(y)

    times, x, by = Times(), tensor(3), tf.constant(2.0)
    return named(
        {
            "forward": times.forward(x, by=by),
            "inverse": times.inverse(x, by=by),
            "fldj": times.forward_log_det_jacobian(x, event_ndims=0, by=by),
            "ildj": times.inverse_log_det_jacobian(x, event_ndims=1, by=by),
        }
    )


def network(shift_only=False, **options):
    """A function of shifts and scales with fixed kernels."""

    def build(x):
        matrix = tf.constant([[0.0, 0.3, -0.2], [0.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
        shift = tf.matmul(x, matrix)
        return shift, None if shift_only else tf.tanh(tf.matmul(x, matrix * 0.5))

    return build


def autoregressive(shift_only=False, **options):
    def build():
        bijector = bijectors.MaskedAutoregressiveFlow(network(shift_only), **options)
        return observed(bijector, tensor(2, 3), tf.constant(array(2, 3)), 1)

    return build


def template(**options):
    def build():
        template = bijectors.masked_autoregressive_default_template([8, 6], **options)
        shift, log_scale = template(tensor(2, 3))
        again = template(tf.constant(array(4, 3)))[0]
        seen = {"shift": shift, "again": again}
        if log_scale is not None:
            seen["log scale"] = log_scale
        return named(seen)

    return build


def flow():
    """A flow with a network, as programs have it."""
    transformed = distributions.TransformedDistribution(
        distribution=distributions.Normal(0.0, 1.0),
        bijector=bijectors.Chain(
            [
                bijectors.Permute([2, 0, 1]),
                bijectors.MaskedAutoregressiveFlow(
                    bijectors.masked_autoregressive_default_template([4], activation=tf.tanh)
                ),
            ]
        ),
        event_shape=[3],
        name="flow",
    )
    return named(
        {"log_prob": transformed.log_prob(tensor(2, 3)), "sample": transformed.sample(2, seed=1)}
    )


def masked(**options):
    def build():
        return tf.identity(bijectors.masked_dense(tensor(2, 4), **options), name="made")

    return build


def unknown_size():
    return bijectors.masked_dense(unknown(array(2, 4)), 4, num_blocks=2)


def coupling(shift_only=False):
    def build():
        def function(x, units):
            total = tf.reduce_sum(x, -1, keepdims=True)
            shift = tf.concat([total * 0.5] * units, -1)
            return shift, None if shift_only else tf.tanh(shift)

        real_nvp = bijectors.RealNVP(2, function)
        return observed(real_nvp, tensor(2, 3), tf.constant(array(2, 3)), 1)

    return build


def coupling_template(**options):
    def build():
        template = bijectors.real_nvp_default_template([4, 5], **options)
        shift, log_scale = template(tensor(2, 3), 2)
        seen = {"shift": shift, "again": template(tf.constant(array(4, 3)), 2)[0]}
        if log_scale is not None:
            seen["log scale"] = log_scale
        return named(seen)

    return build


def all_masked():
    real_nvp = bijectors.RealNVP(3, lambda x, units: (x, None))
    return real_nvp.forward(tf.zeros([2, 3]))


def normalization(layer=None, **options):
    def build():
        normalization = bijectors.BatchNormalization(layer and layer(), **options)
        return observed(normalization, tensor(4, 3), tf.constant(array(4, 3)) * 2.0, 1)

    return build


def transformed(
    base, bijector, values, shares_of=None, batch_shape=None, event_shape=None, **options
):
    def build():
        transformed = distributions.TransformedDistribution(
            base(), bijector(), batch_shape=batch_shape, event_shape=event_shape, **options
        )
        return described(transformed, values(), shares_of and shares_of())

    return build


def normal(*shape):
    return lambda: distributions.Normal(tensor(*shape), positive(*shape))


def standard():
    return distributions.Normal(tf.constant(0.5), tf.constant(2.0))


def lower(*shape):
    matrix = tf.matrix_band_part(tf.constant(array(*shape)), -1, 0)
    return matrix + 2.0 * tf.eye(shape[-1])


def vectors():
    return tensor(2, 3)


def values():
    return tf.constant(array(2, 3))


def high():
    return tf.exp(tf.constant(array(2, 3)))


def fractions():
    return shares(2, 3)


def distribution_of(*shape):
    return lambda: tf.nn.softmax(tf.constant(array(*shape)))


CASES = {
    "distributions.bijectors.AbsoluteValue": absolute,
    "distributions.bijectors.AbsoluteValue: negative": checked(
        "AbsoluteValue", lambda bijector: bijector.inverse(-1.0)
    ),
    "distributions.bijectors.AffineScalar": of(
        "AffineScalar",
        vectors,
        values,
        shift=lambda: tf.constant(0.5),
        scale=lambda: tf.constant([1.0, -2.0, 0.5]),
        attributes=("shift", "scale"),
    ),
    "distributions.bijectors.AffineScalar: nothing": of("AffineScalar", vectors, values),
    "distributions.bijectors.AffineScalar: shift": of(
        "AffineScalar", vectors, values, 1, shift=2.0
    ),
    "distributions.bijectors.AffineScalar: zero": checked(
        "AffineScalar", lambda bijector: bijector.forward(1.0), scale=0.0
    ),
    "distributions.bijectors.Exp": of("Exp", vectors, high),
    "distributions.bijectors.Exp: vector": of("Exp", vectors, high, 1, name="own"),
    "distributions.bijectors.Exp: negative": checked(
        "Exp", lambda bijector: bijector.inverse(-1.0)
    ),
    "distributions.bijectors.PowerTransform": of(
        "PowerTransform", lambda: positive(2, 3), high, power=0.5, attributes=("power",)
    ),
    "distributions.bijectors.PowerTransform: negative": of(
        "PowerTransform", vectors, high, power=-1.0
    ),
    "distributions.bijectors.PowerTransform: domain": checked(
        "PowerTransform", lambda bijector: bijector.forward(-3.0), power=0.5
    ),
    "distributions.bijectors.Sigmoid": of("Sigmoid", vectors, fractions),
    "distributions.bijectors.Softplus": of(
        "Softplus", vectors, high, attributes=("hinge_softness",)
    ),
    "distributions.bijectors.Softplus: soft": of(
        "Softplus",
        vectors,
        high,
        1,
        hinge_softness=lambda: tf.constant(0.7),
        attributes=("hinge_softness",),
    ),
    "distributions.bijectors.Softplus: zero": checked(
        "Softplus", lambda bijector: bijector.forward(1.0), hinge_softness=0.0
    ),
    "distributions.bijectors.Softsign": of("Softsign", vectors, fractions),
    "distributions.bijectors.Softsign: domain": checked(
        "Softsign", lambda bijector: bijector.inverse(1.5)
    ),
    "distributions.bijectors.Square": of("Square", lambda: positive(2, 3), high),
    "distributions.bijectors.Square: negative": checked(
        "Square", lambda bijector: bijector.forward(-1.0)
    ),
    "distributions.bijectors.Gumbel": of(
        "Gumbel",
        vectors,
        fractions,
        loc=0.5,
        scale=lambda: tf.constant([1.0, 2.0, 0.5]),
        attributes=("loc", "scale"),
    ),
    "distributions.bijectors.Gumbel: domain": checked(
        "Gumbel", lambda bijector: bijector.inverse(1.5)
    ),
    "distributions.bijectors.Weibull": of(
        "Weibull",
        lambda: positive(2, 3),
        fractions,
        scale=2.0,
        concentration=1.5,
        attributes=("scale", "concentration"),
    ),
    "distributions.bijectors.Weibull: domain": checked(
        "Weibull", lambda bijector: bijector.forward(-1.0)
    ),
    "distributions.bijectors.Kumaraswamy": of(
        "Kumaraswamy",
        fractions,
        fractions,
        concentration1=2.0,
        concentration0=0.7,
        attributes=("concentration1", "concentration0"),
    ),
    "distributions.bijectors.Kumaraswamy: domain": checked(
        "Kumaraswamy",
        lambda bijector: bijector.forward(1.5),
        concentration1=2.0,
        concentration0=0.7,
    ),
    "distributions.bijectors.SinhArcsinh": of(
        "SinhArcsinh",
        vectors,
        values,
        skewness=0.3,
        tailweight=lambda: tf.constant(1.5),
        attributes=("skewness", "tailweight"),
    ),
    "distributions.bijectors.SinhArcsinh: nothing": of("SinhArcsinh", vectors, values, 1),
    "distributions.bijectors.SinhArcsinh: negative": checked(
        "SinhArcsinh", lambda bijector: bijector.forward(1.0), tailweight=-1.0
    ),
    "distributions.bijectors.Affine": of(
        "Affine",
        vectors,
        values,
        1,
        shift=lambda: tf.constant([1.0, 2.0, 3.0]),
        scale_tril=lambda: lower(3, 3),
        attributes=("shift",),
    ),
    "distributions.bijectors.Affine: nothing": of("Affine", vectors, values, 1),
    "distributions.bijectors.Affine: multiplier": of(
        "Affine",
        vectors,
        values,
        1,
        shift=1.0,
        scale_identity_multiplier=-2.0,
        attributes=("shift", "scale"),
    ),
    "distributions.bijectors.Affine: diagonal": of(
        "Affine",
        vectors,
        values,
        1,
        scale_diag=lambda: tf.constant([1.0, -2.0, 0.5]),
        scale_identity_multiplier=0.5,
    ),
    "distributions.bijectors.Affine: batch": of(
        "Affine",
        lambda: tensor(4, 2, 3),
        lambda: tf.constant(array(4, 2, 3)),
        1,
        shift=lambda: tf.constant(array(2, 3)),
        scale_tril=lambda: lower(2, 3, 3),
        scale_diag=lambda: tf.constant([0.5, 1.0, 1.5]),
    ),
    "distributions.bijectors.Affine: low rank": of(
        "Affine",
        vectors,
        values,
        1,
        scale_diag=lambda: tf.constant([1.0, 2.0, 0.5]),
        scale_perturb_factor=lambda: tf.constant(array(3, 2)),
        scale_perturb_diag=lambda: tf.constant([0.5, 1.0]),
        shift=lambda: tf.constant([0.0, 1.0, 2.0]),
    ),
    "distributions.bijectors.Affine: factor": of(
        "Affine",
        vectors,
        values,
        1,
        scale_identity_multiplier=2.0,
        scale_perturb_factor=lambda: tf.constant(array(3, 2)),
    ),
    "distributions.bijectors.Affine: unknown": of(
        "Affine",
        lambda: unknown(array(4, 2, 3)),
        lambda: unknown(array(4, 2, 3)),
        1,
        scale_tril=lambda: unknown(array(2, 3, 3) + 5.0),
    ),
    "distributions.bijectors.Affine: no factor": of(
        "Affine", vectors, values, 1, scale_perturb_diag=[1.0]
    ),
    "distributions.bijectors.Affine: two types": of(
        "Affine",
        vectors,
        values,
        1,
        shift=lambda: tf.zeros([3], tf.float64),
        scale_diag=[1.0, 2.0, 3.0],
    ),
    "distributions.bijectors.Affine: zero": checked(
        "Affine", lambda bijector: bijector.forward([1.0, 2.0]), scale_diag=[0.0, 1.0]
    ),
    "distributions.bijectors.Affine: too few dimensions": checked(
        "Affine", lambda bijector: bijector.forward([1.0, 2.0]), scale_diag=[[2.0, 1.0]]
    ),
    "distributions.bijectors.Invert": lambda: observed(
        bijectors.Invert(bijectors.SoftmaxCentered()), distribution_of(2, 4)(), vectors(), 1
    ),
    "distributions.bijectors.Invert: several": lambda: bijectors.Invert(bijectors.AbsoluteValue()),
    "distributions.bijectors.Chain": chain(
        lambda: [bijectors.Exp(), bijectors.AffineScalar(0.5, 2.0)], vectors, high, 0
    ),
    "distributions.bijectors.Chain: nothing": chain(lambda: None, vectors, values, 0),
    "distributions.bijectors.Chain: vectors": chain(
        lambda: [bijectors.SoftmaxCentered(), bijectors.Affine(scale_diag=[1.0, 2.0, 0.5])],
        vectors,
        distribution_of(2, 4),
        1,
        name="own",
    ),
    "distributions.bijectors.Chain: reshaped": chain(
        lambda: [bijectors.Softplus(), bijectors.Reshape([3, 2], [6])],
        lambda: tensor(2, 6),
        lambda: tf.exp(tf.constant(array(2, 3, 2))),
        1,
    ),
    "distributions.bijectors.Chain: unknown": chain(
        lambda: [bijectors.Sigmoid(), bijectors.Affine(shift=[1.0, 2.0, 3.0])],
        lambda: unknown(array(2, 3), [None, 3]),
        lambda: unknown(shares(2, 3).eval(session=tf.Session())),
        1,
    ),
    "distributions.bijectors.Chain: several": chain(
        lambda: [bijectors.AbsoluteValue()], vectors, values, 0
    ),
    "distributions.bijectors.Inline": inline,
    "distributions.bijectors.Inline: nothing": no_inline,
    "distributions.bijectors.ConditionalBijector": conditional,
    "distributions.bijectors.Permute": of(
        "Permute", vectors, values, 1, permutation=[2, 0, 1], attributes=("permutation",)
    ),
    "distributions.bijectors.Permute: twice": of("Permute", vectors, values, permutation=[0, 0, 1]),
    "distributions.bijectors.Permute: floats": of(
        "Permute", vectors, values, permutation=[0.0, 1.0]
    ),
    "distributions.bijectors.Permute: unknown": checked(
        "Permute",
        lambda bijector: bijector.forward([1.0, 2.0]),
        permutation=lambda: tf.placeholder_with_default([0, 0], [2]),
    ),
    "distributions.bijectors.Reshape": of(
        "Reshape",
        lambda: tensor(2, 6),
        lambda: tf.constant(array(2, 3, 2)),
        1,
        event_shape_out=[3, 2],
        event_shape_in=[6],
    ),
    "distributions.bijectors.Reshape: rest": of(
        "Reshape",
        lambda: tensor(2, 6),
        lambda: tf.constant(array(2, 3, 2)),
        2,
        event_shape_out=[3, -1],
    ),
    "distributions.bijectors.Reshape: unknown": of(
        "Reshape",
        lambda: unknown(array(2, 6)),
        lambda: unknown(array(2, 3, 2)),
        1,
        event_shape_out=[3, 2],
        event_shape_in=[6],
        validate_args=True,
        name="own",
    ),
    "distributions.bijectors.Reshape: other size": checked(
        "Reshape",
        lambda bijector: bijector.forward(tf.zeros([2, 5])),
        event_shape_out=[3, 2],
        event_shape_in=[6],
    ),
    "distributions.bijectors.Reshape: two rests": checked(
        "Reshape",
        lambda bijector: bijector.forward(tf.zeros([2, 6])),
        event_shape_out=[-1, -1],
        event_shape_in=[6],
    ),
    "distributions.bijectors.Reshape: negative": of(
        "Reshape", vectors, values, event_shape_out=[-2]
    ),
    "distributions.bijectors.Reshape: floats": of(
        "Reshape", vectors, values, event_shape_out=[2.0]
    ),
    "distributions.bijectors.SoftmaxCentered": of(
        "SoftmaxCentered", vectors, distribution_of(2, 4), 1
    ),
    "distributions.bijectors.SoftmaxCentered: unknown": of(
        "SoftmaxCentered",
        lambda: unknown(array(2, 3)),
        lambda: unknown(array(2, 4) + 5.0),
        1,
        validate_args=True,
    ),
    "distributions.bijectors.Ordered": of(
        "Ordered", lambda: tf.cumsum(positive(2, 3), -1), values, 1
    ),
    "distributions.bijectors.Ordered: not increasing": checked(
        "Ordered", lambda bijector: bijector.forward([1.0, 0.5])
    ),
    "distributions.bijectors.MaskedAutoregressiveFlow": autoregressive(),
    "distributions.bijectors.MaskedAutoregressiveFlow: shift": autoregressive(
        shift_only=True, is_constant_jacobian=True
    ),
    "distributions.bijectors.MaskedAutoregressiveFlow: unrolled": autoregressive(
        unroll_loop=True, name="own"
    ),
    "distributions.bijectors.MaskedAutoregressiveFlow: flow": flow,
    "distributions.bijectors.masked_autoregressive_default_template": template(),
    "distributions.bijectors.masked_autoregressive_default_template: shift": template(
        shift_only=True, activation=tf.nn.elu, name="own"
    ),
    "distributions.bijectors.masked_autoregressive_default_template: clipped": template(
        log_scale_min_clip=-0.1, log_scale_max_clip=0.1, kernel_initializer=tf.ones_initializer()
    ),
    "distributions.bijectors.masked_autoregressive_default_template: clipped gradient": template(
        log_scale_clip_gradient=True
    ),
    "distributions.bijectors.masked_dense": masked(units=6, num_blocks=2),
    "distributions.bijectors.masked_dense: exclusive": masked(
        units=5,
        num_blocks=4,
        exclusive=True,
        activation=tf.nn.relu,
        name="own",
        kernel_initializer=tf.ones_initializer(),
    ),
    "distributions.bijectors.masked_dense: unknown": unknown_size,
    "distributions.bijectors.RealNVP": coupling(),
    "distributions.bijectors.RealNVP: shift": coupling(shift_only=True),
    "distributions.bijectors.RealNVP: nothing": lambda: bijectors.RealNVP(0, None),
    "distributions.bijectors.RealNVP: all": all_masked,
    "distributions.bijectors.real_nvp_default_template": coupling_template(),
    "distributions.bijectors.real_nvp_default_template: shift": coupling_template(
        shift_only=True, activation=tf.tanh, name="own"
    ),
    "distributions.bijectors.BatchNormalization": normalization(),
    "distributions.bijectors.BatchNormalization: averages": normalization(training=False),
    "distributions.bijectors.BatchNormalization: layer": normalization(
        lambda: tf.layers.BatchNormalization(center=False, epsilon=0.1, name="own")
    ),
    "distributions.bijectors.BatchNormalization: other": normalization(lambda: tf.layers.Dense(2)),
    "distributions.bijectors.Identity": lambda: observed(
        bijectors.Identity(), vectors(), values(), 1
    ),
    "distributions.TransformedDistribution": transformed(
        standard, lambda: bijectors.Exp(), high, lambda: shares(3)
    ),
    "distributions.TransformedDistribution: batch": transformed(
        normal(3), lambda: bijectors.AffineScalar(1.0, -2.0), vectors, lambda: shares(3), name="own"
    ),
    "distributions.TransformedDistribution: identity": transformed(
        normal(3), lambda: None, vectors
    ),
    "distributions.TransformedDistribution: event": transformed(
        standard,
        lambda: bijectors.Affine([1.0, 2.0, 3.0], scale_diag=[1.0, 2.0, 0.5]),
        vectors,
        event_shape=[3],
    ),
    "distributions.TransformedDistribution: both": transformed(
        standard,
        lambda: bijectors.Affine([1.0, 2.0, 3.0], scale_diag=[1.0, 2.0, 0.5]),
        vectors,
        event_shape=[3],
        batch_shape=[2],
    ),
    "distributions.TransformedDistribution: rotated": transformed(
        normal(2),
        lambda: bijectors.Affine([1.0, 2.0, 3.0], scale_diag=[1.0, 2.0, 0.5]),
        vectors,
        event_shape=[3],
    ),
    "distributions.TransformedDistribution: batch of scalars": transformed(
        standard, lambda: bijectors.Sigmoid(), fractions, batch_shape=[2, 3]
    ),
    "distributions.TransformedDistribution: simplex": transformed(
        lambda: distributions.MultivariateNormalDiag(tensor(3), positive(3)),
        lambda: bijectors.SoftmaxCentered(),
        distribution_of(2, 4),
    ),
    "distributions.TransformedDistribution: several inverses": transformed(
        standard, lambda: bijectors.AbsoluteValue(), high
    ),
    "distributions.TransformedDistribution: not scalar": transformed(
        normal(3), lambda: bijectors.Exp(), high, batch_shape=[2]
    ),
    "distributions.TransformedDistribution: no vector": transformed(
        standard, lambda: bijectors.Exp(), high, event_shape=[[2]]
    ),
    "distributions.TransformedDistribution: negative shape": transformed(
        standard, lambda: bijectors.Exp(), high, event_shape=[-2]
    ),
}
