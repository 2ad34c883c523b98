"""tf.contrib.distributions: parameters; and tf.contrib.opt and tf.contrib.util's later names."""

import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case, Steps

distributions = tf.contrib.distributions


def tensor(*shape):
    return tf.constant(array(*shape), name="input")


def stale(limit, behind):
    """Three steps; before the gradients are applied, others make some steps."""

    def build():
        step = tf.train.get_or_create_global_step()
        weights = tf.get_variable("weights", initializer=array(3))
        optimizer = tf.contrib.opt.DropStaleGradientOptimizer(
            tf.train.MomentumOptimizer(0.1, 0.9), limit
        )
        pairs = optimizer.compute_gradients(tf.reduce_sum(tf.square(weights)))
        with tf.control_dependencies([gradient for gradient, _ in pairs]):
            others = [tf.assign_add(step, behind)] if behind else []
        with tf.control_dependencies(others):
            pairs = [(tf.identity(gradient), each) for gradient, each in pairs]
        train = optimizer.apply_gradients(pairs, step)
        slot = optimizer.get_slot(weights, "momentum")
        names = optimizer.get_slot_names()
        return Steps([train, train, [train, names], [slot, step]])

    return Case(build, has_gradients=False)


def without(part):
    def build():
        weights = tf.get_variable("weights", initializer=array(3))
        if part == "argument":
            tf.train.get_or_create_global_step()
        optimizer = tf.contrib.opt.DropStaleGradientOptimizer(
            tf.train.GradientDescentOptimizer(0.1), 1
        )
        return optimizer.minimize(tf.reduce_sum(tf.square(weights)))

    return Case(build, has_gradients=False)


def definitions():
    with tf.Graph().as_default() as graph:
        tf.multiply(tf.constant(1.0), 2.0)
        op_list = tf.contrib.util.stripped_op_list_for_graph(graph.as_graph_def())
    return [each.name for each in op_list.op]


CASES = {
    "distributions.fill_triangular": lambda: distributions.fill_triangular(tensor(2, 6)),
    "distributions.fill_triangular: upper": lambda: distributions.fill_triangular(
        tensor(6), upper=True
    ),
    "distributions.fill_triangular_inverse": lambda: distributions.fill_triangular_inverse(
        tensor(2, 3, 3)
    ),
    "distributions.matrix_diag_transform": lambda: distributions.matrix_diag_transform(
        tensor(2, 3, 3), transform=tf.nn.softplus
    ),
    "distributions.percentile": lambda: distributions.percentile(tensor(3, 4), 30.0),
    "distributions.percentile: axis": lambda: distributions.percentile(
        tensor(3, 4), 50.0, axis=-1, keep_dims=True
    ),
    "distributions.percentile: axes": lambda: distributions.percentile(
        tensor(3, 4, 2), 62.5, axis=[2, 0], interpolation="lower", validate_args=True
    ),
    "distributions.percentile: higher": lambda: distributions.percentile(
        tf.constant([3, 1, 2, 7]), 40, interpolation="higher", keep_dims=True, name="own"
    ),
    "distributions.percentile: linear": lambda: distributions.percentile(
        tensor(3), 40, interpolation="linear"
    ),
    "distributions.percentile: two": lambda: distributions.percentile(tensor(3), [40.0, 50.0]),
    "distributions.percentile: no axis": lambda: distributions.percentile(tensor(3), 40.0, axis=1),
    "distributions.percentile: outside": lambda: distributions.percentile(
        tensor(3), 140.0, validate_args=True
    ),
    "distributions.reduce_weighted_logsumexp": lambda: distributions.reduce_weighted_logsumexp(
        tensor(2, 3), w=tf.constant(array(2, 3)), axis=1, return_sign=True
    ),
    "distributions.softplus_inverse": lambda: distributions.softplus_inverse(
        tf.constant([1e-8, 0.5, 3.0, 40.0], name="input")
    ),
    "distributions.tridiag": lambda: distributions.tridiag(tensor(2), tensor(3), tensor(2)),
    "opt.DropStaleGradientOptimizer": stale(0, 0),
    "opt.DropStaleGradientOptimizer: fresh": stale(2, 2),
    "opt.DropStaleGradientOptimizer: stale": stale(1, 2),
    "opt.DropStaleGradientOptimizer: no step": without("step"),
    "opt.DropStaleGradientOptimizer: no argument": without("argument"),
    "util.stripped_op_list_for_graph": definitions,
}
