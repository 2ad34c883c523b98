"""tf.contrib.opt: three steps of each optimizer, with its slots."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case, Steps

opt = tf.contrib.opt
second = tf.contrib.optimizer_v2


def trained(make, sparse=False, steps=3, two=False):
    """The variables and slots after some steps of a quadratic loss."""

    def build():
        step = tf.train.get_or_create_global_step()
        first = tf.get_variable("a", initializer=array(4, 2))
        second = tf.get_variable("b", initializer=array(3))
        read = tf.gather(first, [0, 2, 2]) if sparse else first
        loss = tf.reduce_sum(tf.square(read - 0.5)) + 0.5 * tf.reduce_sum(tf.square(second))
        optimizer = make()
        gradients = optimizer.compute_gradients(loss)
        with tf.control_dependencies([each for each, _ in gradients]):  # otherwise decay races
            train_op = optimizer.apply_gradients(gradients, global_step=step)
        return Steps([train_op] * steps + [first, second, step])

    return Case(build, has_gradients=False)


def averaged():
    step = tf.train.get_or_create_global_step()
    weight = tf.get_variable("a", initializer=array(4, 2))
    optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 0.5)
    train_op = optimizer.minimize(tf.reduce_sum(tf.square(weight)), global_step=step)
    saver = optimizer.swapping_saver()
    return Steps([train_op, train_op, weight, sorted(saver._var_list) and weight])


def external(bounds):
    weight = tf.get_variable("w", initializer=np.array([7.0, 7.0], np.float32))
    loss = tf.reduce_sum(tf.square(weight - [1.0, 2.0]))
    options = {"var_to_bounds": {weight: (2.0, 5.0)}} if bounds else {}
    optimizer = opt.ScipyOptimizerInterface(loss, options={"maxiter": 50}, **options)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        optimizer.minimize(session)
        return session.run(weight).round(3)


def own_external():
    class Halving(opt.ExternalOptimizerInterface):
        """An optimizer that takes half a step to the minimum."""

        def _minimize(
            self,
            initial_val,
            loss_grad_func,
            equality_funcs,
            equality_grad_funcs,
            inequality_funcs,
            inequality_grad_funcs,
            packed_bounds,
            step_callback,
            optimizer_kwargs,
        ):
            _, gradient = loss_grad_func(initial_val)
            return initial_val - optimizer_kwargs["rate"] * gradient

    weight = tf.get_variable("w", initializer=np.array([7.0, 7.0], np.float32))
    optimizer = Halving(tf.reduce_sum(tf.square(weight)), rate=0.25)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        optimizer.minimize(session)
        return session.run(weight)


def multitask():
    wrapped = opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.1, 0.9))
    weight = tf.get_variable("w", initializer=np.array([1.0, 2.0], np.float32))
    gradient = tf.placeholder_with_default(np.array([1.0, 1.0], np.float32), [2])
    nothing = tf.placeholder_with_default(np.zeros(2, np.float32), [2])
    used = wrapped.apply_gradients([(gradient, weight)])
    masked = wrapped.apply_gradients([(nothing, weight)])
    return Steps([used, weight, masked, weight, used, weight])


def clipped():
    pairs = [(tf.constant(array(2, 2)), tf.get_variable("v", [2, 2])), (None, None)]
    return opt.clip_gradients_by_global_norm(pairs[:1], clip_norm=0.5)[0][0]


def decayed(**options):
    decaying = opt.extend_with_decoupled_weight_decay(tf.train.AdamOptimizer)
    return decaying(weight_decay=0.1, learning_rate=0.1, **options)


def own_decay():
    class Decaying(opt.DecoupledWeightDecayExtension, tf.train.GradientDescentOptimizer):
        """Gradient descent with weight decay."""

        def __init__(self, weight_decay, *args, **kwargs):
            super().__init__(weight_decay, *args, **kwargs)

    return Decaying(0.1, learning_rate=0.1)


def some_decayed():
    weight, other = (tf.get_variable(name, initializer=array(3)) for name in "ab")
    optimizer = opt.MomentumWOptimizer(0.1, 0.1, 0.9)
    loss = tf.reduce_sum(tf.square(weight)) + tf.reduce_sum(tf.square(other))
    gradients = optimizer.compute_gradients(loss)
    with tf.control_dependencies([each for each, _ in gradients]):
        train_op = optimizer.apply_gradients(gradients, decay_var_list=[weight])
    return Steps([train_op, weight, other])


def shampoo(**options):
    # With the default of 0.0001, rounding errors of a matrix without full rank grow a hundredfold.
    options.setdefault("epsilon", 0.01)
    return lambda: opt.ShampooOptimizer(tf.train.get_or_create_global_step(), **options)


CASES = {
    "opt.AdaMaxOptimizer": trained(lambda: opt.AdaMaxOptimizer(0.1)),
    "opt.AdaMaxOptimizer: sparse": trained(lambda: opt.AdaMaxOptimizer(0.1), sparse=True),
    "opt.AdamGSOptimizer": trained(
        lambda: opt.AdamGSOptimizer(tf.train.get_or_create_global_step(), 0.1)
    ),
    "opt.AdamWOptimizer": trained(lambda: opt.AdamWOptimizer(0.1, 0.1)),
    "opt.AdamWOptimizer: sparse": trained(lambda: opt.AdamWOptimizer(0.1, 0.1), sparse=True),
    "opt.AddSignOptimizer": trained(opt.AddSignOptimizer),
    "opt.AddSignOptimizer: sparse": trained(
        lambda: opt.AddSignOptimizer(0.2, alpha=0.5, beta=0.8), sparse=True
    ),
    "opt.DecoupledWeightDecayExtension": trained(own_decay),
    "opt.ExternalOptimizerInterface": own_external,
    "opt.ScipyOptimizerInterface": lambda: external(False),
    "opt.ScipyOptimizerInterface: bounds": lambda: external(True),
    "opt.LARSOptimizer": trained(lambda: opt.LARSOptimizer(0.1)),
    "opt.LARSOptimizer: Nesterov": trained(
        lambda: opt.LARSOptimizer(0.1, weight_decay=0.1, skip_list=["b"], use_nesterov=True)
    ),
    "opt.LazyAdamGSOptimizer": trained(
        lambda: opt.LazyAdamGSOptimizer(tf.train.get_or_create_global_step(), 0.1), sparse=True
    ),
    "opt.LazyAdamOptimizer": trained(lambda: opt.LazyAdamOptimizer(0.1)),
    "opt.LazyAdamOptimizer: sparse": trained(lambda: opt.LazyAdamOptimizer(0.1), sparse=True),
    "opt.MomentumWOptimizer": trained(lambda: opt.MomentumWOptimizer(0.1, 0.1, 0.9)),
    "opt.MomentumWOptimizer: some": Case(some_decayed, has_gradients=False),
    "opt.MovingAverageOptimizer": Case(averaged, has_gradients=False),
    "opt.MultitaskOptimizerWrapper": Case(multitask, has_gradients=False),
    "opt.NadamOptimizer": trained(lambda: opt.NadamOptimizer(0.1)),
    "opt.NadamOptimizer: sparse": trained(lambda: opt.NadamOptimizer(0.1), sparse=True),
    "opt.PowerSignOptimizer": trained(opt.PowerSignOptimizer),
    "opt.PowerSignOptimizer: decay": trained(
        lambda: opt.PowerSignOptimizer(0.2, base=2.0, sign_decay_fn=lambda step: 0.5)
    ),
    "opt.RegAdagradOptimizer": trained(lambda: opt.RegAdagradOptimizer(0.1)),
    "opt.RegAdagradOptimizer: sparse": trained(lambda: opt.RegAdagradOptimizer(0.1), sparse=True),
    # With a small svd_eps, the last bits of the decomposition grow a thousandfold.
    "opt.GGTOptimizer": trained(lambda: opt.GGTOptimizer(0.1, svd_eps=0.5)),
    "opt.GGTOptimizer: inside of the window": trained(
        lambda: opt.GGTOptimizer(0.1, beta1=0.5, window=2, eps=9.0, svd_eps=0.1, sigma_eps=0.1),
        steps=5,
    ),
    **{
        "optimizer_v2." + name: trained(lambda name=name: getattr(second, name)(0.1))
        for name in ("AdadeltaOptimizer", "AdagradOptimizer", "GradientDescentOptimizer")
    },
    **{
        "optimizer_v2.%s: sparse" % name: trained(
            lambda name=name: getattr(second, name)(0.1), sparse=True
        )
        for name in ("AdagradOptimizer", "AdamOptimizer", "GradientDescentOptimizer")
    },
    "optimizer_v2.RMSPropOptimizer": trained(lambda: second.RMSPropOptimizer(0.1)),
    "optimizer_v2.RMSPropOptimizer: centered": trained(
        lambda: second.RMSPropOptimizer(0.01, 0.8, 0.5, 0.3, centered=True, name="own")
    ),
    "optimizer_v2.RMSPropOptimizer: sparse": trained(
        lambda: second.RMSPropOptimizer(lambda: 0.1, momentum=0.3, epsilon=0.1), sparse=True
    ),
    "optimizer_v2.RMSPropOptimizer: sparse and centered": trained(
        lambda: second.RMSPropOptimizer(0.01, 0.8, 0.5, 0.3, centered=True), sparse=True
    ),
    "optimizer_v2.AdamOptimizer": trained(lambda: second.AdamOptimizer(0.1, 0.8, 0.9)),
    "optimizer_v2.MomentumOptimizer": trained(lambda: second.MomentumOptimizer(0.1, 0.9)),
    "optimizer_v2.MomentumOptimizer: Nesterov": trained(
        lambda: second.MomentumOptimizer(0.1, 0.9, use_nesterov=True)
    ),
    "opt.ShampooOptimizer": trained(shampoo()),
    "opt.ShampooOptimizer: averages": trained(
        shampoo(
            gbar_decay=0.9,
            gbar_weight=0.1,
            mat_gbar_decay=0.8,
            mat_gbar_weight=0.5,
            learning_rate=0.3,
            alpha=0.4,
        )
    ),
    "opt.ShampooOptimizer: diagonal": trained(shampoo(max_matrix_size=2)),
    "opt.ShampooOptimizer: diagonal averages": trained(
        shampoo(max_matrix_size=2, mat_gbar_decay=0.8, mat_gbar_weight=0.5)
    ),
    "opt.ShampooOptimizer: intervals": trained(
        shampoo(svd_interval=2, precond_update_interval=2), steps=5
    ),
    "opt.ShampooOptimizer: iterative": trained(shampoo(use_iterative_root=True, svd_interval=2)),
    "opt.ShampooOptimizer: sparse": trained(shampoo(), sparse=True),
    "opt.ShampooOptimizer: sparse diagonal": trained(shampoo(max_matrix_size=3), sparse=True),
    "opt.ShampooOptimizer: sparse diagonal averages": trained(
        shampoo(max_matrix_size=3, gbar_decay=0.9, gbar_weight=0.1, mat_gbar_decay=0.8), sparse=True
    ),
    "opt.VariableClippingOptimizer": trained(
        lambda: opt.VariableClippingOptimizer(
            tf.train.GradientDescentOptimizer(0.1), {tf.global_variables()[1]: [1]}, 0.5
        )
    ),
    "opt.VariableClippingOptimizer: sparse": trained(
        lambda: opt.VariableClippingOptimizer(
            tf.train.GradientDescentOptimizer(0.1), {tf.global_variables()[1]: [1]}, 0.5
        ),
        sparse=True,
    ),
    "opt.clip_gradients_by_global_norm": clipped,
    "opt.extend_with_decoupled_weight_decay": trained(decayed),
}
