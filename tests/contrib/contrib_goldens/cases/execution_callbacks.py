"""tf.contrib.eager: callbacks of eager operations."""

import functools

import tensorflow as tf
from contrib_goldens.observe import Case
from tensorflow.python.eager import context

eager = tf.contrib.eager


def eagerly(function):
    """A case that runs eagerly, and leaves no callback."""

    def build():
        with context.eager_mode():
            try:
                return function()
            finally:
                eager.clear_execution_callbacks()

    return Case(build, has_gradients=False)


def seen():
    calls = []
    eager.add_execution_callback(lambda kind, *details: calls.append([kind, len(details)]))
    tf.square(tf.constant([2.0]))
    eager.clear_execution_callbacks()
    tf.square(tf.constant([2.0]))
    return calls


def raised(function):
    """The type of an error, and what is in it; None without one."""
    try:
        function()
    except Exception as error:
        if not hasattr(error, "op_type"):
            return type(error).__name__
        parts = (error.op_type, error.op_name, error.output_index, error.num_outputs)
        return [type(error).__name__, list(parts), str(float(error.value))]
    return None


def settings():
    one, zero = tf.constant(1.0), tf.constant(0.0)
    before = eager.seterr(inf_or_nan="raise")
    first = raised(lambda: tf.exp(one * 1000.0))
    with eager.errstate(inf_or_nan=eager.ExecutionCallback.IGNORE):
        second = raised(lambda: tf.exp(one * 1000.0))
    third = raised(lambda: tf.log(zero - 1.0))
    during = eager.seterr()
    after = eager.seterr(inf_or_nan="ignore")
    wrong = raised(lambda: eager.seterr(inf_or_nan="other"))
    actions = [each["inf_or_nan"].value for each in (before, during, after)]
    return [first, second, third, actions, wrong, raised(lambda: tf.log(zero))]


def checked(function):
    def build():
        return [
            raised(functools.partial(function, "Op", [], (), [tf.constant(value)], "name"))
            for value in (1.0, float("inf"), float("nan"))
        ]

    return eagerly(build)


def in_graph():
    with eager.errstate(inf_or_nan="raise"):
        return tf.log(tf.constant(0.0))


CASES = {
    "eager.add_execution_callback": eagerly(seen),
    "eager.clear_execution_callbacks": eagerly(lambda: eager.clear_execution_callbacks()),
    "eager.seterr": eagerly(settings),
    "eager.errstate": in_graph,
    "eager.inf_callback": checked(eager.inf_callback),
    "eager.nan_callback": checked(eager.nan_callback),
    "eager.inf_nan_callback": checked(eager.inf_nan_callback),
    "eager.inf_nan_callback: ignore": checked(
        functools.partial(eager.inf_nan_callback, action="ignore")
    ),
    "eager.ExecutionCallback": lambda: sorted(each.name for each in eager.ExecutionCallback),
}
