"""The three ways in which an estimator calls a model_fn."""

from __future__ import annotations

__all__ = ["MODES", "MODE_NAMES", "ModeKeys", "check_mode"]


class ModeKeys:
    """The values of model_fn's ``mode``: plain strings, as programs compare and log them."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)

# What messages call them.
MODE_NAMES = {
    ModeKeys.TRAIN: "training",
    ModeKeys.EVAL: "evaluation",
    ModeKeys.PREDICT: "prediction",
}


def check_mode(mode: str, owner: str) -> str:
    """Returns `mode`, or says which modes there are.

    Args:
      mode: what was given.
      owner: the name of the thing that it was given to, for the error.

    Raises:
      ValueError: `mode` is none of `MODES`. Such a spec would pass every check, for the fields
        that it needs are found by its mode.
    """
    if mode not in MODES:
        raise ValueError(
            f"mode of {owner} must be one of ModeKeys.TRAIN ('train'), ModeKeys.EVAL ('eval') and "
            f"ModeKeys.PREDICT ('infer'), got {mode!r}. Pass on the `mode` that model_fn was "
            "called with."
        )
    return mode
