"""Images within records: which features have them, and which of them are damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf

from estimator_bridge.records.features import Feature
from estimator_bridge.records.inspection import first_records

__all__ = ["image_features", "images_of"]

_STARTS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")
_BMP = b"BM"


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
        return [tf.io.decode_image(parsed[name], expand_animations=False) for name in names]

    return read


def _is_image(content: bytes) -> bool:
    if content.startswith(_STARTS):
        return True
    # Two letters are also the start of a word; a bitmap's size follows them.
    return content.startswith(_BMP) and int.from_bytes(content[2:6], "little") == len(content)
