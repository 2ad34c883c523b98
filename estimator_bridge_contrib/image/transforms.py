"""Projective transforms of images: rows of eight numbers, as tf.raw_ops has them.

A row (a0, a1, a2, b0, b1, b2, c0, c1) maps a point (x, y) of the result to the point
((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) of the image, where k = c0 x + c1 y + 1.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = [
    "angles_to_projective_transforms",
    "compose_transforms",
    "flat_transforms_to_matrices",
    "matrices_to_flat_transforms",
    "rotate",
    "transform",
    "translate",
    "translations_to_projective_transforms",
]

_v1 = tf.compat.v1
_TYPES = frozenset([tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64])


def rotate(
    images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None
) -> tf.Tensor:
    """Rotates images counterclockwise around their center.

    Args:
      images: [height, width], [height, width, channels] or [batch, height, width, channels].
      angles: a scalar, or one for each image, in radians.
      interpolation: "NEAREST" or "BILINEAR".
      name: the operations' name.

    Returns:
      Images of the same shape; points from outside of an image are 0.

    Raises:
      TypeError: images have another type or rank.
    """
    with _v1.name_scope(name, "rotate"):
        tensor = tf.convert_to_tensor(images)
        batch = _batched(tensor)
        shape = tf.shape(batch)
        height, width = (tf.cast(shape[i], tf.float32)[None] for i in (1, 2))
        rows = angles_to_projective_transforms(angles, height, width)
        return _unbatched(transform(batch, rows, interpolation), tensor.shape.rank)


def translate(
    images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None
) -> tf.Tensor:
    """Moves images.

    Args:
      images: see ``rotate``.
      translations: (dx, dy) to the right and down, or one such row for each image.
      interpolation: "NEAREST" or "BILINEAR".
      name: the operations' name.

    Returns:
      Images of the same shape; points from outside of an image are 0.

    Raises:
      TypeError: images have another type or rank, or translations another rank.
    """
    with _v1.name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def transform(
    images: Any,
    transforms: Any,
    interpolation: str = "NEAREST",
    output_shape: Any = None,
    name: str | None = None,
) -> tf.Tensor:
    """Applies projective transforms to images.

    Args:
      images: see ``rotate``.
      transforms: eight numbers, or a row of them for each image; see the module.
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: (height, width) of the result; by default that of the images.
      name: the operations' name.

    Returns:
      Images with the rank of the given ones; points from outside of an image are 0.

    Raises:
      TypeError: images have another type or rank, or transforms another rank.
      ValueError: output_shape has not two elements.
    """
    with _v1.name_scope(name, "transform"):
        tensor = tf.convert_to_tensor(images, name="images")
        rows = tf.convert_to_tensor(transforms, tf.float32, name="transforms")
        batch = _batched(tensor)
        shape = tf.shape(batch)[1:3] if output_shape is None else output_shape
        if output_shape is None and None not in batch.shape.as_list()[1:3]:
            shape = batch.shape.as_list()[1:3]
        shape = tf.convert_to_tensor(shape, tf.int32, name="output_shape")
        if not shape.shape.is_compatible_with([2]):
            raise ValueError(
                "output_shape must be a 1-D Tensor of 2 elements: new_height, new_width. Got the "
                f"shape {shape.shape}."
            )
        if rows.shape.rank not in (1, 2):
            raise TypeError(f"Transforms should have rank 1 or 2, got {rows.shape.rank}.")
        result = tf.raw_ops.ImageProjectiveTransformV2(
            images=batch,
            transforms=rows[None] if rows.shape.rank == 1 else rows,
            output_shape=shape,
            interpolation=interpolation.upper(),
        )
        return _unbatched(result, tensor.shape.rank)


def angles_to_projective_transforms(
    angles: Any, image_height: Any, image_width: Any, name: str | None = None
) -> tf.Tensor:
    """Returns the transforms that rotate images counterclockwise around their center.

    Args:
      angles: a scalar or a vector, in radians.
      image_height: the images' height, in floats.
      image_width: the images' width, in floats.
      name: the operations' name.

    Returns:
      Rows of eight numbers.

    Raises:
      TypeError: angles have another rank.
    """
    with _v1.name_scope(name, "angles_to_projective_transforms"):
        angles = tf.convert_to_tensor(angles, tf.float32, name="angles")
        if angles.shape.rank not in (0, 1):
            raise TypeError(f"Angles should have rank 0 or 1, got {angles.shape.rank}.")
        angles = tf.reshape(angles, [-1])
        cos, sin = tf.cos(angles), tf.sin(angles)
        across, down = image_width - 1, image_height - 1
        x = (across - (cos * across - sin * down)) / 2.0
        y = (down - (sin * across + cos * down)) / 2.0
        zeros = tf.zeros_like(angles)
        return tf.stack([cos, -sin, x, sin, cos, y, zeros, zeros], axis=1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> tf.Tensor:
    """Returns the transforms that move images.

    Args:
      translations: (dx, dy) to the right and down, or a matrix of such rows.
      name: the operations' name.

    Returns:
      Rows of eight numbers.

    Raises:
      TypeError: translations have another rank.
    """
    with _v1.name_scope(name, "translations_to_projective_transforms"):
        moves = tf.convert_to_tensor(translations, tf.float32, name="translations")
        if moves.shape.rank not in (1, 2):
            raise TypeError(f"Translations should have rank 1 or 2, got {moves.shape.rank}.")
        moves = moves[None] if moves.shape.rank == 1 else moves
        dx, dy = moves[:, 0], moves[:, 1]
        zeros, ones = tf.zeros_like(dx), tf.ones_like(dx)
        return tf.stack([ones, zeros, -dx, zeros, ones, -dy, zeros, zeros], axis=1)


def compose_transforms(*transforms: Any) -> tf.Tensor:
    """Returns the transforms that apply the given ones after one another.

    Args:
      *transforms: rows of eight numbers.

    Returns:
      Rows of eight numbers.

    Raises:
      AssertionError: there is none.
    """
    if not transforms:
        raise AssertionError("transforms cannot be empty: pass at least one.")
    with _v1.name_scope("compose_transforms"):
        product = flat_transforms_to_matrices(transforms[0])
        for each in transforms[1:]:
            product = tf.matmul(product, flat_transforms_to_matrices(each))
        return matrices_to_flat_transforms(product)


def flat_transforms_to_matrices(transforms: Any) -> tf.Tensor:
    """Returns the matrices [count, 3, 3] of rows of eight numbers; their last number is 1.

    Raises:
      ValueError: transforms have another rank.
    """
    with _v1.name_scope("flat_transforms_to_matrices"):
        rows = tf.convert_to_tensor(transforms, name="transforms")
        if rows.shape.rank not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {rows}.")
        rows = tf.reshape(rows, [-1, 8])
        return tf.reshape(tf.pad(rows, [[0, 0], [0, 1]], constant_values=1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: Any) -> tf.Tensor:
    """Returns rows of eight numbers for matrices of shape [3, 3] or [count, 3, 3].

    Raises:
      ValueError: the matrices have another rank.
    """
    with _v1.name_scope("matrices_to_flat_transforms"):
        matrices = tf.convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.rank not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}.")
        rows = tf.reshape(matrices, [-1, 9])
        return (rows / rows[:, 8:9])[:, :8]


def _batched(images: Any) -> Any:
    """Returns images as [batch, height, width, channels]."""
    if images.dtype.base_dtype not in _TYPES:
        raise TypeError(f"Invalid dtype {images.dtype}. Convert the images to tf.float32.")
    if images.shape.rank is None:
        raise TypeError("image_or_images rank must be statically known: call set_shape.")
    if images.shape.rank == 2:
        return images[None, :, :, None]
    if images.shape.rank not in (3, 4):
        raise TypeError(f"Images should have rank between 2 and 4, got {images.shape.rank}.")
    return images[None] if images.shape.rank == 3 else images


def _unbatched(images: Any, rank: int) -> Any:
    """Returns images of one of the ranks that ``_batched`` accepts."""
    if rank == 2:
        return images[0, :, :, 0]
    return images[0] if rank == 3 else images
