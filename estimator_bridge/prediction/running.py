"""Predicts all records of files, batch by batch."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, TextIO

import numpy as np
import tensorflow as tf

from estimator_bridge.base.terminal_text import printable
from estimator_bridge.checkpoint import explained_full_disk_of
from estimator_bridge.errors import DataError
from estimator_bridge.prediction.accepted_kinds import check_kind
from estimator_bridge.prediction.binary_rows import image_rows, record_rows
from estimator_bridge.prediction.input_files import InputFiles
from estimator_bridge.prediction.output import opened
from estimator_bridge.prediction.rows import BadRow, Found, Row, RowError
from estimator_bridge.prediction.served_model import ServedModel
from estimator_bridge.prediction.text_rows import csv_rows, header_of, json_rows
from estimator_bridge.prediction.values import Arrays, arrays_of

__all__ = ["Counts", "Settings", "predict"]

_READERS: Mapping[str, Callable[[str], Found]] = {
    "csv": csv_rows,
    "images": image_rows,
    "jsonl": json_rows,
    "tfrecords": record_rows,
}
_EVERY_SECS = 0.5

Batch = list[tuple[Row, Arrays]]


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of a prediction.

    Attributes:
      batch_size: the number of records in a call of the model.
      keep: the names of input values that are written beside the predictions.
      skip_bad_records: whether a bad record is reported and left out; else it is an error.
    """

    batch_size: int
    keep: tuple[str, ...] = ()
    skip_bad_records: bool = False


@dataclasses.dataclass
class Counts:
    """The numbers of records that were predicted, and that were left out."""

    predicted: int = 0
    left_out: int = 0


def predict(
    model: ServedModel,
    inputs: InputFiles,
    output: str | None,
    settings: Settings,
    stream: TextIO | None = None,
) -> Counts:
    """Predicts each record once, in order, and writes a row for each.

    Args:
      model: the model.
      inputs: the files.
      output: a file that ends in .jsonl or .csv, which appears at the end; None: standard output.
      settings: how.
      stream: where progress and records that were left out are shown; by default stderr.

    Returns:
      The numbers of records.

    Raises:
      DataError: the model cannot take such records, there is none, or one is bad and
        `skip_bad_records` is off; the message names its file and place.
      DiskFullError: the disk is full; no part of the output is left.
    """
    for path in inputs.paths if inputs.kind == "csv" else ():
        check_kind(model, inputs.kind, header_of(path))
    check_kind(model, inputs.kind, None)
    stream = sys.stderr if stream is None else stream
    counts, progress = Counts(), _Progress(stream)
    guard = explained_full_disk_of(f"The file {output}") if output else contextlib.nullcontext()
    with guard, opened(output) as write:
        for batch in _batches(model, inputs, settings, counts, progress):
            for rows in _compute(model, batch, settings, counts, progress):
                write(rows)
            progress.show(counts)
        if not counts.predicted:
            raise DataError(
                f"{inputs.paths[0]}: no record to predict"
                + (f": all {counts.left_out} are bad." if counts.left_out else ".")
            )
    progress.end(counts)
    return counts


class _Progress:
    """One line that is rewritten on a terminal; elsewhere, the records left out and the end."""

    def __init__(self, stream: TextIO):
        self._stream, self._is_terminal = stream, stream.isatty()
        self._start = self._last = time.monotonic()

    def show(self, counts: Counts) -> None:
        now = time.monotonic()
        if self._is_terminal and now - self._last >= _EVERY_SECS:
            self._last = now
            self._write(f"\r{self._text(counts)}\x1b[K")

    def say(self, text: str) -> None:
        self._write(("\r\x1b[K" if self._is_terminal else "") + printable(text) + "\n")

    def end(self, counts: Counts) -> None:
        self.say(self._text(counts))

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    def _text(self, counts: Counts) -> str:
        seconds = max(time.monotonic() - self._start, 1e-6)
        text = f"{counts.predicted:,} records predicted, {counts.predicted / seconds:,.0f}/s"
        return f"{text}, {counts.left_out:,} left out" if counts.left_out else text


def _batches(
    model: ServedModel,
    inputs: InputFiles,
    settings: Settings,
    counts: Counts,
    progress: _Progress,
) -> Iterator[Batch]:
    """Yields records of equal shapes, at most a batch of them, in order."""
    size = model.batch_size or settings.batch_size
    batch: Batch = []
    for row in itertools.chain.from_iterable(map(_READERS[inputs.kind], inputs.paths)):
        entry = row if isinstance(row, BadRow) else _with_arrays(model, inputs.kind, row, settings)
        if isinstance(entry, BadRow):
            if batch and not settings.skip_bad_records:  # what precedes the error is written
                yield batch
                batch = []
            _refuse(entry, settings, counts, progress)
            continue
        if batch and (len(batch) == size or not _same_shapes(batch[0][1], entry[1])):
            yield batch
            batch = []
        batch.append(entry)
    if batch:
        yield batch


def _with_arrays(
    model: ServedModel, kind: str, row: Row, settings: Settings
) -> tuple[Row, Arrays] | BadRow:
    try:
        arrays = arrays_of(model, kind, row)
        _columns_of(row, settings.keep)
    except RowError as error:
        return BadRow(row.path, row.place, str(error))
    return row, arrays


def _refuse(bad: BadRow, settings: Settings, counts: Counts, progress: _Progress) -> None:
    if not settings.skip_bad_records:
        raise DataError(f"{bad}. With --skip_bad_records, such records are reported and left out.")
    progress.say(f"left out: {bad}")
    counts.left_out += 1


def _same_shapes(one: Arrays, other: Arrays) -> bool:
    return all(one[name].shape == other[name].shape for name in one)


def _columns_of(row: Row, names: Sequence[str]) -> dict[str, Any]:
    for name in names:
        if name not in row.fields:
            raise RowError(f"no value {name!r} for --keep; it has {', '.join(row.fields)}")
    return {name: row.fields[name] for name in names}


def _compute(
    model: ServedModel, batch: Batch, settings: Settings, counts: Counts, progress: _Progress
) -> Iterator[list[dict[str, Any]]]:
    """Yields the rows of a batch; if the model refuses it, those of each record on its own."""
    try:
        outputs = _call(model, [arrays for _, arrays in batch])
    except tf.errors.InvalidArgumentError as error:
        if len(batch) == 1:
            row = batch[0][0]
            message = error.message.strip().splitlines()[0]
            reason = f"the model cannot compute it: {message}"
            _refuse(BadRow(row.path, row.place, reason), settings, counts, progress)
            return
        for one in batch:
            yield from _compute(model, [one], settings, counts, progress)
        return
    counts.predicted += len(batch)
    yield [
        {**_columns_of(row, settings.keep), **{name: value[at] for name, value in outputs.items()}}
        for at, (row, _) in enumerate(batch)
    ]


def _call(model: ServedModel, rows: Sequence[Arrays]) -> dict[str, np.ndarray]:
    size = len(rows)
    padding = [rows[-1]] * ((model.batch_size or size) - size)
    stacked = {name: np.stack([row[name] for row in [*rows, *padding]]) for name in rows[0]}
    outputs = model.call(stacked)
    for name, value in outputs.items():
        if not value.shape or value.shape[0] != size + len(padding):
            raise DataError(
                f"{model.path}: output {name!r} has the shape {list(value.shape)} for {size} "
                "records: want one value each. Choose outputs with --outputs."
            )
    return {name: value[:size] for name, value in outputs.items()}
