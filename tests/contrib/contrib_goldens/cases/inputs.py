"""Inputs of the cases: small, fixed, with gradients where they are constants named "input"."""

import numpy as np
import tensorflow as tf

__all__ = ["any_of", "array", "classes", "images", "rows", "shares", "unknown", "x"]


def array(*shape):
    """Normal numbers, the same for the same shape."""
    return np.random.RandomState(sum(shape) + len(shape)).normal(size=shape).astype(np.float32)


def x(*shape):
    """A tensor of normal numbers, with respect to which gradients are observed."""
    return tf.constant(array(*shape), name="input")


def rows():
    """Three examples with four features."""
    return x(3, 4)


def images():
    """Two images of 6 by 6 with 4 channels."""
    return x(2, 6, 6, 4)


def shares(*shape):
    """Numbers from 0 to 1."""
    numbers = np.random.RandomState(len(shape)).uniform(0.02, 0.98, size=shape)
    return tf.constant(numbers.astype(np.float32), name="input")


def classes(size, count):
    """Class indices."""
    return np.random.RandomState(size).randint(0, count, size=size).astype(np.int64)


def any_of(*shape):
    """Labels: zeros and ones."""
    return (np.random.RandomState(7).uniform(size=shape) < 0.5).astype(np.float32)


def unknown(value, shape=None):
    """A tensor whose static shape is not known, or known in part."""
    value = np.asarray(value)
    return tf.placeholder_with_default(tf.constant(value), shape)
