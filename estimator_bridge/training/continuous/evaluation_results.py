"""The outcome of an evaluation pass, which may have found no new checkpoint."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import tensorflow as tf

__all__ = ["EvalResult", "EvalStatus", "Outcome"]

# An evaluation's metrics, and what the exporters returned after it.
Outcome = tuple[Optional[dict[str, Any]], Optional[list[Any]]]

_GLOBAL_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP


class EvalStatus:
    """The kind of outcome.

    In one process it is always EVALUATED, as training ends with a checkpoint. An evaluator
    process looks for checkpoints that another writes, and may find none yet, or none that is new.
    """

    EVALUATED = "evaluated"
    MISSING_CHECKPOINT = "missing checkpoint"
    NO_NEW_CHECKPOINT = "no new checkpoint"


class _Fields(NamedTuple):
    status: str
    metrics: dict[str, Any] | None
    checkpoint_path: str | None


class EvalResult(_Fields):
    """An evaluation's outcome.

    Args:
      status: one of `EvalStatus`.
      metrics: the result of Estimator.evaluate; only if EVALUATED.
      checkpoint_path: the evaluated checkpoint; only if EVALUATED.

    Raises:
      ValueError: metrics or the path are missing after an evaluation, or given without one, or
        the metrics lack 'global_step'.
      TypeError: metrics is not a dict.
    """

    __slots__ = ()

    def __new__(
        cls, status: str, metrics: dict[str, Any] | None = None, checkpoint_path: str | None = None
    ) -> EvalResult:
        """Checks and takes the arguments."""
        if status == EvalStatus.EVALUATED:
            _check_evaluated(metrics, checkpoint_path)
        else:
            results = {"metrics": metrics, "checkpoint_path": checkpoint_path}
            for name, value in results.items():
                if value:
                    raise ValueError(
                        f"{name} must be `None` if status is not {EvalStatus.EVALUATED}; got "
                        f"status {status!r}, {name} {value!r}."
                    )
        return super().__new__(cls, status, metrics, checkpoint_path)


def _check_evaluated(metrics: Any, checkpoint_path: str | None) -> None:
    if not metrics:
        raise ValueError(
            "Internal error: `Estimator.evaluate` should never return empty metrics; got "
            f"{metrics!r} for {checkpoint_path!r}."
        )
    if not isinstance(metrics, dict):
        raise TypeError(
            f"`Estimator.evaluate` should return dict. Given {type(metrics)}: {metrics!r}."
        )
    if _GLOBAL_STEP not in metrics:
        raise ValueError(
            "Internal error: `Estimator.evaluate` result should have `global_step` in result. "
            f"Given {metrics}."
        )
    if not checkpoint_path:
        raise ValueError("Internal error: `checkpoint_path` should never be empty.")
