"""Random numbers in loops, branches and functions. Runs under TensorFlow 1.15 too.

Loops have parallel_iterations=1: otherwise the originals draw their iterations in any order.
"""

import tensorflow as tf

v1 = tf.compat.v1

SIZES = [2, 0, 1, 3]  # of the loops, one a run


def uniform(seed=5):
    return v1.random_uniform([2], seed=seed)


def normal():
    return v1.random_normal([2], seed=6)


def gamma():
    return v1.random_gamma([], [0.4, 2.5], seed=16)


def shuffle():
    return v1.random_shuffle(tf.range(20.0), seed=17)[:2]


def categorical():
    logits = v1.log([[0.1, 0.2, 0.3, 0.4]])
    return tf.cast(v1.multinomial(logits, 2, seed=18)[0], tf.float32)


DRAWS = {
    "uniform": uniform,
    "normal": normal,
    "truncated": lambda: v1.truncated_normal([2], seed=7),
    "integers": lambda: tf.cast(v1.random_uniform([2], 0, 1000, tf.int32, seed=8), tf.float32),
    "gamma": gamma,
}
BY_KERNELS = {"shuffle": shuffle, "categorical": categorical}


def in_loop(draw, size):
    """Returns the numbers of up to four iterations, one row each."""

    def body(i, rows):
        return i + 1, rows + tf.one_hot(i, 4)[:, None] * draw(i)

    loop = tf.while_loop(lambda i, _: i < size, body, [0, tf.zeros([4, 2])], parallel_iterations=1)
    return loop[1]


def in_function():
    function = tf.function(lambda: uniform(9))
    return function() + 10 * function()


def in_function_in_loop(size):
    function = tf.function(lambda: uniform(10))
    return in_loop(lambda i: function() + 10 * function(), size)


def cases(size):
    """Returns the numbers by name.

    Args:
      size: how often loops draw, a scalar of int32.
    """

    def branch(i):
        return tf.cond(tf.equal(i % 2, 0), lambda: uniform(11), normal)

    def inner(i):
        return tf.reduce_sum(in_loop(lambda _: uniform(12), i + 1), 0)

    results = {name: in_loop(lambda _, draw=draw: draw(), size) for name, draw in DRAWS.items()}
    results["fixed"] = in_loop(lambda _: uniform(13), 3)
    results["fixed gamma"] = in_loop(lambda _: gamma(), 3)
    results["branch"] = tf.cond(size > 1, lambda: uniform(14), normal)
    results["fixed branch"] = tf.cond(tf.constant(True), lambda: uniform(15), normal)
    results["branch in loop"] = in_loop(branch, 3)
    results["branch in loop of any size"] = in_loop(branch, size)
    results["nested"] = in_loop(inner, 3)
    results["nested of any size"] = in_loop(inner, size)
    results["function"] = in_function()
    results["function in loop"] = in_function_in_loop(2)
    return results


def kernel_cases(size):
    """Returns the numbers of ops that keep their kernels on cores; see ``cases``."""
    results = {}
    for name, draw in BY_KERNELS.items():
        results[f"{name} in loop"] = in_loop(lambda _, draw=draw: draw(), size)
        results[f"{name} in fixed loop"] = in_loop(lambda _, draw=draw: draw(), 3)
        results[f"{name} in branch"] = tf.cond(size > 1, draw, normal)
        results[f"{name} in function"] = tf.function(draw)()
    return results


def draw():
    """Returns the numbers of each run of a session, by name."""
    with tf.Graph().as_default():
        v1.set_random_seed(3)
        size = v1.placeholder(tf.int32, [])
        tensors = {**cases(size), **kernel_cases(size)}
        with v1.Session() as session:
            runs = [session.run(tensors, {size: number}) for number in SIZES]
    return {name: [run[name].tolist() for run in runs] for name in tensors}
