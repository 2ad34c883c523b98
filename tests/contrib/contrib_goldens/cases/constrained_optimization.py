"""tf.contrib.constrained_optimization: steps of each optimizer, and choices among candidates."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case, Steps

tfco = tf.contrib.constrained_optimization
_OBJECTIVES = np.array([0.5, -0.25, 1.0, 0.125, 0.75])
_CONSTRAINTS = np.array([[-0.5, 0.75, -1.0, 0.5, 0.0], [0.25, -0.5, -0.125, -0.75, 0.5]])


class Problem(tfco.ConstrainedMinimizationProblem):
    """Squares to minimize, with two linear constraints on three variables.

    The weights are read once, because 1.15.5 does not order a second read and their update.
    """

    def __init__(self, proxies=False, first=False, shape=(2,)):
        variable = tf.get_variable("weights", initializer=array(3), use_resource=True)
        self.weights = variable.read_value()
        self.count = tf.get_variable("count", initializer=tf.zeros([]), trainable=False)
        self._sums = tf.stack([tf.reduce_sum(self.weights), 0.5 - self.weights[0]])
        self._proxies, self._first, self._shape = proxies, first, shape

    @property
    def objective(self):
        return tf.reduce_sum(tf.square(self.weights - tf.constant([1.0, 2.0, -1.0])))

    @property
    def constraints(self):
        values = tf.cast(self._sums > 0, tf.float32) if self._proxies else self._sums
        return tf.reshape(values, self._shape)

    @property
    def proxy_constraints(self):
        return tf.reshape(tf.nn.softplus(self._sums), self._shape) if self._proxies else None

    @property
    def pre_train_ops(self):
        return [tf.assign_add(self.count, 1.0)] if self._first else None


class Additive(tfco.AdditiveExternalRegretOptimizer):
    """Reads the multipliers before they change: 1.15.5 does not order the two."""

    def _lagrange_multipliers(self, state):
        self.read = state.read_value()
        return self.read

    def _constraint_grad_and_var(self, state, gradient):
        with tf.control_dependencies([self.read]):
            gradient = tf.identity(gradient)
        return super()._constraint_grad_and_var(state, gradient)


class Sized(tfco.ConstrainedMinimizationProblem):
    """A problem of given tensors."""

    objective, constraints, proxy_constraints = None, None, None

    def __init__(self, objective, constraints, proxies=None):
        self.objective, self.constraints = objective, constraints
        self.proxy_constraints = proxies


class Penalized(tfco.ConstrainedOptimizer):
    """A fixed penalty, with the base class's methods."""

    def _minimize_constrained(self, minimization_problem, name=None, global_step=None, **others):
        loss = minimization_problem.objective
        loss += tf.reduce_sum(tf.nn.relu(minimization_problem.constraints))
        return self.optimizer.minimize(loss, global_step=global_step, name=name, **others)


def sgd(rate=0.25):
    return tf.train.GradientDescentOptimizer(rate)


def trained(kind, steps=4, problem=None, method="minimize_constrained", step=False, **options):
    """Runs steps, and reads the state after each."""

    def build():
        arguments = dict(options)
        call = arguments.pop("call", {})
        inner = arguments.pop("inner", sgd)
        if "constraint_optimizer" in arguments:
            arguments["constraint_optimizer"] = arguments["constraint_optimizer"]()
        optimizer = kind(inner(), **arguments)
        if step:
            call = dict(call, global_step=tf.train.get_or_create_global_step())
        step_op = getattr(optimizer, method)(Problem(**(problem or {})), **call)
        return Steps([step_op] * steps)

    return Case(build, has_gradients=False, queues=None)


def number(objective, constraints, proxies=None):
    """Returns the number of constraints of tensors of given shapes."""

    def build():
        parts = [
            None if shape is None else tf.placeholder(tf.float32, shape)
            for shape in (objective, constraints, proxies)
        ]
        return Sized(*parts).num_constraints

    return Case(build, has_gradients=False)


def unequal():
    problem = Sized(tf.constant(1.0), tf.constant([1.0, 2.0], tf.float64))
    return tfco.AdditiveExternalRegretOptimizer(sgd()).minimize_constrained(problem)


def chosen(function, objectives=_OBJECTIVES, constraints=_CONSTRAINTS, **options):
    return Case(
        lambda: getattr(tfco, function)(objectives, constraints, **options), has_gradients=False
    )


def of_all(kind, **options):
    """Cases that each optimizer has."""
    name = "constrained_optimization.%s" % kind
    public = getattr(tfco, kind)
    target = Additive if kind == "AdditiveExternalRegretOptimizer" else public
    return {
        name: trained(target, **options),
        name + ": proxies": trained(target, problem={"proxies": True}, **options),
        name + ": two optimizers": trained(
            public, constraint_optimizer=lambda: sgd(0.5), call={"name": "own"}, **options
        ),
        name + ": Adam": trained(target, inner=lambda: tf.train.AdamOptimizer(0.1), **options),
        name + ": a step": trained(target, step=True, problem={"first": True}, **options),
        name + ": first unconstrained": trained(
            target, method="minimize", step=True, call={"unconstrained_steps": 2}, **options
        ),
        name + ": a matrix of constraints": trained(target, problem={"shape": (1, 2)}, **options),
        name + ": properties": Case(lambda: properties(public), has_gradients=False),
    }


def properties(public):
    one, two = public(sgd()), public(sgd(), tf.train.AdamOptimizer())
    return [one.optimizer.get_name(), one.constraint_optimizer, two.constraint_optimizer.get_name()]


CASES = {
    "constrained_optimization.ConstrainedMinimizationProblem": number([], [2, 3]),
    "constrained_optimization.ConstrainedMinimizationProblem: abstract": (
        lambda: tfco.ConstrainedMinimizationProblem()
    ),
    "constrained_optimization.ConstrainedMinimizationProblem: other proxies": number([], [2], [3]),
    "constrained_optimization.ConstrainedMinimizationProblem: a scalar": number([], []),
    "constrained_optimization.ConstrainedMinimizationProblem: unknown": number([], [None]),
    "constrained_optimization.ConstrainedMinimizationProblem: unknown proxies": number(
        [], [2], [None]
    ),
    "constrained_optimization.ConstrainedMinimizationProblem: two types": unequal,
    "constrained_optimization.ConstrainedOptimizer": trained(Penalized),
    "constrained_optimization.ConstrainedOptimizer: abstract": (
        lambda: tfco.ConstrainedOptimizer(sgd())
    ),
    "constrained_optimization.ConstrainedOptimizer: first": trained(
        Penalized, problem={"first": True}, method="minimize", call={"name": "own"}
    ),
    "constrained_optimization.ConstrainedOptimizer: no step": trained(
        Penalized, method="minimize", call={"unconstrained_steps": 2}
    ),
    "constrained_optimization.ConstrainedOptimizer: unconstrained": trained(
        Penalized, method="minimize_unconstrained", problem={"first": True}, step=True
    ),
    "constrained_optimization.AdditiveExternalRegretOptimizer: bounded": trained(
        Additive, maximum_multiplier_radius=0.3, steps=6
    ),
    "constrained_optimization.AdditiveExternalRegretOptimizer: negative": trained(
        Additive, maximum_multiplier_radius=-1.0
    ),
    "constrained_optimization.AdditiveExternalRegretOptimizer: zero": trained(
        Additive, maximum_multiplier_radius=0.0
    ),
    "constrained_optimization.MultiplicativeSwapRegretOptimizer: a small start": trained(
        tfco.MultiplicativeSwapRegretOptimizer, initial_multiplier_radius=1e-4
    ),
    "constrained_optimization.MultiplicativeSwapRegretOptimizer: a large start": trained(
        tfco.MultiplicativeSwapRegretOptimizer, initial_multiplier_radius=1.25
    ),
    "constrained_optimization.MultiplicativeSwapRegretOptimizer: radius": trained(
        tfco.MultiplicativeSwapRegretOptimizer,
        minimum_multiplier_radius=0.25,
        initial_multiplier_radius=0.75,
        inner=lambda: sgd(2.0),
    ),
    "constrained_optimization.MultiplicativeSwapRegretOptimizer: no radius": trained(
        tfco.MultiplicativeSwapRegretOptimizer, minimum_multiplier_radius=0.0
    ),
    "constrained_optimization.MultiplicativeSwapRegretOptimizer: radius of 1": trained(
        tfco.MultiplicativeSwapRegretOptimizer, minimum_multiplier_radius=1.0
    ),
    "constrained_optimization.find_best_candidate_distribution": chosen(
        "find_best_candidate_distribution"
    ),
    "constrained_optimization.find_best_candidate_distribution: epsilon": chosen(
        "find_best_candidate_distribution", constraints=_CONSTRAINTS + 0.875, epsilon=1e-3
    ),
    "constrained_optimization.find_best_candidate_distribution: infeasible": chosen(
        "find_best_candidate_distribution", constraints=_CONSTRAINTS + 0.875, epsilon=1e-4
    ),
    "constrained_optimization.find_best_candidate_distribution: negative": chosen(
        "find_best_candidate_distribution", epsilon=-1.0
    ),
    "constrained_optimization.find_best_candidate_distribution: shapes": chosen(
        "find_best_candidate_distribution", objectives=_OBJECTIVES[:2]
    ),
    "constrained_optimization.find_best_candidate_distribution: vectors": chosen(
        "find_best_candidate_distribution", constraints=_CONSTRAINTS[0]
    ),
    "constrained_optimization.find_best_candidate_index": chosen("find_best_candidate_index"),
    "constrained_optimization.find_best_candidate_index: none": chosen(
        "find_best_candidate_index", objectives=np.zeros([0]), constraints=np.zeros([2, 0])
    ),
    "constrained_optimization.find_best_candidate_index: objectives": chosen(
        "find_best_candidate_index", rank_objectives=True
    ),
    "constrained_optimization.find_best_candidate_index: shapes": chosen(
        "find_best_candidate_index", objectives=_OBJECTIVES[:2]
    ),
    "constrained_optimization.find_best_candidate_index: ties": chosen(
        "find_best_candidate_index",
        objectives=np.array([1.0, 0.5, 0.5, 2.0, 0.25]),
        constraints=np.array([[-1.0, 0.0, -2.0, -1.0, 0.5]]),
    ),
    "constrained_optimization.find_best_candidate_index: without constraints": chosen(
        "find_best_candidate_index", constraints=np.zeros([0, 5])
    ),
}
for _kind in (
    "AdditiveExternalRegretOptimizer",
    "AdditiveSwapRegretOptimizer",
    "MultiplicativeSwapRegretOptimizer",
):
    CASES.update(of_all(_kind))
