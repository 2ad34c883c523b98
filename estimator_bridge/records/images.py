"""Images within records: which features have them, and which of them are damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf

from estimator_bridge.records.features import Feature
from estimator_bridge.records.inspection import first_records

__all__ = ["decoded_image", "image_features", "images_of"]

_STARTS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")
_BMP = b"BM"
# An image of a few bytes can state any size, and is decoded into memory of that size.
_MOST_PIXELS = 1 << 27
_HEAD = 32


def image_features(paths: Sequence[str], features: Mapping[str, Feature]) -> tuple[str, ...]:
    """Returns the features with images: most of the first 100 records begin as image files.

    Args:
      paths: the files.
      features: the features of each record, by name.
    """
    texts = [name for name, one in features.items() if one.dtype == "string" and one.shape == ()]
    if not texts:
        return ()
    counts = dict.fromkeys(texts, 0)
    records = first_records(paths)
    for record in records:
        for name in texts:
            values = record.features.feature[name].bytes_list.value
            counts[name] += bool(values) and _is_image(values[0])
    return tuple(name for name in texts if 2 * counts[name] > len(records))


def images_of(names: Sequence[str]) -> Callable[[tf.Tensor], list[tf.Tensor]]:
    """Returns a function that decodes the images of one serialized record.

    Args:
      names: the features that have images.
    """
    spec = {name: tf.io.FixedLenFeature([], tf.string) for name in names}

    def read(record: tf.Tensor) -> list[tf.Tensor]:
        parsed = tf.io.parse_single_example(record, spec)
        return [decoded_image(parsed[name]) for name in names]

    return read


def decoded_image(content: tf.Tensor | bytes, channels: int = 0) -> tf.Tensor:
    """Returns the pixels of an image's file, [height, width, channels]; of a GIF, its first image.

    Args:
      content: the file's bytes: JPEG, PNG, GIF or BMP.
      channels: the number of channels; 0 for those of the file.

    Raises:
      tf.errors.InvalidArgumentError: it is not an image, is damaged, or has more than 2^27 pixels.
    """
    content = tf.convert_to_tensor(content, tf.string)
    is_small = _pixels(content) <= _MOST_PIXELS
    message = [tf.constant(f"it has more than {_MOST_PIXELS:,} pixels")]
    check = tf.raw_ops.Assert(condition=is_small, data=message)  # None where it ran at once
    with tf.control_dependencies([] if check is None else [check]):
        return tf.io.decode_image(content, channels, expand_animations=False)


def _pixels(content: tf.Tensor) -> tf.Tensor:
    """Returns the number of pixels that a file states; 0 for a BMP, which is not compressed."""
    head = tf.strings.join([tf.strings.substr(content, 0, _HEAD), b"\0" * _HEAD])
    start = tf.strings.substr(head, 0, 3)

    def of_png() -> tf.Tensor:
        sizes = tf.io.decode_raw(tf.strings.substr(head, 16, 8), tf.int32, little_endian=False)
        return tf.cast(sizes, tf.int64)

    def of_gif() -> tf.Tensor:
        return tf.cast(tf.io.decode_raw(tf.strings.substr(head, 6, 4), tf.uint16), tf.int64)

    def of_jpeg() -> tf.Tensor:
        return tf.cast(tf.io.extract_jpeg_shape(content)[:2], tf.int64)

    sizes = tf.case(
        [(tf.equal(start, b"\x89PN"), of_png), (tf.equal(start, b"GIF"), of_gif),
         (tf.equal(start, b"\xff\xd8\xff"), of_jpeg)],
        default=lambda: tf.zeros([2], tf.int64),
    )  # fmt: skip
    return tf.reduce_prod(sizes)


def _is_image(content: bytes) -> bool:
    if content.startswith(_STARTS):
        return True
    # Two letters are also the start of a word; a bitmap's size follows them.
    return content.startswith(_BMP) and int.from_bytes(content[2:6], "little") == len(content)
