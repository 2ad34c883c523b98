"""Checks of the arguments of TrainSpec and EvalSpec."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.model.argument_lists import checked_items
from estimator_bridge.model.number_checks import check_number
from estimator_bridge.training.exporters import Exporter

__all__ = [
    "check_at_least_zero",
    "check_count",
    "check_exporters",
    "check_hooks",
    "check_input_fn",
    "check_listeners",
]

_train = tf.compat.v1.train


def check_input_fn(input_fn: Callable[..., Any]) -> None:
    """Checks that an input_fn can be called.

    Raises:
      TypeError: it is not callable.
    """
    if not callable(input_fn):
        raise TypeError(
            f"`input_fn` must be callable, given: {input_fn!r}. Pass a function that returns a "
            "Dataset, not the Dataset itself: lambda: dataset."
        )


def check_count(name: str, value: int | None) -> None:
    """Checks a number of steps.

    Raises:
      TypeError: it is no number.
      ValueError: it is 0 or less.
    """
    check_number(name, value)
    if value is not None and value <= 0:
        raise ValueError(f"Must specify {name} > 0, given: {value}. None means no bound.")


def check_at_least_zero(name: str, value: float) -> None:
    """Checks a time.

    Raises:
      TypeError: it is no number.
      ValueError: it is less than 0.
    """
    check_number(name, value)
    if value < 0:
        raise ValueError(f"Must specify {name} >= 0, given: {value}.")


def check_hooks(hooks: Iterable[Any] | None) -> tuple[Any, ...]:
    """Returns the hooks as a tuple.

    Raises:
      TypeError: it is no list, or one is no SessionRunHook.
    """
    rule = "All hooks must be `SessionRunHook` instances"
    return checked_items(hooks, _train.SessionRunHook, rule)


def check_listeners(listeners: Iterable[Any] | None) -> tuple[Any, ...]:
    """Returns the listeners as a tuple.

    Raises:
      TypeError: it is no list, or one is no CheckpointSaverListener.
    """
    rule = "All saving_listeners must be `CheckpointSaverListener` instances"
    return checked_items(listeners, _train.CheckpointSaverListener, rule)


def check_exporters(exporters: Any) -> tuple[Exporter, ...]:
    """Returns one exporter or several as a tuple.

    Raises:
      TypeError: one is no Exporter.
      ValueError: one has no name, or one that is no string, or two have the same.
    """
    if not exporters:
        return ()
    several = [exporters] if isinstance(exporters, Exporter) else exporters
    if not isinstance(several, Iterable) or not all(isinstance(e, Exporter) for e in several):
        raise TypeError(
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found "
            f"{exporters!r}."
        )
    names = [exporter.name for exporter in several]
    for name in names:
        if not name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty: its exports go to "
                f"model_dir/export/NAME. All exporter names: {names}."
            )
        if not isinstance(name, str):
            raise ValueError(
                f"An Exporter must have a string name. Given: {name!r} ({type(name).__name__})."
            )
    if len(set(names)) < len(names):
        raise ValueError(
            "`exporters` must have unique names: each has its folder model_dir/export/NAME. All "
            f"exporter names: {names}."
        )
    return tuple(several)
