"""What a monitored training leaves in model_dir for its report: `monitor.json`."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import explained_full_disk_of
from estimator_bridge.own_files import own_output, read_note, replace_text
from estimator_bridge.training.progress_reports import StepReport

__all__ = ["FILE", "Point", "RunRecord", "Trail", "read_record", "write_record"]

FILE = "monitor.json"
_MOST_POINTS = 1000
_GROWTH = 0.02  # of the time so far, between two points of a trail


@dataclasses.dataclass(frozen=True)
class Point:
    """The figures at a step; None where one is unknown.

    Attributes:
      step: the global step.
      loss: the loss.
      examples_per_sec: examples per second over all replicas.
      steps_per_sec: steps per second.
      input_wait: the share of time that steps waited for input.
      flops_per_sec: floating-point operations per second over all replicas.
      matrix_share: the share of the matrix units' peak.
    """

    step: int
    loss: float | None = None
    examples_per_sec: float | None = None
    steps_per_sec: float | None = None
    input_wait: float | None = None
    flops_per_sec: float | None = None
    matrix_share: float | None = None


class Trail:
    """Collects the points of one training: the longer it runs, the fewer in a time.

    Args:
      now: the time at its start, in seconds.
    """

    def __init__(self, now: float):
        self.points: list[Point] = []
        self._start_time = self._last = now

    def add(self, report: StepReport, now: float) -> bool:
        """Adds the point of a report if it is time, or if it is the last one.

        Args:
          report: the report.
          now: its time in seconds.

        Returns:
          Whether it was added.
        """
        is_last = report.total_steps is not None and report.step >= report.total_steps
        is_due = now - self._last >= _GROWTH * (now - self._start_time)
        if self.points and not is_last and not is_due:
            return False
        self._last = now
        self.points.append(
            Point(
                report.step,
                report.loss,
                report.examples_per_sec,
                report.steps_per_sec,
                **dataclasses.asdict(report.use),
            )
        )
        return True


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """A training's figures and its configuration.

    Attributes:
      points: the figures over the steps.
      configuration: names and values, as text.
      notes: sentences on what was measured, and remedies.
      samples: predictions of some examples, each by name, as text.
    """

    points: Sequence[Point] = ()
    configuration: Mapping[str, str] = dataclasses.field(default_factory=dict)
    notes: Sequence[str] = ()
    samples: Sequence[Mapping[str, str]] = ()

    def with_points(self, points: Sequence[Point]) -> RunRecord:
        """Returns the record of a training that continued, with its further points.

        Earlier points at later steps are of a run that was lost; every second of too many goes.
        """
        first = points[0].step if points else None
        earlier = [p for p in self.points if first is None or p.step < first]
        every = [*earlier, *points]
        while len(every) > _MOST_POINTS:
            every = [*every[:-1:2], every[-1]]
        return dataclasses.replace(self, points=tuple(every))


def read_record(model_dir: str) -> RunRecord:
    """Reads the record in a folder; an empty one if there is none."""
    return read_note(_path_in(model_dir), _parse) or RunRecord()


def write_record(model_dir: str, record: RunRecord) -> None:
    """Writes the record; a reader sees the old or the new one.

    Raises:
      DiskError: the disk is full, read-only, or fails; an earlier record is unchanged.
    """
    tf.io.gfile.makedirs(model_dir)
    text = json.dumps(_plain(dataclasses.asdict(record)), indent=1)
    path = _path_in(model_dir)
    with explained_full_disk_of(f"The record {path}", only_writes=True):
        replace_text(path, text)


def _path_in(model_dir: str) -> str:
    """Returns the record's path; a file of another program, such as a simulator's, has its own."""
    return own_output(os.path.join(model_dir, FILE), lambda content: b'"points"' in content)


def _parse(note: dict[str, Any]) -> RunRecord:
    """Makes the record of a note; raises what wrong types cause."""
    points = tuple(Point(**point) for point in note.pop("points"))
    for point in points:
        numbers = dataclasses.astuple(point)
        if not isinstance(point.step, int) or not all(map(_is_number, numbers)):
            raise TypeError(f"a point has other values than numbers: {point}")
    record = RunRecord(points=points, **note)
    if not all(isinstance(sentence, str) for sentence in record.notes):
        raise TypeError("notes must be sentences")
    for texts in (record.configuration, *record.samples):
        if not all(isinstance(text, str) for text in dict(texts).values()):
            raise TypeError("the configuration and the samples must be names with texts")
    return record


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (int, float))


def _plain(value: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
