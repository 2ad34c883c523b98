"""TrainSpec and EvalSpec: the training, the evaluations and the exports of train_and_evaluate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from estimator_bridge.training.continuous import checks
from estimator_bridge.training.exporters import Exporter

__all__ = ["EvalSpec", "TrainSpec", "check_eval_spec"]


class _TrainFields(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[Any, ...]
    saving_listeners: tuple[Any, ...]


class TrainSpec(_TrainFields):
    """The training of train_and_evaluate.

    Args:
      input_fn: returns a Dataset, or (features, labels).
      max_steps: the global step to train to; None to train until the input ends or a hook stops.
      hooks: SessionRunHooks, at every worker.
      saving_listeners: CheckpointSaverListeners, at the chief.

    Raises:
      TypeError: input_fn is not callable, or a hook or listener is of another type.
      ValueError: max_steps is 0 or less.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        saving_listeners: Iterable[Any] | None = None,
    ) -> TrainSpec:
        """Checks and takes the arguments."""
        checks.check_input_fn(input_fn)
        checks.check_count("max_steps", max_steps)
        return super().__new__(
            cls,
            input_fn,
            max_steps,
            checks.check_hooks(hooks),
            checks.check_listeners(saving_listeners),
        )


class _EvalFields(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[Any, ...]
    exporters: tuple[Exporter, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_EvalFields):
    """The evaluations and exports of train_and_evaluate.

    Args:
      input_fn: returns a Dataset, or (features, labels).
      steps: the number of batches of an evaluation; None for all of the input.
      name: the name of the evaluation; its event files go to 'eval_NAME'.
      hooks: SessionRunHooks, during evaluations.
      exporters: an Exporter or several, called after each evaluation.
      start_delay_secs: how long an evaluator process waits before it looks for checkpoints.
      throttle_secs: the least time from the start of one evaluation to that of the next.

    Raises:
      TypeError: input_fn is not callable, or name, a hook or an exporter is of another type.
      ValueError: a number is out of its range, or an exporter's name is missing or not unique.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[Any] | None = None,
        exporters: Exporter | Iterable[Exporter] | None = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        """Checks and takes the arguments."""
        checks.check_input_fn(input_fn)
        checks.check_count("steps", steps)
        if name is not None and not isinstance(name, str):
            raise TypeError(
                f"`name` must be string, given: {name!r} ({type(name).__name__}). It becomes part "
                "of the folder eval_NAME."
            )
        checks.check_at_least_zero("start_delay_secs", start_delay_secs)
        checks.check_at_least_zero("throttle_secs", throttle_secs)
        return super().__new__(
            cls,
            input_fn,
            steps,
            name,
            checks.check_hooks(hooks),
            checks.check_exporters(exporters),
            start_delay_secs,
            throttle_secs,
        )


def check_eval_spec(eval_spec: Any) -> EvalSpec:
    """Checks that there is an EvalSpec.

    Raises:
      TypeError: it is something else.
    """
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(
            "`eval_spec` must have type `tf.estimator.EvalSpec`. Got: "
            f"{type(eval_spec)}: {eval_spec!r}."
        )
    return eval_spec
