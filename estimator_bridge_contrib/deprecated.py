"""tf.contrib.deprecated: TensorFlow 0.12's summaries, whose tags are not those of a name scope."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["deprecated"].opened()

_v1 = tf.compat.v1
_SUMMARIES = _v1.GraphKeys.SUMMARIES


def scalar_summary(
    tags: Any, values: Any, collections: Iterable[str] | None = None, name: str | None = None
) -> tf.Tensor:
    """Makes a summary of numbers.

    Args:
      tags: a tag, or a tensor of tags.
      values: numbers of the same shape.
      collections: the graph's collections that get it; by default that of summaries.
      name: the operation's name.

    Returns:
      The serialized summary.
    """
    summary = tf.raw_ops.ScalarSummary(tags=tags, values=values, name=name or "ScalarSummary")
    return _collected(summary, collections)


def histogram_summary(
    tag: Any, values: Any, collections: Iterable[str] | None = None, name: str | None = None
) -> tf.Tensor:
    """Makes a summary of the distribution of numbers.

    Args:
      tag: the tag.
      values: numbers of any shape.
      collections: the graph's collections that get it; by default that of summaries.
      name: the operation's name.

    Returns:
      The serialized summary.
    """
    summary = tf.raw_ops.HistogramSummary(tag=tag, values=values, name=name or "HistogramSummary")
    return _collected(summary, collections)


def image_summary(
    tag: Any,
    tensor: Any,
    max_images: int = 3,
    collections: Iterable[str] | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Makes a summary of images.

    Args:
      tag: the tag, which a number follows for each image.
      tensor: [batch, height, width, channels], floats or bytes.
      max_images: how many images.
      collections: the graph's collections that get it; by default that of summaries.
      name: the operation's name.

    Returns:
      The serialized summary.
    """
    summary = tf.raw_ops.ImageSummary(
        tag=tag, tensor=tensor, max_images=max_images, name=name or "ImageSummary"
    )
    return _collected(summary, collections)


def audio_summary(
    tag: Any,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Iterable[str] | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Makes a summary of sounds.

    Args:
      tag: the tag, which a number follows for each sound.
      tensor: [batch, frames] or [batch, frames, channels], floats from -1 to 1.
      sample_rate: frames a second.
      max_outputs: how many sounds.
      collections: the graph's collections that get it; by default that of summaries.
      name: the operation's name.

    Returns:
      The serialized summary.
    """
    summary = tf.raw_ops.AudioSummaryV2(
        tag=tag,
        tensor=tensor,
        sample_rate=tf.convert_to_tensor(sample_rate, tf.float32, name="sample_rate"),
        max_outputs=max_outputs,
        name=name or "AudioSummary",
    )
    return _collected(summary, collections)


def merge_summary(
    inputs: Any, collections: Iterable[str] | None = None, name: str | None = None
) -> tf.Tensor:
    """Joins summaries.

    Args:
      inputs: serialized summaries.
      collections: the graph's collections that get the result; by default none.
      name: the operation's name.

    Returns:
      The serialized summary of all.
    """
    with _v1.name_scope(name, "MergeSummary", inputs):
        summary = tf.raw_ops.MergeSummary(inputs=list(inputs))
    return _collected(summary, collections or ())


def merge_all_summaries(key: str = _SUMMARIES) -> tf.Tensor | None:
    """Joins the summaries of a collection; None if it has none.

    Args:
      key: the collection's name.
    """
    summaries = _v1.get_collection(key)
    return merge_summary(summaries) if summaries else None


def _collected(summary: tf.Tensor, collections: Iterable[str] | None) -> tf.Tensor:
    for key in [_SUMMARIES] if collections is None else collections:
        _v1.add_to_collection(key, summary)
    return summary
