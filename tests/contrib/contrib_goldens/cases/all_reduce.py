"""tf.contrib.all_reduce: sums over devices, all of which are the CPU.

In 1.15.5 the namespace itself is empty, so the functions are taken from its file.
"""

import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case
from tensorflow.contrib.all_reduce.python import all_reduce

_CPU = "/job:localhost/task:0/device:CPU:0"


def reduced(function, *args, **options):
    def build():
        inputs = []
        for index in range(options.get("count", 4)):
            with tf.device(_CPU):
                inputs.append(tf.constant(array(*options.get("shape", [8])) + index))
        return getattr(all_reduce, "build_" + function)(inputs, *args)

    return Case(build, has_gradients=False)


CASES = {
    "all_reduce.build_nccl_all_reduce: none": reduced("nccl_all_reduce", tf.add, count=0),
    "all_reduce.build_recursive_hd_all_reduce": reduced("recursive_hd_all_reduce", tf.add),
    "all_reduce.build_recursive_hd_all_reduce: scaled": reduced(
        "recursive_hd_all_reduce", tf.add, lambda each: each / 4.0
    ),
    "all_reduce.build_recursive_hd_all_reduce: three": reduced(
        "recursive_hd_all_reduce", tf.add, count=3
    ),
    "all_reduce.build_ring_all_reduce": reduced(
        "ring_all_reduce", 1, 1, [0, 1, 2, 3], tf.add, tf.square
    ),
    "all_reduce.build_ring_all_reduce: matrices": reduced(
        "ring_all_reduce", 2, 2, [1, 0], tf.maximum, shape=[3, 5]
    ),
    "all_reduce.build_ring_all_reduce: empty": reduced(
        "ring_all_reduce", 1, 1, [0], tf.add, count=0
    ),
    "all_reduce.build_shuffle_all_reduce": reduced("shuffle_all_reduce", [_CPU, _CPU], tf.add_n),
    "all_reduce.build_shuffle_all_reduce: one": reduced(
        "shuffle_all_reduce", [_CPU], tf.add_n, tf.negative, shape=[2, 2]
    ),
    "all_reduce.build_shuffle_then_ring": reduced(
        "shuffle_then_ring", [_CPU, _CPU], 1, tf.add_n, tf.add
    ),
    "all_reduce.build_shuffle_then_shuffle": reduced(
        "shuffle_then_shuffle", [_CPU, _CPU], [_CPU], tf.add_n
    ),
}
