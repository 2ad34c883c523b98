"""Images and labels as the inputs and targets of LSTMs."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge_contrib.layers.reshaping import one_hot_encoding

__all__ = ["one_hot_mask", "one_hot_planes", "pixels_as_vector", "pool_as_vector"]

_v1 = tf.compat.v1


def pixels_as_vector(images: tf.Tensor, scope: str | None = None) -> tf.Tensor:
    """Makes a vector of all pixels of each image.

    Args:
      images: images of known shape [images, height, width, depth].
      scope: the operations' scope.

    Returns:
      Vectors of shape [images, height * width * depth].
    """
    with _v1.name_scope(scope, "PixelsAsVector", [images]):
        count, height, width, depth = images.shape.as_list()
        return tf.reshape(images, [count, height * width * depth])


def pool_as_vector(images: tf.Tensor, scope: str | None = None) -> tf.Tensor:
    """Averages the pixels of each image.

    Args:
      images: images of shape [images, height, width, depth].
      scope: the operations' scope.

    Returns:
      Vectors of shape [images, depth].
    """
    with _v1.name_scope(scope, "PoolAsVector", [images]):
        return tf.reduce_mean(images, [1, 2])


def one_hot_planes(labels: tf.Tensor, num_classes: int, scope: str | None = None) -> tf.Tensor:
    """Makes images of one pixel whose channels are the one-hot encoding of labels.

    Args:
      labels: labels of known shape [images].
      num_classes: the number of classes.
      scope: the operations' scope.

    Returns:
      Images of shape [images, 1, 1, num_classes].
    """
    with _v1.name_scope(scope, "OneHotPlanes", [labels]):
        (count,) = labels.shape.as_list()
        encoded = one_hot_encoding(labels, num_classes)
        return tf.reshape(encoded, [count, 1, 1, num_classes])


def one_hot_mask(labels: tf.Tensor, num_classes: int, scope: str | None = None) -> tf.Tensor:
    """Encodes the label of each pixel of an image.

    Args:
      labels: labels of known shape [height, width, 1].
      num_classes: the number of classes.
      scope: the operations' scope.

    Returns:
      One-hot encodings of shape [height, width, num_classes].

    Raises:
      AssertionError: the last dimension is not 1.
    """
    with _v1.name_scope(scope, "OneHotMask", [labels]):
        height, width, depth = labels.shape.as_list()
        if depth != 1:
            raise AssertionError(
                f"one_hot_mask needs labels of shape [height, width, 1]; got {labels.shape}."
            )
        classes = tf.cast(tf.reshape(labels, [-1, 1]), tf.int32)
        pixels = tf.reshape(tf.range(0, classes.shape[0], 1), [-1, 1])
        places = tf.concat([pixels, classes], 1)
        encoded = _v1.sparse_to_dense(places, [height * width, num_classes], 1.0, 0.0)
        return tf.reshape(encoded, [height, width, num_classes])
