"""The text of `train.py --help`: the common flags in groups, and those of the chosen model."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from absl import flags as absl_flags

from models.common.registry import DEFAULT, entry_of, model_names, own_flags

__all__ = ["asks_for_help", "short_help"]

_WIDTH = 80
_INDENT = 30
_COMMON = {
    "What to do": ("mode", "train_steps", "dry_run", "config"),
    "Where": ("data_dir", "model_dir"),
    "On what device": ("use_tpu", "tpu", "compile_for"),
    "How to train": ("train_batch_size", "learning_rate", "mixed_precision", "tf_random_seed"),
    "Checkpoints and evaluation": (
        "save_checkpoints_steps", "eval_batch_size", "early_stopping_evals",
    ),
}  # fmt: skip
_WHOLE = ("tpu",)  # the others are told by the first clause of their text
_CLAUSE = re.compile(r"(?<=\.)\s|;\s(?![^(]*\))")
_VALUES = {"int": "N", "float": "X"}  # of flags without a default, by type
_MODELS = re.compile(r"^(?:For )?[a-z_, ]+: ")  # the models that have a flag, at its text's start


def asks_for_help(argv: Sequence[str]) -> bool:
    """Returns whether a command line asks for the short help; `--helpfull` is absl's."""
    return any(word in ("-h", "-help", "--help") for word in argv[1:])


def short_help(argv: Sequence[str], about: str, flag_values: absl_flags.FlagValues) -> str:
    """Returns the help.

    Args:
        argv: the command line; its --model chooses whose flags and defaults are shown.
        about: the program's own description and examples.
        flag_values: all flags of the program, defined and not parsed.
    """
    name = _model(argv)
    lines = [about.strip(), "", "Models"]
    for each in model_names():
        default = ", the default" if each == DEFAULT else ""
        lines += _row(each, f"{entry_of(each).about}{default}", 14)
    lines += ["", f"Common flags, with the defaults of --model={name}"]
    defaults = entry_of(name).defaults
    for title, flags in _COMMON.items():
        lines += [f" {title}", *_rows(flags, flag_values, defaults)]
    own = sorted(own_flags(name))
    if own:
        lines += ["", f"Flags of --model={name}", *_rows(own, flag_values, defaults)]
    others = [each for each in model_names() if each != name and own_flags(each)]
    lines += [
        "",
        f"--model=NAME --help: the flags of {', '.join(others)}.",
        "--helpfull: all flags.",
    ]
    return "\n".join(lines)


def _model(argv: Sequence[str]) -> str:
    """Returns the model that a command line names, or the default."""
    words = " ".join(argv[1:])
    models = re.findall(r"(?:^|\s)--?model[=\s](\S+)", words)
    return models[-1] if models and models[-1] in model_names() else DEFAULT


def _rows(
    names: Iterable[str], flag_values: absl_flags.FlagValues, defaults: Mapping[str, Any]
) -> Iterator[str]:
    for name in names:
        flag = flag_values[name]
        default = defaults.get(name, flag.default)
        text = (flag.help or "").rpartition(">: ")[2]  # absl puts an enum's values first
        text = _MODELS.sub("", text)
        if name not in _WHOLE:
            text = _CLAUSE.split(text)[0].rstrip(".") + "."
        values = getattr(flag.parser, "enum_values", ())
        if not all(f"'{each}'" in text for each in values):
            text += f" One of {', '.join(values)}."
        text = text[:1].upper() + text[1:]
        value = _VALUES.get(flag.flag_type(), "...") if default is None else default
        yield from _row(f"--[no]{name}" if flag.boolean else f"--{name}={value}", text)


def _row(name: str, text: str, indent: int = _INDENT) -> list[str]:
    start = f"  {name:<{indent - 3}} "
    return textwrap.wrap(text, _WIDTH, initial_indent=start, subsequent_indent=" " * indent)
