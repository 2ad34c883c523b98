"""Connected components of images, found by propagating the smallest index of a pixel.

Each pixel points to a pixel of its component with a smaller index, at first to itself. In a turn,
it learns where its neighbors point, tells the pixel that it points to the smallest of these, and
then points to where that one points. So the chains halve in each turn, and in the end all pixels of
a component point to its first one (Shiloach and Vishkin 1982).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["connected_components"]

_v1 = tf.compat.v1


def connected_components(images: Any) -> tf.Tensor:
    """Numbers the connected parts of images.

    Pixels are connected if they are neighbors, above, below, left or right, and have the same
    value, which is not zero.

    Args:
      images: [height, width] or [batch, height, width]: booleans, numbers or strings.

    Returns:
      int32 of the same shape: 0 where the image is zero, False or empty, and elsewhere the number
      of the part. Parts are numbered from 1 through the whole batch, in the order of their first
      pixels.

    Raises:
      TypeError: the images have another rank.
    """
    with _v1.name_scope("connected_components"):
        tensor = tf.convert_to_tensor(images, name="images")
        if tensor.shape.rank not in (2, 3):
            raise TypeError(
                "images should have rank 2 (HW) or 3 (NHW). Static shape is "
                f"{tensor.shape}. Choose one channel first: images[..., 0]."
            )
        batch = tensor[None] if tensor.shape.rank == 2 else tensor
        is_part = batch if batch.dtype == tf.bool else tf.not_equal(batch, _zero(batch.dtype))
        pixels = tf.reshape(tf.range(tf.size(batch)), tf.shape(batch))
        first = tf.reshape(_first_pixels(batch, is_part, pixels), [-1])
        is_first = tf.equal(first, tf.range(tf.size(batch))) & tf.reshape(is_part, [-1])
        numbers = tf.gather(tf.cumsum(tf.cast(is_first, tf.int32)), first)
        numbered = tf.where(is_part, tf.reshape(numbers, tf.shape(batch)), tf.zeros_like(pixels))
        return tf.reshape(numbered, tf.shape(tensor))


def _zero(kind: tf.DType) -> tf.Tensor:
    return tf.constant("") if kind == tf.string else tf.zeros([], kind)


def _first_pixels(images: tf.Tensor, is_part: tf.Tensor, pixels: tf.Tensor) -> tf.Tensor:
    """Returns for each pixel the index of the first one of its component: int32, as the images."""
    down = tf.equal(images[:, 1:], images[:, :-1]) & is_part[:, 1:]
    right = tf.equal(images[:, :, 1:], images[:, :, :-1]) & is_part[:, :, 1:]
    count = tf.size(images)

    def turn(targets: tf.Tensor, changed: tf.Tensor) -> list[tf.Tensor]:
        del changed
        best = targets
        for axis, connected in ((1, down), (2, right)):
            best = _smallest_of_neighbors(best, targets, connected, axis)
        flat = tf.reshape(targets, [-1])
        minima = tf.math.unsorted_segment_min(tf.reshape(best, [-1]), flat, count)
        # A pixel that nobody points to is told the largest number; it keeps its own target.
        nearer = tf.minimum(tf.minimum(flat, minima), tf.reshape(best, [-1]))
        nearer = tf.reshape(tf.gather(nearer, nearer), tf.shape(targets))
        return [nearer, tf.reduce_any(tf.not_equal(nearer, targets))]

    first_pixels, _ = tf.while_loop(
        lambda targets, changed: changed, turn, [pixels, tf.constant(True)], back_prop=False
    )
    return first_pixels


def _smallest_of_neighbors(
    best: tf.Tensor, targets: tf.Tensor, connected: tf.Tensor, axis: int
) -> tf.Tensor:
    """Returns the minimum of ``best`` and of the connected neighbors' targets along an axis."""
    size = tf.shape(targets)[axis]
    before = tf.gather(targets, tf.range(size - 1), axis=axis)
    after = tf.gather(targets, tf.range(1, size), axis=axis)
    end = [[0, 0], [0, 0], [0, 0]]
    start = [[0, 0], [0, 0], [0, 0]]
    end[axis], start[axis] = [0, 1], [1, 0]
    largest = targets.dtype.max
    from_after = tf.pad(tf.where(connected, after, largest), end, constant_values=largest)
    from_before = tf.pad(tf.where(connected, before, largest), start, constant_values=largest)
    return tf.minimum(best, tf.minimum(from_after, from_before))
