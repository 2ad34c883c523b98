"""The language model of bytes as a task: its texts, and what it expects after some of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from absl import flags as absl_flags

from models.common.errors import UserError
from models.common.in_memory import Split, input_fn_of
from models.common.task import Task, TaskData
from models.common.text import is_test, paragraphs, read_texts
from models.lstm.model import MODEL, VALUES, serving_input_receiver_fn

__all__ = ["open_task"]

_SHOWN = 4
_SHOWN_BYTES = 40


def open_task(flag_values: absl_flags.FlagValues) -> Task:
    """Opens the texts of `--data_dir`; see `models.common.task.open_task`."""
    length = flag_values.text_length
    every = dict.fromkeys(
        line for text in read_texts(flag_values.data_dir).values() for line in paragraphs(text)
    )
    splits = {
        split: _cut_windows([line for line in every if is_test(line) == (split == "test")], length)
        for split in ("train", "test")
    }
    for split, sequences in splits.items():
        if not sequences.size:
            raise UserError(
                f"{flag_values.data_dir}: too little text: the {split} set has less than the "
                f"{length + 1} bytes of one sequence. Add .txt files."
            )
    data = TaskData(
        name="lstm",
        folder=flag_values.data_dir,
        unit=f"sequences of {length} bytes",
        sizes={split: sequences.size for split, sequences in splits.items()},
        input_fn=functools.partial(input_fn_of, splits),
    )
    return Task(
        model=MODEL,
        data=data,
        receiver_fn=serving_input_receiver_fn(length),
        show=_show,
        shown_examples=_SHOWN,
        params={
            "units": flag_values.lstm_units,
            "layers": flag_values.lstm_layers,
            "log_frequencies": _log_frequencies(splits["train"].labels),
        },
    )


def _cut_windows(lines: Sequence[str], length: int) -> Split:
    """Cuts a text into sequences; the labels of each are its bytes one place on."""
    values = np.frombuffer("\n".join(lines).encode(), np.uint8)
    count = max(0, (len(values) - 1) // length)
    features, labels = (
        values[start : start + count * length].reshape(count, length).astype(np.int32)
        for start in (0, 1)
    )
    return Split(features, labels)


def _log_frequencies(values: np.ndarray) -> np.ndarray:
    """Returns the logarithms of the frequencies of bytes, float32 [256]; none is taken for 0."""
    counts = np.bincount(values.ravel(), minlength=VALUES) + 1.0
    return np.log(counts / counts.sum()).astype(np.float32)


def _show(rows: Sequence[Mapping[str, Any]], model_dir: str) -> str:
    del model_dir
    return "\n".join(
        f"{_readable(row['text'])!r} -> {_readable(row['next'][-1:])!r}" for row in rows
    )


def _readable(values: np.ndarray) -> str:
    return bytes(values[-_SHOWN_BYTES:].astype(np.uint8)).decode(errors="replace")
