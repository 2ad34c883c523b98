"""The entry of `train.py --model=lstm`, which is read before TensorFlow is imported."""

from __future__ import annotations

from collections.abc import Iterator

from absl import flags as absl_flags

from models.common.model_entry import Entry, Layout
from models.common.text import read_texts

__all__ = ["ENTRY"]

_FLAGS = {
    "text_length": (64, "For lstm: bytes in a sequence."),
    "lstm_units": (128, "For lstm: the width of a layer."),
    "lstm_layers": (1, "For lstm: the number of layers."),
}


def _define(flag_values: absl_flags.FlagValues) -> None:
    for name, (default, text) in _FLAGS.items():
        absl_flags.DEFINE_integer(name, default, text, flag_values=flag_values)


def _problems(flag_values: absl_flags.FlagValues) -> Iterator[str]:
    for name in _FLAGS:
        value = flag_values[name].value
        if value is None or value < 1:
            yield f"--{name}={value}: want a number of 1 or more"


ENTRY = Entry(
    about="a language model of bytes, an LSTM",
    defaults={"train_steps": 600, "learning_rate": 1e-2, "data_dir": "runs/data/text"},
    task="models.lstm.task",
    layout=Layout("files of text (.txt)", ("*.txt",), "Python's language reference"),
    define_flags=_define,
    problems=_problems,
    check=lambda flag_values: read_texts(flag_values.data_dir),
)
