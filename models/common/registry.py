"""Finds the models: each folder of models/ that has an entry.py. Does not import TensorFlow."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import Any

from absl import flags as absl_flags

from flags import FlagsError
from models.common.model_entry import Entry

__all__ = [
    "DEFAULT",
    "define_model_flags",
    "entry_of",
    "model_names",
    "own_flags",
    "own_values",
    "settle",
]

DEFAULT = "mnist"

_MODELS = Path(__file__).resolve().parents[1]

# The flags belong to train.py, so that its --help lists them.
absl_flags.disclaim_key_flags()


@cache
def model_names() -> tuple[str, ...]:
    """Returns the names that `--model` takes, the default first."""
    folders = sorted(path.parent.name for path in _MODELS.glob("*/entry.py"))
    return (DEFAULT, *(name for name in folders if name != DEFAULT))


@cache
def entry_of(name: str) -> Entry:
    """Returns the entry of a model."""
    return importlib.import_module(f"models.{name}.entry").ENTRY


@cache
def own_flags(name: str) -> frozenset[str]:
    """Returns the names of the flags that a model has of its own."""
    define = entry_of(name).define_flags
    if define is None:
        return frozenset()
    flag_values = absl_flags.FlagValues()
    define(flag_values)
    return frozenset(flag_values)


def _foreign_flags(name: str) -> frozenset[str]:
    """Returns the flags that other models have and this one has not."""
    return frozenset().union(*map(own_flags, model_names())) - own_flags(name)


def define_model_flags(flag_values: absl_flags.FlagValues = absl_flags.FLAGS) -> None:
    """Defines `--model` and the flags of each model."""
    descriptions = "; ".join(f"{name}: {entry_of(name).about}" for name in model_names())
    absl_flags.DEFINE_enum(
        "model",
        DEFAULT,
        list(model_names()),
        f"The model to train. {descriptions}. Its README.md in models/ has its flags and defaults.",
        flag_values=flag_values,
    )
    for name in model_names():
        define = entry_of(name).define_flags
        if define is None:
            continue
        own_flags = absl_flags.FlagValues()
        define(own_flags)
        # Several models may have one flag; it is then the first one's, and its text speaks of all.
        for flag in list(own_flags):
            if flag not in flag_values:
                absl_flags.DEFINE_flag(own_flags[flag], flag_values=flag_values)


def settle(flag_values: absl_flags.FlagValues) -> None:
    """Sets the defaults of the chosen model, and checks the flags that models have of their own.

    Args:
        flag_values: parsed flags; those that were given keep their values.

    Raises:
        FlagsError: a flag of another model was given, a value is wrong, or the model has no such
            `--api`.
    """
    name = flag_values.model
    entry = entry_of(name)
    problems = [
        f"--{flag} is a flag of --model={_owners(flag)}, got --model={name}"
        for flag in sorted(_foreign_flags(name))
        if flag_values[flag].present
    ]
    for flag, value in entry.defaults.items():
        if not flag_values[flag].present:
            flag_values[flag].value = value
    if flag_values.api not in entry.apis:
        problems.append(
            f"--api={flag_values.api} with --model={name}: it has {' and '.join(entry.apis)} only"
        )
    problems += entry.problems(flag_values)
    if problems:
        raise FlagsError(problems)


def _owners(flag: str) -> str:
    return " or ".join(name for name in model_names() if flag in own_flags(name))


def own_values(values: dict[str, Any], name: str) -> dict[str, Any]:
    """Returns flags without those of other models, for a file that `--config` reads.

    Args:
        values: flags by name.
        name: the model's name.
    """
    return {flag: value for flag, value in values.items() if flag not in _foreign_flags(name)}
