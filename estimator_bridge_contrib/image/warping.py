"""Warps of images: each point of the result is read from another place of the image."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.image.splines import interpolate_spline

__all__ = ["dense_image_warp", "sparse_image_warp"]

_v1 = tf.compat.v1


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> tf.Tensor:
    """Warps images by an offset for each point.

    The result's point (b, j, i) is the image's point (b, j - flow[b, j, i, 0],
    i - flow[b, j, i, 1]), interpolated between its four neighbors. Points outside of the image are
    moved to its border.

    Args:
      image: [batch, height, width, channels], floats; height and width at least 2.
      flow: [batch, height, width, 2], floats, perhaps of another type: offsets down and to the
        right, in pixels.
      name: the operations' name scope.

    Returns:
      [batch, height, width, channels], of the image's type.

    Raises:
      ValueError: the image has another rank.
      tf.errors.InvalidArgumentError: the image is lower or narrower than 2 pixels.
    """
    with _v1.name_scope(name):
        image, flow = tf.convert_to_tensor(image), tf.convert_to_tensor(flow)
        if image.shape.rank != 4:
            raise ValueError(
                f"Grid must be 4 dimensional. Received size: {image.shape}. dense_image_warp wants "
                "images [batch, height, width, channels]; add what is missing with tf.expand_dims."
            )
        height, width = tf.shape(image)[1], tf.shape(image)[2]
        checks = [
            tf.debugging.assert_greater_equal(
                size, 2, message=f"Grid {side} must be at least 2 in dense_image_warp."
            )
            for side, size in (("height", height), ("width", width))
        ]
        with tf.control_dependencies([check for check in checks if check is not None]):
            grid = tf.stack(tf.meshgrid(tf.range(height), tf.range(width), indexing="ij"), 2)
        points = tf.cast(grid, flow.dtype) - flow
        row, below = _split(points[..., 0], height, image.dtype)
        column, right = _split(points[..., 1], width, image.dtype)

        def corner(down: int, across: int) -> tf.Tensor:
            places = tf.stack([row + down, column + across], 3)
            return tf.gather_nd(image, places, batch_dims=1)

        top = right * (corner(0, 1) - corner(0, 0)) + corner(0, 0)
        bottom = right * (corner(1, 1) - corner(1, 0)) + corner(1, 0)
        return tf.reshape(below * (bottom - top) + top, tf.shape(image))


def _split(position: tf.Tensor, size: tf.Tensor, kind: tf.DType) -> tuple[tf.Tensor, tf.Tensor]:
    """Divides positions along one side into an index, and the part of a pixel after it.

    Args:
      position: [batch, height, width], in pixels.
      size: the side's length; an index is at most two below it, so that it has a neighbor.
      kind: the type of the parts.

    Returns:
      [batch, height, width], and [batch, height, width, 1] between 0 and 1.
    """
    last = tf.cast(size - 2, position.dtype)
    start = tf.minimum(tf.maximum(tf.zeros([], position.dtype), tf.floor(position)), last)
    part = tf.cast(position - start, kind)
    # In this order: of two equal numbers, the gradient goes to the first.
    part = tf.minimum(tf.maximum(tf.zeros([], kind), part), tf.ones([], kind))
    return tf.cast(start, tf.int32), part[..., None]


def sparse_image_warp(
    image: Any,
    source_control_point_locations: Any,
    dest_control_point_locations: Any,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[tf.Tensor, tf.Tensor]:
    """Warps images so that some points get to given places.

    The offsets of the other points are a polyharmonic spline through those of the given ones, see
    ``interpolate_spline``.

    Args:
      image: [batch, height, width, channels], floats; height and width are known when the graph is
        built.
      source_control_point_locations: [batch, points, 2], rows and columns in the image.
      dest_control_point_locations: [batch, points, 2], where these points are in the result.
      interpolation_order: the order of the spline.
      regularization_weight: see ``interpolate_spline``.
      num_boundary_points: points of the border that stay: none for 0, the corners for 1, and
        num_boundary_points - 1 more on each edge.
      name: the operations' name scope.

    Returns:
      The warped images, and the offsets [batch, height, width, 2] that ``dense_image_warp`` got.

    Raises:
      ValueError: the height or the width is not known, or the image has another rank.
    """
    image = tf.convert_to_tensor(image)
    sources = tf.convert_to_tensor(source_control_point_locations)
    targets = tf.convert_to_tensor(dest_control_point_locations)
    batch, height, width, _ = image.shape.as_list() if image.shape.rank == 4 else [None] * 4
    if height is None or width is None:
        raise ValueError(
            f"sparse_image_warp needs images [batch, height, width, channels] of a known height "
            f"and width; got the shape {image.shape}. Set it: image.set_shape([None, height, "
            "width, None])."
        )
    offsets = targets - sources
    with _v1.name_scope(name):
        batch = tf.shape(image)[0] if batch is None else batch
        if num_boundary_points > 0:
            border = _on_border(height, width, num_boundary_points - 1)
            targets = tf.concat([targets, _for_each(border, batch, targets.dtype)], 1)
            offsets = tf.concat(
                [offsets, _for_each(np.zeros_like(border), batch, offsets.dtype)], 1
            )
        everywhere = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), -1)
        flow = interpolate_spline(
            targets,
            offsets,
            _for_each(everywhere.reshape([-1, 2]), batch, targets.dtype),
            interpolation_order,
            regularization_weight,
        )
        flow = tf.reshape(flow, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow


def _for_each(rows: np.ndarray, batch: Any, kind: tf.DType) -> tf.Tensor:
    """Repeats rows [n, 2] for each image of a batch."""
    return tf.tile(tf.constant(rows[None], kind), [batch, 1, 1])


def _on_border(height: int, width: int, between_corners: int) -> np.ndarray:
    """Returns the rows and columns of evenly spaced points on the border."""
    count = between_corners + 2
    rows, columns = np.meshgrid(
        np.linspace(0, height - 1, count), np.linspace(0, width - 1, count), indexing="ij"
    )
    is_outside = np.ones([count, count], bool)
    is_outside[1:-1, 1:-1] = False
    return np.stack([rows[is_outside], columns[is_outside]], -1)
