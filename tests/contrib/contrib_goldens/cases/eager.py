"""tf.contrib.eager: gradients and devices, in eager execution."""

import tensorflow as tf
from contrib_goldens.observe import Case
from tensorflow.python.eager import context

tfe = tf.contrib.eager


def eagerly(build):
    """A case outside of its graph."""

    def built():
        with context.eager_mode():
            return build()

    return Case(built, has_gradients=False)


def number(tensor):
    return float(tensor.numpy())


def product(x, y):
    return x * x * y


def both():
    w, b = tfe.Variable(3.0, name="w"), tfe.Variable(1.0, name="b")
    value, pairs = tfe.implicit_value_and_gradients(lambda x: w * x + b)(tf.constant(2.0))
    return number(value), sorted((each.name, number(gradient)) for gradient, each in pairs)


def implicit():
    w = tfe.Variable(3.0, name="w")
    return [
        (each.name, number(gradient)) for gradient, each in tfe.implicit_gradients(lambda: w * w)()
    ]


def no_variables():
    return tfe.implicit_gradients(lambda x: x * x)(tf.constant(2.0))


def explicit(make, *params):
    def build():
        f = make(product, params=list(params) or None)
        results = f(tf.constant(3.0), tf.constant(2.0))
        return tf.nest.map_structure(number, results)

    return eagerly(build)


def weighted(make):
    """With the gradient of the result's later use."""
    results = make(product)(tf.constant(3.0), tf.constant(2.0), dy=tf.constant(10.0))
    return tf.nest.map_structure(number, results)


def nothing(x):
    """A function without a result."""


def no_tensor():
    return tf.nest.map_structure(number, tfe.gradients_function(product)(3.0, 2.0))


CASES = {
    "eager.Iterator": eagerly(
        lambda: [int(each) for each in tfe.Iterator(tf.data.Dataset.range(3))]
    ),
    "eager.gradients_function": explicit(tfe.gradients_function),
    "eager.gradients_function: no tensors": eagerly(no_tensor),
    "eager.gradients_function: keyword": eagerly(
        lambda: tfe.gradients_function(product)(tf.constant(3.0), y=tf.constant(2.0))
    ),
    "eager.gradients_function: mixed": explicit(tfe.gradients_function, 0, "y"),
    "eager.gradients_function: unknown": explicit(tfe.gradients_function, "z"),
    "eager.gradients_function: nothing": eagerly(
        lambda: tfe.gradients_function(nothing)(tf.constant(3.0))
    ),
    "eager.gradients_function: weighted": eagerly(lambda: weighted(tfe.gradients_function)),
    "eager.gradients_function: one": explicit(tfe.gradients_function, 1),
    "eager.gradients_function: name": explicit(tfe.gradients_function, "y"),
    "eager.implicit_gradients": eagerly(implicit),
    "eager.implicit_gradients: no variables": eagerly(no_variables),
    "eager.implicit_gradients: nothing": eagerly(
        lambda: tfe.implicit_gradients(nothing)(tf.constant(2.0))
    ),
    "eager.implicit_value_and_gradients": eagerly(both),
    "eager.list_devices": eagerly(
        lambda: [name for name in tfe.list_devices() if name.endswith("/device:CPU:0")]
    ),
    "eager.num_gpus": eagerly(lambda: tfe.num_gpus()),
    "eager.value_and_gradients_function": explicit(tfe.value_and_gradients_function),
    "eager.value_and_gradients_function: names": explicit(
        tfe.value_and_gradients_function, "y", "x"
    ),
    "eager.value_and_gradients_function: weighted": eagerly(
        lambda: weighted(tfe.value_and_gradients_function)
    ),
    "eager.value_and_gradients_function: one": explicit(tfe.value_and_gradients_function, 0),
}
