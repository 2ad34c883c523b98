"""The entry of a model: what train.py has to know before it imports TensorFlow."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Callable

from absl import flags as absl_flags

__all__ = ["Entry", "Layout", "define_skip_bad_records"]


@dataclasses.dataclass(frozen=True)
class Layout:
    """The data that a model finds in `--data_dir`.

    Attributes:
        description: the files or folders that it reads, in words, for errors.
        patterns: patterns of their names, with names of flags in braces; one that matches is
            enough. Those of the small data that the model itself writes are among them.
        small: the small data that ships, which a model trains on without `--data_dir`.
    """

    description: str
    patterns: tuple[str, ...]
    small: str


def define_skip_bad_records(flag_values: absl_flags.FlagValues) -> None:
    """Defines the flag of models that read images from records."""
    absl_flags.DEFINE_bool(
        "skip_bad_records",
        False,
        "flowers, resnet: leave out records whose images cannot be decoded, and say how many; they "
        "are an error otherwise. All images are then decoded once before the training, also those "
        "of an object store and of the whole ImageNet.",
        flag_values=flag_values,
    )


def _nothing(flag_values: absl_flags.FlagValues) -> tuple[()]:
    del flag_values
    return ()


@dataclasses.dataclass(frozen=True)
class Entry:
    """A model that `train.py --model=NAME` finds; `models/NAME/entry.py` has it as ENTRY.

    Attributes:
        about: the model and its data, in one line for `--help`.
        defaults: its defaults of the shared flags, by name.
        task: the module with its `open_task(flag_values)`, which returns a
            `models.common.task.Task`.
            It is imported after TensorFlow.
        layout: the data that it finds.
        define_flags: defines flags of its own. Other models refuse them, unless they have them too.
        problems: yields a line for each wrong value of its flags.
        check: checks the data before TensorFlow is imported; raises `UserError` or `OSError`.
        apis: the values of `--api` that it has.
    """

    about: str
    defaults: Mapping[str, Any]
    task: str
    layout: Layout
    define_flags: Callable[[absl_flags.FlagValues], None] | None = None
    problems: Callable[[absl_flags.FlagValues], Iterable[str]] = _nothing
    check: Callable[[absl_flags.FlagValues], object] = _nothing
    apis: tuple[str, ...] = ("estimator", "keras", "loop")
