"""What a check found."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from estimator_bridge.graph.user_line import line_of_error, shown_path
from estimator_bridge.model import describe_fn
from estimator_bridge.testing.described_tpu import TPUGraph

__all__ = ["ModelCheckError", "ModelReport", "explained", "place_of"]


class ModelCheckError(AssertionError):
    """A model that is not ready for a TPU: says in which mode, why, and where in the program."""


@dataclasses.dataclass
class ModelReport:
    """What ``check_model_fn`` saw of a model that passed.

    Attributes:
      losses: the training step's loss, by number of cores.
      weights: the trainable variables after that step, on the first number of cores, by name.
      rounding: how far rounding alone moves each weight: the largest change when the examples of
        the batch come in another order.
      metrics: evaluation's results, by number of cores.
      predictions: by number of cores, the predictions of one batch by key.
      tpu: by mode, the graph that a TPU would be given.
    """

    losses: dict[int, float] = dataclasses.field(default_factory=dict)
    weights: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    rounding: dict[str, float] = dataclasses.field(default_factory=dict)
    metrics: dict[int, dict[str, Any]] = dataclasses.field(default_factory=dict)
    predictions: dict[int, dict[str, np.ndarray]] = dataclasses.field(default_factory=dict)
    tpu: dict[str, TPUGraph] = dataclasses.field(default_factory=dict)


@contextlib.contextmanager
def explained(
    what: str, function: Callable[..., Any], more: Callable[[], str] = str
) -> Iterator[None]:
    """Turns what is raised within into a ModelCheckError that names the user's line.

    Args:
      what: was being done.
      function: the user's, named where no line of the program is in the traceback.
      more: says what else there is to say.
    """
    try:
        yield
    except ModelCheckError:
        raise
    except Exception as error:  # whatever a user's function or TensorFlow raises
        line = line_of_error(error) or place_of(function)
        raise ModelCheckError(
            f"{what}: {type(error).__name__}: {error}\n  at {line}{more()}"
        ) from error


def place_of(function: Callable[..., Any]) -> str:
    """Where a function stands: 'file:line: name(arguments)'."""
    inner: Any = inspect.unwrap(function)
    while hasattr(inner, "func"):
        inner = inner.func
    code = getattr(inner, "__code__", None) or getattr(type(inner).__call__, "__code__", None)
    place = f"{shown_path(code.co_filename)}:{code.co_firstlineno}: " if code else ""
    return f"{place}{describe_fn(function)}"
