"""The roles of processes in train_and_evaluate: chief, worker, evaluator, or all in one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import step_of
from estimator_bridge.export.export_folders import remove_abandoned
from estimator_bridge.model import TaskType
from estimator_bridge.training.continuous.checks import check_hooks
from estimator_bridge.training.continuous.evaluation_results import Outcome
from estimator_bridge.training.continuous.evaluator import Evaluator
from estimator_bridge.training.continuous.evaluator_loop import evaluate_until_final
from estimator_bridge.training.continuous.job_end import (
    JobEnd,
    note_early_end,
    remove_end_note,
)
from estimator_bridge.training.continuous.listeners import (
    ContinuousEvalListener,
    EvaluateAfterSaving,
)
from estimator_bridge.training.continuous.progress_note import Progress
from estimator_bridge.training.continuous.specs import EvalSpec, TrainSpec, check_eval_spec
from estimator_bridge.training.estimator import Estimator
from estimator_bridge.training.parameter_servers import (
    announce_end_at_exit,
    has_servers,
    job_goes_on,
    serve,
    start_server,
)

__all__ = ["TrainingExecutor"]

_logging = tf.compat.v1.logging
_DELAY_SECS_PER_WORKER, _MAX_DELAY_SECS = 5, 60


class TrainingExecutor:
    """The roles that a process may have.

    Args:
      estimator: the Estimator.
      train_spec: what to train on.
      eval_spec: what to evaluate on; None for a role that only trains.
      train_hooks: added to those of train_spec.
      continuous_eval_listener: called around evaluations; it may stop them, and in one process
        also the training.
      sleep: waits for a number of seconds; by default time.sleep.
      clock: the time in seconds.

    Raises:
      TypeError: an argument is of another type.
    """

    def __init__(
        self,
        estimator: Estimator,
        train_spec: TrainSpec,
        eval_spec: EvalSpec | None,
        train_hooks: Iterable[Any] | None = None,
        continuous_eval_listener: ContinuousEvalListener | None = None,
        sleep: Callable[[float], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        if not isinstance(estimator, Estimator):
            raise TypeError(
                "`estimator` must have type `tf.estimator.Estimator`. Got: "
                f"{type(estimator)}: {estimator!r}."
            )
        if not isinstance(train_spec, TrainSpec):
            raise TypeError(
                "`train_spec` must have type `tf.estimator.TrainSpec`. Got: "
                f"{type(train_spec)}: {train_spec!r}."
            )
        if eval_spec and not isinstance(eval_spec, EvalSpec):
            raise TypeError(
                "`eval_spec` must be either `None` or have type `tf.estimator.EvalSpec`. Got: "
                f"{type(eval_spec)}: {eval_spec!r}."
            )
        listener = continuous_eval_listener or ContinuousEvalListener()
        if not isinstance(listener, ContinuousEvalListener):
            raise TypeError(
                "`continuous_eval_listener` must have type `_ContinuousEvalListener`. Got: "
                f"{type(listener)}: {listener!r}."
            )
        self._estimator, self._train_spec, self._eval_spec = estimator, train_spec, eval_spec
        self._train_hooks = check_hooks(train_hooks)
        self._listener = listener
        self._sleep, self._clock = sleep or _sleep, clock

    @property
    def estimator(self) -> Estimator:
        """The estimator."""
        return self._estimator

    def run(self) -> Outcome | None:
        """Runs the role that the estimator's config gives to this process.

        Returns:
          See `train_and_evaluate`.

        Raises:
          ValueError: the config names no task, or an unknown one.
        """
        config = self._estimator.config
        if config.train_distribute is None:
            _logging.info("Not using Distribute Coordinator.")
        if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
            _logging.info("Running training and evaluation locally (non-distributed).")
            return self.run_local()
        if not config.task_type:
            raise ValueError(
                "`estimator.config` must have task_type set. This usually means TF_CONFIG "
                'environment is not set correctly: it needs "task": {"type": ..., "index": ...}.'
            )
        if config.task_type == "local":
            raise ValueError(
                "`task.type` in TF_CONFIG cannot be `local`. Leave `cluster` and `task` out of "
                "TF_CONFIG to train and evaluate in one process."
            )
        roles = {
            TaskType.CHIEF: self.run_chief,
            TaskType.EVALUATOR: self.run_evaluator,
            TaskType.MASTER: self.run_master,
            TaskType.PS: self.run_ps,
            TaskType.WORKER: self.run_worker,
        }
        if config.task_type not in roles:
            raise ValueError(
                f"Task type {config.task_type} is not supported. Supported task types are "
                f"{list(roles)}."
            )
        if config.is_chief:
            self._tell_of_no_evaluator()
        return roles[config.task_type]()

    def _tell_of_no_evaluator(self) -> None:
        """Says that nobody evaluates, unless a process does that the cluster does not list.

        Beside parameter servers no cluster lists it.
        """
        config = self._estimator.config
        jobs = config.cluster_spec.as_dict()
        if {TaskType.EVALUATOR, TaskType.MASTER, TaskType.PS} & set(jobs):
            return
        _logging.warning(
            "TF_CONFIG's cluster names no evaluator: its chief and workers only train, and "
            "train_and_evaluate returns None in them. The checkpoints in %s are evaluated and "
            "exported if one more process runs this program, with "
            '"task": {"type": "evaluator", "index": 0} in its TF_CONFIG.',
            self._estimator.model_dir,
        )

    def run_local(self) -> Outcome:
        """Trains, with an evaluation after each checkpoint.

        Returns:
          The metrics of the last evaluation, and the results of its exporters.
        """
        config = self._estimator.config
        _logging.info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
            "Checkpoint frequency is determined based on RunConfig arguments: "
            "save_checkpoints_steps %s or save_checkpoints_secs %s.",
            config.save_checkpoints_steps,
            config.save_checkpoints_secs,
        )
        return self._train_with_evaluations(self._listener, self._train)

    def run_master(self) -> Outcome:
        """The chief of a cluster without an evaluator: evaluates each checkpoint itself."""
        return self._train_with_evaluations(ContinuousEvalListener(), self._train_in_cluster)

    def run_chief(self) -> None:
        """Trains with the workers; writes checkpoints and summaries."""
        self._train_before_evaluator(self._train_spec.saving_listeners)

    def run_worker(self) -> None:
        """Trains with the chief.

        On parameter servers each worker trains at its own pace, and they begin one after the other,
        as the original's did. Without servers they step in lockstep, and begin at once.
        """
        self._train_before_evaluator(())

    def run_ps(self) -> None:
        """Serves variables until the job has ended, and then ends this process.

        The original served until it was killed: no program expects its process to go on.

        Raises:
          SystemExit: the job has ended, with code 0.
          WorkerError: nobody trains.
        """
        serve(self._estimator.config)
        raise SystemExit(0)

    def run_evaluator(self) -> Outcome:
        """Evaluates the checkpoints that the chief writes, until training is over.

        Returns:
          The metrics of the last evaluation, and the results of its exporters.
        """
        spec = check_eval_spec(self._eval_spec)
        evaluator = self._evaluator(spec)
        job_end = JobEnd(
            evaluator.model_dir, self._estimator.config, self._train_spec.max_steps, self._clock()
        )
        return evaluate_until_final(
            evaluator, spec, self._listener, self._sleep, self._clock, job_end
        )

    def _train_with_evaluations(
        self, listener: ContinuousEvalListener, train: Callable[[tuple[Any, ...]], None]
    ) -> Outcome:
        spec = check_eval_spec(self._eval_spec)
        progress = Progress(self._estimator.model_dir)
        if progress.was_unfinished:
            self._remove_abandoned_exports(spec)
        evaluator = self._evaluator(spec, progress)
        evaluating = EvaluateAfterSaving(
            evaluator, spec.throttle_secs, listener, self._clock, progress
        )
        train((*self._train_spec.saving_listeners, evaluating))
        result, exports = evaluating.eval_result, evaluating.export_results
        if progress.was_unfinished and not evaluating.has_begun:
            latest = self._estimator.latest_checkpoint()
            if latest and step_of(latest) != progress.evaluated_step and listener.before_eval():
                _logging.warning(
                    "Training had ended before, and its last evaluation or export was cut short: "
                    "they are done now."
                )
                result, exports = evaluator.evaluate_and_export()
        progress.finish()
        return (result.metrics if result else None), exports

    def _train_before_evaluator(self, saving_listeners: tuple[Any, ...]) -> None:
        """Trains in a cluster whose evaluator, if there is one, has to learn of the end."""
        if not self._estimator.config.is_chief:
            self._train_in_cluster(saving_listeners)
            return
        remove_end_note(self._estimator.model_dir)
        self._train_in_cluster(saving_listeners)
        note_early_end(
            self._estimator.model_dir,
            self._estimator.latest_checkpoint(),
            self._train_spec.max_steps,
        )

    def _train_in_cluster(self, saving_listeners: tuple[Any, ...]) -> None:
        """Trains; on parameter servers, starts this process's own server before, and waits."""
        config = self._estimator.config
        if not has_servers(config):
            self._train(saving_listeners)
            return
        start_server(config)
        job_goes_on(config)
        if config.task_type == TaskType.WORKER:
            longest = config.experimental_max_worker_delay_secs
            longest = _MAX_DELAY_SECS if longest is None else int(longest)
            delay_secs = min(longest, (config.task_id + 1) * _DELAY_SECS_PER_WORKER)
            if delay_secs > 0:
                _logging.info("Waiting %d secs before starting training.", delay_secs)
                self._sleep(delay_secs)
        self._train(saving_listeners)
        announce_end_at_exit(config)

    def _remove_abandoned_exports(self, spec: EvalSpec) -> None:
        for exporter in spec.exporters:
            remove_abandoned(
                os.path.join(
                    tf.compat.as_str_any(self._estimator.model_dir), "export", exporter.name
                )
            )

    def _train(self, saving_listeners: tuple[Any, ...]) -> None:
        self._estimator.train(
            input_fn=self._train_spec.input_fn,
            max_steps=self._train_spec.max_steps,
            hooks=[*self._train_spec.hooks, *self._train_hooks],
            saving_listeners=saving_listeners,
        )

    def _evaluator(self, spec: EvalSpec, progress: Progress | None = None) -> Evaluator:
        return Evaluator(self._estimator, spec, self._train_spec.max_steps, self._clock, progress)


def _sleep(seconds: float) -> None:
    time.sleep(seconds)  # looked up when it is called, as a test may have replaced it
