"""The entry of a model: what train.py has to know before it imports TensorFlow."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Callable

from absl import flags as absl_flags

__all__ = ["Entry"]


def _nothing(flag_values: absl_flags.FlagValues) -> tuple[()]:
    del flag_values
    return ()


@dataclasses.dataclass(frozen=True)
class Entry:
    """A model that `train.py --model=NAME` finds; `models/NAME/entry.py` has it as ENTRY.

    Attributes:
        about: the model and its data, in one line for `--help`.
        defaults: its defaults of the shared flags, by name.
        task: the module with its `open_task(flag_values)`, which returns a `models.task.Task`.
            It is imported after TensorFlow.
        define_flags: defines flags of its own. Other models refuse them, unless they have them too.
        problems: yields a line for each wrong value of its flags.
        check: checks the data before TensorFlow is imported; raises `UserError` or `OSError`.
        apis: the values of `--api` that it has.
    """

    about: str
    defaults: Mapping[str, Any]
    task: str
    define_flags: Callable[[absl_flags.FlagValues], None] | None = None
    problems: Callable[[absl_flags.FlagValues], Iterable[str]] = _nothing
    check: Callable[[absl_flags.FlagValues], object] = _nothing
    apis: tuple[str, ...] = ("estimator", "keras", "loop")
