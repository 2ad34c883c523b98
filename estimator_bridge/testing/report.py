"""The results of a check."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from estimator_bridge.errors import XlaMissingError
from estimator_bridge.graph.user_line import line_of_error, shown_path
from estimator_bridge.model import describe_fn
from estimator_bridge.testing.described_tpu import TPUGraph

__all__ = ["ModelCheckError", "ModelReport", "explained", "place_of"]


class ModelCheckError(AssertionError):
    """A model is not ready for a TPU; names the mode, the reason and the line of the program."""


@dataclasses.dataclass(repr=False)
class ModelReport:
    """The results of ``check_model_fn`` for a model that passed.

    Attributes:
      losses: the training step's loss, by number of cores.
      weights: the trainable variables after that step, on the first number of cores, by name.
      rounding: the change of each weight by rounding alone: the largest change when the examples
        of the batch are reordered.
      metrics: evaluation results, by number of cores.
      predictions: the predictions of one batch by key, by number of cores.
      tpu: the graph that a TPU would be given, by mode.
    """

    losses: dict[int, float] = dataclasses.field(default_factory=dict)
    weights: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    rounding: dict[str, float] = dataclasses.field(default_factory=dict)
    metrics: dict[int, dict[str, Any]] = dataclasses.field(default_factory=dict)
    predictions: dict[int, dict[str, np.ndarray]] = dataclasses.field(default_factory=dict)
    tpu: dict[str, TPUGraph] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        """Summarizes the results; ``details()`` has all values."""
        cores = sorted(self.losses)
        lines = ["ModelReport: passed" + (f" on {_text_of(cores)} core(s)" if cores else "")]
        for count in cores:
            lines.append(f"  loss on {count} core(s): {self.losses[count]:.7g}")
        if self.weights:
            numbers = sum(int(np.size(value)) for value in self.weights.values())
            change = max(self.rounding.values(), default=0.0)
            lines.append(
                f"  weights: {numbers:,} numbers in {len(self.weights)} variable(s), which "
                f"rounding moves by {change:.1e} at most"
            )
        for count, metrics in sorted(self.metrics.items())[:1]:
            lines += [f"  metrics on {count} core(s):", *_some(metrics, _short)]
        for count, values in sorted(self.predictions.items())[:1]:
            lines += [f"  predictions on {count} core(s):", *_some(values, _kind)]
        for mode, graph in self.tpu.items():
            lines.append(
                f"  for a TPU, {mode}: {sum(graph.on_tpu.values()):,} operations on each of "
                f"{graph.replicas} core(s), {graph.variables} variable(s)"
            )
        return "\n".join([*lines, "All values: the attributes, or print(report.details())"])

    def details(self) -> str:
        """Returns all results by attribute; tens of thousands of characters for most models."""
        parts = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return "\n".join(f"{name}: {value!r}" for name, value in parts)


_SHOWN = 8  # of metrics, and of predictions


def _some(values: Mapping[str, Any], show: Callable[[Any], str]) -> list[str]:
    lines = [f"    {name}: {show(value)}" for name, value in list(values.items())[:_SHOWN]]
    remainder = len(values) - _SHOWN
    return [*lines, f"    and {remainder} more"] if remainder > 0 else lines


def _short(value: Any) -> str:
    return f"{value:.7g}" if np.ndim(value) == 0 and np.isreal(value) else _kind(value)


def _kind(value: Any) -> str:
    return f"{np.asarray(value).dtype} of shape {np.shape(value)}"


def _text_of(counts: Sequence[int]) -> str:
    return " and ".join(filter(None, [", ".join(map(str, counts[:-1])), str(counts[-1])]))


@contextlib.contextmanager
def explained(
    activity: str, function: Callable[..., Any], details: Callable[[], str] = str
) -> Iterator[None]:
    """Turns errors raised within into a ModelCheckError that names the user's line.

    Args:
      activity: description of the current step.
      function: the user's function, named if the traceback has no line of the program.
      details: returns text to append.
    """
    try:
        yield
    except (ModelCheckError, XlaMissingError):  # the latter is no fault of the function's
        raise
    except Exception as error:  # whatever a user's function or TensorFlow raises
        line = line_of_error(error) or place_of(function)
        raise ModelCheckError(
            f"{activity}: {type(error).__name__}: {error}\n  at {line}{details()}"
        ) from error


def place_of(function: Callable[..., Any]) -> str:
    """Returns a function's location: 'file:line: name(arguments)'."""
    inner: Any = inspect.unwrap(function)
    while hasattr(inner, "func"):
        inner = inner.func
    code = getattr(inner, "__code__", None) or getattr(type(inner).__call__, "__code__", None)
    place = f"{shown_path(code.co_filename)}:{code.co_firstlineno}: " if code else ""
    return f"{place}{describe_fn(function)}"
