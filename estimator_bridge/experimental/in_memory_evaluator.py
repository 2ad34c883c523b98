"""Evaluation during training, with the current weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.experimental.copied_weights import CopiedWeights
from estimator_bridge.model import ModeKeys
from estimator_bridge.training import Estimator
from estimator_bridge.training.arguments import check_hooks, check_steps
from estimator_bridge.training.evaluate import evaluate_program
from estimator_bridge.training.trace_program import trace_program

__all__ = ["InMemoryEvaluatorHook"]

_v1 = tf.compat.v1
_SessionRunHook: Any = _v1.train.SessionRunHook


class InMemoryEvaluatorHook(_SessionRunHook):
    """Evaluates during training without a checkpoint: at the start, every N steps, and at the end.

    The model is traced for evaluation once; each evaluation gets a copy of the weights.

    Args:
      estimator: the estimator being trained.
      input_fn: see Estimator.evaluate.
      steps: number of batches per evaluation; None for all.
      hooks: SessionRunHooks of the evaluations.
      name: name of the evaluation; its event files go to 'eval_NAME'.
      every_n_iter: training steps between evaluations.

    Raises:
      ValueError: every_n_iter or steps is 0 or less, or several machines train.
      TypeError: a hook is not a SessionRunHook.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}: wanted a number of steps > 0.")
        config = estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise ValueError(
                "InMemoryEvaluator supports only single machine (aka Local) setting, got "
                f"{config.num_worker_replicas} workers and {config.num_ps_replicas} parameter "
                "servers. Start an evaluator process with train_and_evaluate instead."
            )
        check_steps(steps=steps)
        self._estimator = estimator
        self._input_fn = input_fn
        self._steps = steps
        self._hooks = check_hooks(hooks)
        self._eval_dir = estimator.eval_dir(name)
        self._every_n_iter = every_n_iter
        self._weights: CopiedWeights | None = None
        self._global_step: Any = None
        self._evaluated_at: int | None = None

    def steps_until_due(self, step: int) -> float:
        """Returns the steps left to the next evaluation."""
        last = step if self._evaluated_at is None else self._evaluated_at
        return max(last + self._every_n_iter - step, 1)

    def begin(self) -> None:
        """Traces the model for evaluation.

        Raises:
          ValueError: the model's scaffold has a saver or an init_fn, which are not supported.
        """
        self._global_step = _v1.train.get_global_step()
        self._evaluated_at = None
        estimator = self._estimator
        program = trace_program(
            estimator._execution(ModeKeys.EVAL),
            estimator._model_fn,
            self._input_fn,
            ModeKeys.EVAL,
            estimator.params,
        )
        self._weights = CopiedWeights(program)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Evaluates the weights that training starts from.

        Raises:
          ValueError: the model saves state that is not a variable.
        """
        del coord
        saveables = _v1.get_collection(_v1.GraphKeys.SAVEABLE_OBJECTS)
        if saveables:
            raise ValueError(
                "InMemoryEvaluator does not support saveables other than global variables, got "
                f"{saveables}. Evaluate checkpoints instead, with train_and_evaluate."
            )
        self._evaluate(session)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Evaluates if an evaluation is due."""
        del run_values
        session = run_context.session
        last = self._evaluated_at
        if last is None or session.run(self._global_step) >= last + self._every_n_iter:
            self._evaluate(session)

    def end(self, session: Any) -> None:
        """Evaluates the last weights, and frees the copy."""
        if self._evaluated_at != session.run(self._global_step):
            self._evaluate(session)
        if self._weights is not None:
            self._weights.program.close()
            self._weights = None

    def _evaluate(self, session: Any) -> None:
        if self._weights is None:
            raise RuntimeError("InMemoryEvaluatorHook evaluates only between begin() and end().")
        self._weights.source = session
        self._evaluated_at = int(session.run(self._global_step))
        evaluate_program(self._weights.program, self._eval_dir, self._hooks, self._steps, None)
