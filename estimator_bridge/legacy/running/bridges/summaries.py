"""TensorFlow 2's tf.summary without the package tensorboard, which TensorFlow 2.21 omits.

TensorFlow keeps the functions' bodies in that package, and raises an error if it is not installed.
These functions write the same events; the metadata of a summary selects the TensorBoard plugin that
shows it. `audio` remains TensorFlow's own, and requires the package.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["write_without_tensorboard"]

_SUMMARY = re.compile(r"tensorflow\._api\.v2(\.compat\.v\d)*\.summary")
_BUCKETS = 30


def write_without_tensorboard() -> None:
    """Replaces tf.summary's functions in this process if tensorboard is not installed."""
    if importlib.util.find_spec("tensorboard") is not None:
        return
    for bodiless, writer in [
        (tf.summary.scalar, scalar),
        (tf.summary.histogram, histogram),
        (tf.summary.image, image),
        (tf.summary.text, text),
    ]:
        for name, module in list(sys.modules.items()):
            function = writer.__name__
            if _SUMMARY.fullmatch(name) and getattr(module, function, None) is bodiless:
                setattr(module, function, writer)


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Writes one number, as tf.summary.scalar does."""

    def value() -> tf.Tensor:
        number = tf.cast(data, tf.float32)
        number.shape.assert_has_rank(0)
        return number

    return _write("scalar", name, data, step, "scalars", value, description)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Writes strings of any shape, as tf.summary.text does."""

    def value() -> tf.Tensor:
        return tf.convert_to_tensor(data, tf.string)

    return _write("text", name, data, step, "text", value, description)


def histogram(
    name: str,
    data: Any,
    step: Any = None,
    buckets: int | None = None,
    description: str | None = None,
) -> Any:
    """Writes the distribution of values, as tf.summary.histogram does.

    The rows of the summary's tensor are buckets of equal width: (left edge, right edge, count).
    """
    count = _BUCKETS if buckets is None else buckets

    def value() -> tf.Tensor:
        numbers = tf.cast(tf.reshape(data, [-1]), tf.float64)
        return tf.cond(tf.size(numbers) > 0, lambda: _buckets(numbers, count), _no_buckets)

    def _no_buckets() -> tf.Tensor:
        return tf.zeros([count, 3], tf.float64)

    return _write("histogram", name, data, step, "histograms", value, description)


def _buckets(numbers: tf.Tensor, count: int) -> tf.Tensor:
    low, high = tf.reduce_min(numbers), tf.reduce_max(numbers)
    # Equal numbers are in a range of width 1 around them.
    low, high = tf.cond(low < high, lambda: (low, high), lambda: (low - 0.5, low + 0.5))
    width = (high - low) / count
    places = tf.minimum(tf.cast((numbers - low) / width, tf.int32), count - 1)
    counts = tf.cast(tf.math.bincount(places, minlength=count, maxlength=count), tf.float64)
    edges = low + width * tf.range(count, dtype=tf.float64)
    return tf.stack([edges, edges + width, counts], axis=1)


def image(
    name: str,
    data: Any,
    step: Any = None,
    max_outputs: int = 3,
    description: str | None = None,
) -> Any:
    """Writes images [k, height, width, channels], as tf.summary.image does.

    The summary's tensor holds the width, the height, and up to `max_outputs` images as PNG.
    """

    def value() -> tf.Tensor:
        pictures = tf.image.convert_image_dtype(data, tf.uint8, saturate=True)
        shape = tf.shape(pictures)
        encoded = tf.map_fn(
            tf.image.encode_png, pictures[:max_outputs], fn_output_signature="string"
        )
        return tf.concat([tf.as_string([shape[2], shape[1]]), encoded], axis=0)

    return _write("image", name, data, step, "images", value, description)


_CLASSES = {
    "scalars": "SCALAR",
    "text": "TENSOR",
    "histograms": "TENSOR",
    "images": "BLOB_SEQUENCE",
}


def _write(
    kind: str,
    name: str,
    data: Any,
    step: Any,
    plugin: str,
    value: Callable[[], tf.Tensor],
    description: str | None,
) -> Any:
    metadata = tf.compat.v1.SummaryMetadata(
        plugin_data={"plugin_name": plugin},
        summary_description=description or "",
        data_class=f"DATA_CLASS_{_CLASSES[plugin]}",
    )
    # `value` is called only while summaries are recorded.
    with tf.summary.experimental.summary_scope(name, f"{kind}_summary", [data, step]) as (tag, _):
        return tf.summary.write(tag=tag, tensor=value, step=step, metadata=metadata)
