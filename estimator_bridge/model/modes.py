"""The three modes of a model_fn."""

from __future__ import annotations

__all__ = ["MODES", "MODE_NAMES", "ModeKeys", "check_mode"]


class ModeKeys:
    """The values of model_fn's ``mode``: plain strings, since programs compare and log them."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)

# The modes' names in messages.
MODE_NAMES = {
    ModeKeys.TRAIN: "training",
    ModeKeys.EVAL: "evaluation",
    ModeKeys.PREDICT: "prediction",
}


def check_mode(mode: str, owner: str) -> str:
    """Returns `mode` after checking that it is a known mode.

    Args:
      mode: the user's value.
      owner: the name of the object that it was passed to, for errors.

    Raises:
      ValueError: `mode` is not in `MODES`. Such a spec would pass all other checks, since the mode
        determines the fields that it needs.
    """
    if mode not in MODES:
        raise ValueError(
            f"mode of {owner} must be one of ModeKeys.TRAIN ('train'), ModeKeys.EVAL ('eval') and "
            f"ModeKeys.PREDICT ('infer'), got {mode!r}. Pass on the `mode` that model_fn was "
            "called with."
        )
    return mode
