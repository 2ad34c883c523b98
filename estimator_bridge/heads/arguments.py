"""Checks of a head's arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from estimator_bridge.model import describe_fn, fn_args

__all__ = [
    "call_loss_fn_arguments",
    "check_loss_fn",
    "check_n_classes",
    "check_prediction_keys",
    "check_reduction",
    "check_vocabulary",
    "parse_thresholds",
]

_REDUCTIONS = ("auto", "sum", "sum_over_batch_size")
_LOSS_FN_NEEDS = ("labels", "logits")
_LOSS_FN_MAY_TAKE = (*_LOSS_FN_NEEDS, "features", "loss_reduction")


def check_reduction(loss_reduction: Any, valid: Collection[str] = _REDUCTIONS) -> str:
    """Checks a loss reduction.

    Args:
      loss_reduction: the user's value.
      valid: the allowed values; Keras' names by default.

    Returns:
      The reduction.

    Raises:
      ValueError: it is not in `valid`.
    """
    if loss_reduction not in valid:
        raise ValueError(
            f"Invalid loss_reduction: {loss_reduction}. This head takes one of {sorted(valid)}: it "
            "needs a single loss per batch."
        )
    return loss_reduction


def check_loss_fn(loss_fn: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """Checks that a head can call a loss function.

    Returns:
      The function, or None.

    Raises:
      ValueError: it takes no labels or no logits, or an argument that a head does not have.
    """
    if loss_fn is None:
        return None
    argument_names = fn_args(loss_fn)
    for name in _LOSS_FN_NEEDS:
        if name not in argument_names:
            raise ValueError(
                f"loss_fn must contain argument: {name}. Given arguments: {argument_names}. It "
                f"is called by name, as {describe_fn(loss_fn)} was written."
            )
    unknown = sorted(set(argument_names) - set(_LOSS_FN_MAY_TAKE))
    if unknown:
        raise ValueError(
            f"loss_fn has unexpected args: {unknown}. It may take {list(_LOSS_FN_MAY_TAKE)}; bind "
            "others with functools.partial."
        )
    return loss_fn


def call_loss_fn_arguments(
    loss_fn: Callable[..., Any], features: Any, loss_reduction: str
) -> dict[str, Any]:
    """Returns the arguments of a loss function other than labels and logits, by name.

    A default for loss_reduction is kept: the original passes only features.
    """
    arguments = {"features": features} if "features" in fn_args(loss_fn) else {}
    reduction = inspect.signature(loss_fn).parameters.get("loss_reduction")
    if reduction is not None and reduction.default is inspect.Parameter.empty:
        arguments["loss_reduction"] = loss_reduction
    return arguments


def check_n_classes(n_classes: Any) -> Any:
    """Checks the number of classes of a head with one class per example.

    Returns:
      The number; a tensor passes.

    Raises:
      ValueError: it is None or less than 3.
    """
    if n_classes is None:
        raise ValueError("n_classes cannot be None: a MultiClassHead needs a logit for each class.")
    if isinstance(n_classes, int) and n_classes <= 2:
        raise ValueError(f"n_classes must be > 2: {n_classes}. BinaryClassHead is for two classes.")
    return n_classes


class _NoVocabularyError(ValueError, TypeError):
    """The class names are not a list."""


def check_vocabulary(
    vocabulary: Any, n_classes: Any = None, phrase: str = "should be a list or tuple"
) -> Sequence[str] | None:
    """Checks class names.

    Args:
      vocabulary: the names, or None.
      n_classes: the number of classes; None if it is the head's own.
      phrase: the words of the head's error; the original's heads differ.

    Returns:
      The names, or None if labels are numbers.

    Raises:
      ValueError: the names are not a list or tuple (also a TypeError, as V1's binary head raised),
        or their number is not the number of classes.
    """
    if vocabulary is None:
        return None
    if not isinstance(vocabulary, (list, tuple)):
        raise _NoVocabularyError(
            f"label_vocabulary {phrase}. Given type: {type(vocabulary)}. The "
            "position of a label in it is the number of its class."
        )
    if n_classes is not None and len(vocabulary) != n_classes:
        raise ValueError(
            f"Length of label_vocabulary must be n_classes ({n_classes}). Given: {len(vocabulary)}"
            f" of {_shorten(vocabulary)}."
        )
    return vocabulary


def parse_thresholds(thresholds: Iterable[float] | None) -> tuple[float, ...]:
    """Checks the thresholds of metrics.

    Raises:
      ValueError: one is not between 0 and 1.
    """
    values = tuple(thresholds or ())
    for threshold in values:
        if not 0.0 < threshold < 1.0:
            raise ValueError(
                f"thresholds must be in (0, 1) range. Given: {threshold}; thresholds not in "
                f"(0, 1): {values}. They are probabilities, strictly between 0 and 1."
            )
    return values


def check_prediction_keys(keys: Iterable[str] | None, valid: Sequence[str]) -> tuple[str, ...]:
    """Returns the requested prediction keys; all by default.

    Raises:
      ValueError: a head does not have one of them.
    """
    if not keys:
        return tuple(valid)
    for key in keys:
        if key not in valid:
            raise ValueError(
                f"Prediction key must be in PredictionKeys, given: {key}. Valid prediction keys "
                f"of this head are {list(valid)}."
            )
    return tuple(keys)


def _shorten(names: Sequence[Any], limit: int = 5) -> str:
    return (
        f"{list(names)}" if len(names) <= limit else f"[{', '.join(map(repr, names[:limit]))}, ...]"
    )
