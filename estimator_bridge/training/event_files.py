"""Reads event files, for decisions based on earlier evaluations."""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.any_files import check_is_file
from estimator_bridge.records.framing import records_in

__all__ = ["read_eval_metrics", "scalars_by_step", "steps_in", "tags_at"]


def read_eval_metrics(eval_dir: str | os.PathLike[str]) -> dict[int, dict[str, float]]:
    """Reads the metrics that evaluations wrote.

    Args:
      eval_dir: their event files' folder, such as ``estimator.eval_dir()``. It may not exist.

    Returns:
      By global step, in order, the scalar metrics by name.
    """
    return scalars_by_step(os.path.join(os.fspath(eval_dir), "*.tfevents.*"))


def scalars_by_step(pattern: str) -> dict[int, dict[str, float]]:
    """Reads the scalars in event files.

    A truncated file, which is being written or whose writer was killed, is read up to its end.

    Args:
      pattern: the pattern of the files' paths, with * and ?.

    Returns:
      By global step, in order, the scalars by name.
    """
    by_step: dict[int, dict[str, float]] = {}
    for step, value in _values(pattern):
        if value.HasField("simple_value"):
            by_step.setdefault(step, {})[value.tag] = value.simple_value
    return dict(sorted(by_step.items()))


def tags_at(pattern: str, step: int) -> set[str]:
    """Returns the tags that have a value at a step.

    Args:
      pattern: the pattern of the files' paths, with * and ?.
      step: the global step.
    """
    return {value.tag for at, value in _values(pattern) if at == step}


def steps_in(pattern: str) -> set[int]:
    """Returns the global steps of all events, with or without a value.

    Args:
      pattern: the pattern of the files' paths, with * and ?.
    """
    return {event.step for event in _events(pattern)}


# Without its notice of deprecation, which would be the program's only one.
_records = inspect.unwrap(tf.compat.v1.io.tf_record_iterator)


def _values(pattern: str) -> Iterator[tuple[int, Any]]:
    for event in _events(pattern):
        for value in event.summary.value:
            yield event.step, value


def _events(pattern: str) -> Iterator[Any]:
    for path in sorted(tf.io.gfile.glob(pattern)):
        try:
            check_is_file(path)
            whole, damage = records_in(path)
            for record in itertools.islice(_records(path), whole):
                yield _parse(record)
        except (tf.errors.DataLossError, tf.errors.NotFoundError) as error:
            logging.warning("Skipping the rest of event file %s: %s", path, error.message)
        except (OSError, ValueError) as error:
            logging.warning("Skipping the rest of event file %s: %s", path, error)
        else:
            if damage is not None:
                logging.warning("Skipping the rest of event file %s: %s", path, damage)


def _parse(record: bytes) -> Any:
    try:
        return tf.compat.v1.Event.FromString(record)
    except Exception as error:  # protobuf's own type has moved between releases
        raise ValueError("a record of it is not an event") from error
