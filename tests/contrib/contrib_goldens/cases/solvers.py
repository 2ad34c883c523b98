"""tf.contrib.solvers and bayesflow: solutions of small systems, and expectations from samples."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array, unknown, x
from contrib_goldens.observe import Case

solvers = tf.contrib.solvers
monte_carlo = tf.contrib.bayesflow.monte_carlo
util = solvers.util
_POSITIVE = array(4, 4).dot(array(4, 4).T) + np.eye(4, dtype=np.float32)


def solved(**options):
    def build():
        operator = util.create_operator(tf.constant(_POSITIVE))
        arguments = {name: make() for name, make in options.items() if callable(make)}
        arguments.update({name: each for name, each in options.items() if not callable(each)})
        return solvers.linear_equations.conjugate_gradient(
            operator, tf.constant(array(4)), **arguments
        )

    return Case(build, has_gradients=False)


def preconditioner():
    return util.create_operator(tf.constant(np.diag(1 / np.diag(_POSITIVE))))


def fitted(shape=None, **options):
    def build():
        matrix = tf.constant(array(5, 3)) if shape is None else unknown(array(5, 3), shape)
        operator = util.create_operator(matrix)
        return solvers.least_squares.cgls(operator, tf.constant(array(5)), **options)

    return Case(build, has_gradients=False)


def split(**options):
    def build():
        operator = util.create_operator(tf.constant(array(5, 4)))
        arguments = dict(options)
        if "starting_vector" in arguments:
            arguments["starting_vector"] = tf.constant(array(5))
        bidiagonal = solvers.lanczos.lanczos_bidiag(operator, **arguments)
        return bidiagonal, solvers.lanczos.bidiag_matmul(
            bidiagonal.u, bidiagonal.alpha, bidiagonal.beta
        )

    return Case(build, has_gradients=False)


def operators():
    matrix_operator = util.create_operator(x(3, 2))
    part = util.create_operator(unknown(array(3, 2), [None, 2]))
    same = util.identity_operator(x(3, 2))
    vector = tf.constant(array(2, 1))
    return [
        matrix_operator.shape,
        matrix_operator.dtype,
        matrix_operator.apply(vector),
        matrix_operator.apply_adjoint(tf.constant(array(3, 1))),
        part.shape,
        same.apply(vector),
        same.apply_adjoint(vector),
        list(matrix_operator._fields),
    ]


def normal():
    return tf.distributions.Normal(tf.constant([0.0, 1.0]), tf.constant([1.0, 2.0]))


def sampled(function, **options):
    def build():
        target = tf.distributions.Normal(tf.constant([0.5, 0.5], name="input"), 1.5)
        samples = {"z": tf.constant(array(6, 2))} if "n" not in options else {}
        arguments = dict(samples, **options)
        return getattr(monte_carlo, function)(
            lambda z: z * z - 0.5 if function.endswith("sampler") else z / 4,
            target.log_prob,
            normal(),
            **arguments,
        )

    return build


def expected(**options):
    def build():
        samples = x(6, 2)
        arguments = dict(options)
        if arguments.pop("score", False):
            arguments.update(use_reparametrization=False, log_prob=normal().log_prob)
        return monte_carlo.expectation(tf.square, samples, **arguments)

    return build


CASES = {
    "bayesflow.monte_carlo.expectation": expected(),
    "bayesflow.monte_carlo.expectation: all": expected(axis=None, name="own"),
    "bayesflow.monte_carlo.expectation: axis": expected(axis=1, keep_dims=True),
    "bayesflow.monte_carlo.expectation: no function": lambda: monte_carlo.expectation(1, x(2)),
    "bayesflow.monte_carlo.expectation: no log_prob": expected(use_reparametrization=False),
    "bayesflow.monte_carlo.expectation: score": lambda: monte_carlo.expectation(
        lambda z: z * tf.constant(2.0, name="input"),
        tf.constant(array(5)),
        tf.distributions.Normal(tf.constant(0.5, name="input"), 1.0).log_prob,
        use_reparametrization=False,
    ),
    "bayesflow.monte_carlo.expectation_importance_sampler": sampled(
        "expectation_importance_sampler"
    ),
    "bayesflow.monte_carlo.expectation_importance_sampler: drawn": sampled(
        "expectation_importance_sampler", n=5, seed=3, name="own"
    ),
    "bayesflow.monte_carlo.expectation_importance_sampler: both": sampled(
        "expectation_importance_sampler", n=5, z=array(5, 2)
    ),
    "bayesflow.monte_carlo.expectation_importance_sampler_logspace": sampled(
        "expectation_importance_sampler_logspace"
    ),
    "bayesflow.monte_carlo.expectation_importance_sampler_logspace: neither": sampled(
        "expectation_importance_sampler_logspace", n=None
    ),
    "solvers.lanczos.bidiag_matmul": lambda: solvers.lanczos.bidiag_matmul(
        x(3, 5), x(4), tf.constant(array(4)), name="own"
    ),
    "solvers.lanczos.bidiag_matmul: adjoint": lambda: solvers.lanczos.bidiag_matmul(
        x(3, 4), x(4), x(4), adjoint_b=True
    ),
    "solvers.lanczos.lanczos_bidiag": split(k=3, starting_vector=True),
    "solvers.lanczos.lanczos_bidiag: not orthogonal": split(
        k=3, starting_vector=True, orthogonalize=False, name="own"
    ),
    "solvers.lanczos.lanczos_bidiag: random": split(k=2),
    "solvers.least_squares.cgls": fitted(),
    "solvers.least_squares.cgls: few": fitted(max_iter=2, name="own"),
    "solvers.least_squares.cgls: tol": fitted(tol=0.3),
    "solvers.least_squares.cgls: unknown": fitted([None, None]),
    "solvers.linear_equations.conjugate_gradient": solved(),
    "solvers.linear_equations.conjugate_gradient: few": solved(max_iter=2, name="own"),
    "solvers.linear_equations.conjugate_gradient: preconditioner": solved(
        preconditioner=preconditioner, tol=1e-3
    ),
    "solvers.linear_equations.conjugate_gradient: start": solved(x=lambda: array(4) + 1, tol=0.1),
    "solvers.util.create_operator": Case(operators, has_gradients=False),
    "solvers.util.dot": lambda: util.dot(x(3, 1), x(3, 1)),
    "solvers.util.dot: complex": Case(
        lambda: tf.real(util.dot(*[tf.complex(x(3), x(3) + 1)] * 2)), has_gradients=False
    ),
    "solvers.util.identity_operator": Case(
        lambda: util.identity_operator(unknown(array(3, 2))).shape, has_gradients=False
    ),
    "solvers.util.l2norm": lambda: util.l2norm(x(3, 1)),
    "solvers.util.l2norm_squared": lambda: util.l2norm_squared(x(3, 1)),
    "solvers.util.l2normalize": lambda: util.l2normalize(x(3, 1)),
}
