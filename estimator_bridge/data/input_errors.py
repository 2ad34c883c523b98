"""Explains errors that come from an input while steps run.

TensorFlow reports a record that cannot be read from the middle of a step, without its place. The
maker of an input knows where its records are. It leaves a function that looks for the place; the
function is called only after such an error, so inputs cost nothing more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Optional

import tensorflow as tf

from estimator_bridge.errors import DataError

__all__ = ["BadInputError", "explain_input_errors_with", "explained_input_errors"]

# Returns what is wrong with the input, with its place; None if it finds nothing.
Explain = Callable[[tf.errors.OpError], Optional[str]]

# Parts of messages of errors from a dataset's operations.
_OF_INPUT = ("IteratorGetNext", "Dataset", "dataset")


class BadInputError(DataError, tf.errors.InvalidArgumentError):
    """A record of the input cannot be read; programs may catch TensorFlow's type."""

    def __init__(self, message: str):
        tf.errors.InvalidArgumentError.__init__(self, None, None, message)

    def __str__(self) -> str:
        return str(self.message)


class _Call:
    """One training, evaluation or prediction, and the functions of its inputs."""

    def __init__(self) -> None:
        self.explains: list[Explain] = []


# The calls that run now; predictions are generators, so they end in any order.
_running: list[_Call] = []


def explain_input_errors_with(explain: Explain) -> None:
    """Leaves a function that explains errors of an input, for the calls that run now.

    Args:
      explain: called with an error from the input. It may take long; it returns None if it finds
        nothing wrong.
    """
    for call in _running:
        call.explains.append(explain)


@contextlib.contextmanager
def explained_input_errors() -> Iterator[None]:
    """Turns errors of the input into one that names the record; others pass unchanged.

    Raises:
      BadInputError: a record cannot be read.
    """
    call = _Call()
    _running.append(call)
    try:
        yield
    except (tf.errors.InvalidArgumentError, tf.errors.DataLossError) as error:
        text = None if isinstance(error, DataError) else _explain(error, call.explains)
        if text is None:
            raise
        raise BadInputError(text) from error
    finally:
        _running.remove(call)


def _explain(error: tf.errors.OpError, explains: list[Explain]) -> str | None:
    text = str(error.message)
    if isinstance(error, tf.errors.DataLossError) or any(part in text for part in _OF_INPUT):
        for explain in explains:
            explanation = explain(error)
            if explanation is not None:
                return explanation
    return None
