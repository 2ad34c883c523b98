"""tf.contrib.ndlstm, which had left tf.contrib before 1.15.

To record it, the environment variable NDLSTM names a work tree of TensorFlow 1.5 to 1.7: its
tensorflow/contrib/ndlstm runs on 1.15.5.
"""

import importlib
import os
import sys
import types

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array, x
from contrib_goldens.observe import Case

TOP = "tensorflow.contrib.ndlstm"
if "NDLSTM" in os.environ:
    for name, below in ((TOP, ""), (TOP + ".python", "/python")):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [os.environ["NDLSTM"] + "/tensorflow/contrib/ndlstm" + below]
lstm1d = importlib.import_module(TOP + ".python.lstm1d")
lstm2d = importlib.import_module(TOP + ".python.lstm2d")
misc = importlib.import_module(TOP + ".python.misc")


def shared():
    images = x(1, 2, 3, 2)
    first = lstm2d.reduce_to_sequence(images, 3, scope="own")
    with tf.variable_scope("own", reuse=True):
        pass
    return first, lstm2d.reduce_to_sequence(images, 3)


def labels(*shape):
    return tf.constant(np.arange(np.prod(shape)).reshape(shape) % 3)


CASES = {
    "ndlstm.lstm1d.ndlstm_base": lambda: lstm1d.ndlstm_base(x(3, 2, 4), 5),
    "ndlstm.lstm1d.ndlstm_base: reversed": lambda: lstm1d.ndlstm_base(
        x(3, 2, 4), 5, scope="own", reverse=True
    ),
    "ndlstm.lstm1d.ndlstm_base: unrolled": lambda: lstm1d.ndlstm_base(x(3, 2, 4), 5, dynamic=False),
    "ndlstm.lstm1d.ndlstm_base_dynamic": lambda: lstm1d.ndlstm_base_dynamic(x(3, 2, 4), 5),
    "ndlstm.lstm1d.ndlstm_base_dynamic: unknown": lambda: lstm1d.ndlstm_base_dynamic(
        tf.placeholder_with_default(array(3, 2, 4), [None, None, 4]), 5
    ),
    "ndlstm.lstm1d.ndlstm_base_unrolled": lambda: lstm1d.ndlstm_base_unrolled(x(3, 2, 4), 5),
    "ndlstm.lstm1d.ndlstm_base_unrolled: reversed": lambda: lstm1d.ndlstm_base_unrolled(
        x(3, 2, 4), 5, "own", True
    ),
    "ndlstm.lstm1d.sequence_softmax": lambda: lstm1d.sequence_softmax(x(3, 2, 4), 5),
    "ndlstm.lstm1d.sequence_softmax: names": lambda: lstm1d.sequence_softmax(
        x(3, 2, 4), 5, scope="own", name="p", linear_name="logits"
    ),
    "ndlstm.lstm1d.sequence_to_final": lambda: lstm1d.sequence_to_final(x(3, 2, 4), 5),
    "ndlstm.lstm1d.sequence_to_final: reversed": lambda: lstm1d.sequence_to_final(
        x(3, 2, 4), 5, scope="own", name="last", reverse=True
    ),
    "ndlstm.lstm2d.get_blocks": lambda: lstm2d.get_blocks(x(2, 4, 6, 3), [2, 3]),
    "ndlstm.lstm2d.get_blocks: filled": lambda: lstm2d.get_blocks(x(2, 5, 7, 1), (2, 3)),
    "ndlstm.lstm2d.horizontal_lstm": lambda: lstm2d.horizontal_lstm(x(2, 3, 4, 2), 5),
    "ndlstm.lstm2d.horizontal_lstm: scope": lambda: lstm2d.horizontal_lstm(
        x(2, 3, 4, 2), 4, scope="own"
    ),
    "ndlstm.lstm2d.horizontal_lstm: unknown": lambda: lstm2d.horizontal_lstm(
        tf.placeholder(tf.float32, [None, 3, 4, 2]), 4
    ),
    "ndlstm.lstm2d.images_to_sequence": lambda: lstm2d.images_to_sequence(x(2, 3, 4, 2)),
    "ndlstm.lstm2d.reduce_to_final": lambda: lstm2d.reduce_to_final(x(2, 3, 4, 2), 5),
    "ndlstm.lstm2d.reduce_to_final: hidden": lambda: lstm2d.reduce_to_final(
        x(2, 3, 4, 2), 5, nhidden=3, scope="own"
    ),
    "ndlstm.lstm2d.reduce_to_sequence": lambda: lstm2d.reduce_to_sequence(x(2, 3, 4, 2), 5),
    "ndlstm.lstm2d.reduce_to_sequence: twice": shared,
    "ndlstm.lstm2d.separable_lstm": lambda: lstm2d.separable_lstm(x(2, 3, 4, 2), 4),
    "ndlstm.lstm2d.separable_lstm: blocks": lambda: lstm2d.separable_lstm(
        x(2, 4, 4, 1), 4, kernel_size=[2, 2], nhidden=3, scope="own"
    ),
    "ndlstm.lstm2d.sequence_to_images": lambda: lstm2d.sequence_to_images(x(4, 6, 2), 2),
    "ndlstm.misc.one_hot_mask": Case(
        lambda: misc.one_hot_mask(labels(2, 3, 1), 4), has_gradients=False
    ),
    "ndlstm.misc.one_hot_mask: deep": lambda: misc.one_hot_mask(labels(2, 3, 2), 4),
    "ndlstm.misc.one_hot_planes": Case(
        lambda: misc.one_hot_planes(labels(3), 4), has_gradients=False
    ),
    "ndlstm.misc.pixels_as_vector": lambda: misc.pixels_as_vector(x(2, 3, 4, 2)),
    "ndlstm.misc.pool_as_vector": lambda: misc.pool_as_vector(x(2, 3, 4, 2), scope="own"),
}
