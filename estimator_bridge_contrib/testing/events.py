"""Event files and summaries, read in tests."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = [
    "assert_summary",
    "latest_event_file",
    "latest_events",
    "latest_summaries",
    "simple_values_from_events",
    "to_summary_proto",
]

_v1 = tf.compat.v1


def assert_summary(
    expected_tags: Iterable[str], expected_simple_values: Mapping[str, float], summary_proto: Any
) -> None:
    """Checks the tags of a summary, and some of its values to two decimals.

    Args:
      expected_tags: all tags.
      expected_simple_values: by tag, the expected value.
      summary_proto: the Summary.

    Raises:
      ValueError: the tags differ.
      AssertionError: a value differs.
    """
    for value in summary_proto.value:
        if value.tag in expected_simple_values:
            np.testing.assert_almost_equal(
                value.simple_value, expected_simple_values[value.tag], 2, err_msg=value.tag
            )
    expected, tags = set(expected_tags), {value.tag for value in summary_proto.value}
    if expected != tags:
        raise ValueError(f"Expected tags {sorted(expected)}, got {sorted(tags)}.")


def to_summary_proto(summary_str: bytes) -> Any:
    """Returns the Summary that a string was serialized from."""
    return _v1.Summary.FromString(summary_str)


def latest_event_file(base_dir: str) -> str | None:
    """Returns the last event file of a folder in the order of names; None if there is none."""
    return max(glob.glob(os.path.join(base_dir, "events.*")), default=None)


def latest_events(base_dir: str) -> Iterable[Any]:
    """Returns the events of a folder's last event file; an empty list if there is none."""
    path = latest_event_file(base_dir)
    return _v1.train.summary_iterator(path) if path else []


def latest_summaries(base_dir: str) -> list[Any]:
    """Returns those events of a folder's last event file that have a summary."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


def simple_values_from_events(events: Iterable[Any], tags: Collection[str]) -> dict[str, float]:
    """Returns the value of the largest step for each tag.

    Args:
      events: the events.
      tags: the tags to look for.

    Raises:
      ValueError: a summary with one of the tags has no simple value.
    """
    latest: dict[str, tuple[int, float]] = {}
    for event in events:
        for value in event.summary.value:
            if value.tag not in tags:
                continue
            if not value.HasField("simple_value"):
                raise ValueError(f"Summary for {value.tag} is not a simple_value.")
            if value.tag not in latest or event.step > latest[value.tag][0]:
                latest[value.tag] = (event.step, value.simple_value)
    return {tag: value for tag, (_, value) in latest.items()}
