"""Warps of images by a flow, given for each pixel or for a few points."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.contrib.image.splines import interpolate_spline

__all__ = ["dense_image_warp", "sparse_image_warp"]

_v1 = tf.compat.v1


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> tf.Tensor:
    """Moves pixels by a flow: the result at a point is the image at the point minus its flow.

    The value between pixels is interpolated bilinearly; beyond the border it is that of the border.

    Args:
      image: [batch, height, width, channels], floats, at least two pixels high and wide.
      flow: [batch, height, width, 2], (down, right) in pixels, floats.
      name: the operations' name.

    Returns:
      An image of the same shape.

    Raises:
      ValueError: the image has another rank.
    """
    with _v1.name_scope(name):
        image, flow = tf.convert_to_tensor(image), tf.convert_to_tensor(flow)
        if image.shape.rank != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {image.shape}")
        batch, height, width, channels = tf.unstack(tf.shape(image))
        checks = [
            _v1.assert_greater_equal(height, 2, message="Grid height must be at least 2."),
            _v1.assert_greater_equal(width, 2, message="Grid width must be at least 2."),
        ]
        with tf.control_dependencies(checks):
            image = tf.identity(image)
        rows, columns = tf.meshgrid(tf.range(height), tf.range(width), indexing="ij")
        places = tf.cast(tf.stack([rows, columns], axis=2), flow.dtype)[None] - flow
        (top, down), (left, across) = (
            _cell(places[..., axis], size, image.dtype) for axis, size in ((0, height), (1, width))
        )

        def pixels(row: Any, column: Any) -> Any:
            return tf.gather_nd(image, tf.stack([row, column], axis=-1), batch_dims=1)

        upper, lower = (
            (first := pixels(row, left)) + across * (pixels(row, left + 1) - first)
            for row in (top, top + 1)
        )
        return tf.reshape(upper + down * (lower - upper), [batch, height, width, channels])


def _cell(places: Any, size: Any, dtype: Any) -> tuple[Any, Any]:
    """Returns the pixel before each place, and the share of the one after it, [..., 1]."""
    before = tf.floor(places)
    before = tf.minimum(tf.maximum(before, 0), tf.cast(size - 2, places.dtype))
    share = tf.clip_by_value(tf.cast(places - before, dtype), 0, 1)
    return tf.cast(before, tf.int32), share[..., None]


def sparse_image_warp(
    image: Any,
    source_control_point_locations: Any,
    dest_control_point_locations: Any,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[tf.Tensor, tf.Tensor]:
    """Warps an image so that some points move to others; a spline moves the rest.

    Args:
      image: [batch, height, width, channels], floats, with a static shape.
      source_control_point_locations: [batch, points, 2], (row, column).
      dest_control_point_locations: where they move, of the same shape.
      interpolation_order: see ``interpolate_spline``.
      regularization_weight: see ``interpolate_spline``.
      num_boundary_points: how many points of each edge do not move; 0 for none, 1 for the corners.
      name: the operations' name.

    Returns:
      The warped image, and the flow [batch, height, width, 2].
    """
    image = tf.convert_to_tensor(image)
    source = tf.convert_to_tensor(source_control_point_locations)
    points = tf.convert_to_tensor(dest_control_point_locations)
    flows = points - source
    with _v1.name_scope(name):
        batch, height, width, _ = image.shape.as_list()
        every = np.stack(np.meshgrid(range(height), range(width), indexing="ij"), -1)
        if num_boundary_points > 0:
            fixed = _boundary(height, width, num_boundary_points + 1)
            fixed = tf.constant(np.tile(fixed, [batch, 1, 1]), points.dtype)
            points = tf.concat([points, fixed], 1)
            flows = tf.concat([flows, tf.zeros_like(fixed)], 1)
        dense = interpolate_spline(
            points,
            flows,
            tf.constant(np.tile(every.reshape(1, -1, 2), [batch, 1, 1]), image.dtype),
            interpolation_order,
            regularization_weight,
        )
        dense = tf.reshape(dense, [batch, height, width, 2])
        return dense_image_warp(image, dense), dense


def _boundary(height: int, width: int, count: int) -> Any:
    """Returns points on the edges, count on each, [1, points, 2]."""
    grid = np.meshgrid(
        np.linspace(0, height - 1, count), np.linspace(0, width - 1, count), indexing="ij"
    )
    rows, columns = grid
    on_edge = (rows == 0) | (rows == height - 1) | (columns == 0) | (columns == width - 1)
    return np.stack([rows[on_edge], columns[on_edge]], axis=-1)[None]
