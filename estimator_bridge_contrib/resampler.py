"""tf.contrib.resampler: bilinear samples of images at given points.

An image continues with zeros: a value fades out over one pixel beyond the border. Points that are
farther away are 0 and have no gradient.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["resampler"].opened()

_v1 = tf.compat.v1


def resampler(data: Any, warp: Any, name: str = "resampler") -> tf.Tensor:
    """Samples images at points, with bilinear interpolation.

    Args:
      data: [batch, height, width, channels], floats.
      warp: [batch, ..., 2], the points (x, y) in pixels, of the same type.
      name: the operations' name.

    Returns:
      [batch, ..., channels].

    Raises:
      tf.errors.UnimplementedError: data has another rank, or the points have not two coordinates.
      tf.errors.InvalidArgumentError: warp is a vector, or the batches differ.
      TypeError: the types differ.
    """
    with _v1.name_scope(name, "resampler", [data, warp]):
        images = tf.convert_to_tensor(data, name="data")
        points = tf.convert_to_tensor(warp, name="warp")
        _check(images, points)
        shape = tf.shape(images)
        x, y = points[..., 0], points[..., 1]
        width, height = (tf.cast(shape[i], points.dtype) for i in (2, 1))
        inside = (x > -1) & (y > -1) & (x < width) & (y < height)
        x, y = (tf.where(inside, each, tf.zeros_like(each)) for each in (x, y))
        left, top = tf.floor(x), tf.floor(y)
        right_share, bottom_share = x - left, y - top
        padded = tf.pad(images, [[0, 0], [1, 1], [1, 1], [0, 0]])
        column, row = (tf.cast(each, tf.int32) + 1 for each in (left, top))

        def corner(down: int, across: int) -> tf.Tensor:
            place = tf.stack([row + down, column + across], axis=-1)
            share = (bottom_share if down else 1 - bottom_share) * (
                right_share if across else 1 - right_share
            )
            return share[..., None] * tf.gather_nd(padded, place, batch_dims=1)

        sampled = corner(0, 0) + corner(1, 1) + corner(1, 0) + corner(0, 1)
        result = tf.where(inside[..., None], sampled, tf.zeros_like(sampled))
        result = tf.identity(result, name="Resampler")
        result.set_shape(points.shape[:-1].concatenate(images.shape[-1:]))
        return result


def _check(images: tf.Tensor, points: tf.Tensor) -> None:
    """Raises an error for types and shapes that cannot be sampled."""
    if images.dtype != points.dtype:
        raise TypeError(
            f"data and warp must have one type, got {images.dtype.name} and {points.dtype.name}. "
            "Cast one of them."
        )
    if images.shape.rank not in (None, 4):
        raise tf.errors.UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is currently supported. The input data shape must be "
            "[batch_size, data_height, data_width, data_channels], but is: "
            f"{images.shape}. Reshape data.",
        )
    if points.shape.rank is not None and points.shape.rank < 2:
        raise tf.errors.InvalidArgumentError(
            None,
            None,
            f"warp should be at least a matrix, got shape {points.shape}. Wanted: "
            "[batch, ..., 2], the points (x, y).",
        )
    if points.shape.rank is not None and points.shape.as_list()[-1] not in (None, 2):
        raise tf.errors.UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is supported, warping coordinates must be 2D; warp shape "
            f"last entry should be 2, but shape vector is: {points.shape}.",
        )
    if not images.shape[:1].is_compatible_with(points.shape[:1]):
        raise tf.errors.InvalidArgumentError(
            None,
            None,
            "Batch size of data and warp tensor must be the same, but input shapes are: "
            f"{images.shape}, {points.shape}.",
        )
