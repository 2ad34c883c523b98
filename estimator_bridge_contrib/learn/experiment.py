"""Experiment: an estimator with the inputs of its training and evaluation."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import tensorflow as tf

from estimator_bridge.checkpoint.any_checkpoints import newest_listed
from estimator_bridge.tensorflow_private.names import tf_logging
from estimator_bridge.training import Estimator
from estimator_bridge_contrib.learn.experiment_parts import (
    Calls,
    CheckpointListener,
    Times,
    as_strategies,
    check_estimator,
    checked_predicate,
    wait,
)
from estimator_bridge_contrib.learn.experiment_servers import (
    begin_training,
    end_training,
    serve_until_end,
)
from estimator_bridge_contrib.learn.exports import ExportStrategy
from estimator_bridge_contrib.learn.monitor_hooks import replace_monitors_with_hooks
from estimator_bridge_contrib.learn.monitor_validation import ValidationMonitor

__all__ = ["Experiment"]

_v1 = tf.compat.v1
_WARNING_SECS = 600  # between two warnings that there is no checkpoint to evaluate
_Predicate = Callable[..., bool]


class Experiment:
    """Trains, evaluates and exports an estimator.

    Args:
      estimator: an estimator of tf.estimator or tf.contrib.learn.
      train_input_fn: the input of training.
      eval_input_fn: the input of evaluation.
      eval_metrics: further metrics; None with an estimator of tf.estimator.
      train_steps: the global step to train to; None for no end.
      eval_steps: the number of batches to evaluate; None for all.
      train_monitors: monitors or hooks of training.
      eval_hooks: hooks of evaluation.
      local_eval_frequency: the min_eval_frequency of `local_run`.
      eval_delay_secs: the seconds that `evaluate` and `continuous_eval` wait first.
      continuous_eval_throttle_secs: the shortest time between two starts of `continuous_eval`.
      min_eval_frequency: the number of steps between two evaluations in `train_and_evaluate`, which
        evaluates new checkpoints only; 0 for an evaluation at the end only.
      delay_workers_by_global_step: whether a worker starts at a global step, not after a time.
      export_strategies: an `ExportStrategy`, or several.
      train_steps_per_iteration: the steps of a turn of `continuous_train_and_eval`.
      checkpoint_and_export: whether `train_and_evaluate` evaluates and exports each checkpoint.
      saving_listeners: CheckpointSaverListeners, with an estimator of tf.estimator.
      check_interval_secs: the shortest time between two looks for a new checkpoint.

    Raises:
      ValueError: the estimator is not one, or an argument does not fit it.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Callable[..., Any],
        eval_input_fn: Callable[..., Any],
        eval_metrics: Mapping[str, Any] | None = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Sequence[Any] | None = None,
        eval_hooks: Sequence[Any] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: ExportStrategy | Iterable[ExportStrategy] | None = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[Any] | None = None,
        check_interval_secs: float = 5,
    ):
        check_estimator(estimator, eval_metrics, saving_listeners)
        if not isinstance(train_steps_per_iteration, (int, type(None))):
            raise ValueError(
                "`train_steps_per_iteration` must be an integer. Got "
                f"{train_steps_per_iteration!r}."
            )
        self._estimator = estimator
        self._train_monitors = list(train_monitors or [])
        self._export_strategies = as_strategies(export_strategies)
        self._calls = Calls(
            train_input_fn,
            eval_input_fn,
            eval_metrics,
            train_steps,
            eval_steps,
            list(eval_hooks or []),
            saving_listeners,
        )
        iteration = 1000 if train_steps is None else int(train_steps / 10)
        if train_steps_per_iteration is not None:
            iteration = train_steps_per_iteration
        self._times = Times(
            local_eval_frequency,
            eval_delay_secs,
            continuous_eval_throttle_secs,
            1 if min_eval_frequency is None else min_eval_frequency,
            delay_workers_by_global_step,
            iteration,
            checkpoint_and_export,
            check_interval_secs,
        )

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self._estimator

    @property
    def eval_metrics(self) -> Mapping[str, Any] | None:
        """The further metrics."""
        return self._calls.eval_metrics

    @property
    def train_steps(self) -> int | None:
        """The global step to train to."""
        return self._calls.train_steps

    @property
    def eval_steps(self) -> int | None:
        """The number of batches to evaluate."""
        return self._calls.eval_steps

    def extend_train_hooks(self, additional_hooks: Iterable[Any]) -> None:
        """Adds hooks of training."""
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(
        self, new_export_strategies: ExportStrategy | Iterable[ExportStrategy] | None = None
    ) -> tuple[ExportStrategy, ...]:
        """Replaces the strategies, and returns the old ones."""
        old = self._export_strategies
        self._export_strategies = as_strategies(new_export_strategies)
        return old

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains to train_steps; in a cluster, on the parameter servers of TF_CONFIG.

        Args:
          delay_secs: the seconds to wait first; by default 5 for each worker before this one, at
            most 60.

        Returns:
          The estimator.

        Raises:
          ValueError: there is a cluster, and the estimator's config is none of tf.contrib.learn.
        """
        return self._train_in_cluster(delay_secs)

    def _train_in_cluster(self, delay_secs: float | None, further_hooks: Sequence[Any] = ()) -> Any:
        """Trains; starts this process's own server before, and waits."""
        config, hooks = self._estimator.config, list(further_hooks)
        begin_training(config)
        if delay_secs is None:
            task = config.task_id or 0
            delay_secs = min(60, task * 5)
            if self._times.is_delayed_by_step:
                delay_secs = 0
                hooks.append(_v1.train.GlobalStepWaiterHook(int(8000.0 * math.log(task + 1))))
        wait(delay_secs, "starting training")
        trained = self._train(max_steps=self._calls.train_steps, further_hooks=hooks)
        end_training(config)
        return trained

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates the latest checkpoint.

        Args:
          delay_secs: the seconds to wait first; by default eval_delay_secs.
          name: the evaluation's name.

        Returns:
          The metrics.
        """
        delay = self._times.eval_delay_secs if delay_secs is None else delay_secs
        wait(delay, "starting eval")
        return self._evaluate(self._calls.eval_steps, name or "one_pass")

    def local_run(self) -> Any:
        """Runs `train_and_evaluate` with local_eval_frequency."""
        return self._train_and_evaluate(self._times.local_eval_frequency)

    def train_and_evaluate(self) -> Any:
        """Trains, evaluates new checkpoints meanwhile, and exports at the end.

        Returns:
          The last metrics, and a list of the exports' folders.
        """
        return self._train_and_evaluate(self._times.min_eval_frequency)

    def _train_and_evaluate(self, frequency: int | None) -> Any:
        config = self._estimator.config
        if self._times.is_checkpoint_exported and (
            config.save_checkpoints_secs or config.save_checkpoints_steps
        ):
            return self._train_and_export_checkpoints(config)
        hooks = []
        if frequency:
            hooks = [
                ValidationMonitor(
                    input_fn=self._calls.eval_input_fn,
                    eval_steps=self._calls.eval_steps,
                    metrics=self._calls.eval_metrics,
                    every_n_steps=frequency,
                    check_interval_secs=self._times.check_interval_secs,
                    hooks=self._calls.eval_hooks,
                )
            ]
        self._train_in_cluster(0, hooks)
        metrics = self._evaluate(self._calls.eval_steps, None)
        return metrics, self._export(metrics)

    def _train_and_export_checkpoints(self, config: Any) -> Any:
        def evaluate(path: str) -> tuple[Any, list[Any]]:
            metrics = self._evaluate(self._calls.eval_steps, "intermediate_export", path)
            return metrics, self._export(metrics, path)

        listener = CheckpointListener(evaluate, self._estimator.model_dir)
        saver = _v1.train.CheckpointSaverHook(
            self._estimator.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            listeners=[listener],
        )
        self._train_in_cluster(0, [saver])
        return listener.results

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: _Predicate | None = None,
        name: str = "continuous",
    ) -> None:
        """Evaluates and exports new checkpoints until the training is over.

        Args:
          delay_secs: the seconds to wait first; by default eval_delay_secs.
          throttle_delay_secs: the shortest time between two starts; by default
            continuous_eval_throttle_secs.
          evaluate_checkpoint_only_once: whether a checkpoint is evaluated only once.
          continuous_eval_predicate_fn: a function of the last metrics, and optionally of
            checkpoint_path, which returns whether to go on. The metrics are None at first.
          name: the evaluation's name.
        """
        self._evaluate_continuously(
            self._calls,
            self._times_with(delay_secs, throttle_delay_secs),
            evaluate_checkpoint_only_once,
            continuous_eval_predicate_fn,
            name,
            self._export,
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: _Predicate | None = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        """Evaluates new checkpoints on the input of training; see `continuous_eval`."""
        self._evaluate_continuously(
            replace(self._calls, eval_input_fn=self._calls.train_input_fn),
            self._times_with(delay_secs, throttle_delay_secs),
            True,
            continuous_eval_predicate_fn,
            name,
            lambda metrics, path: [],
        )

    def _times_with(self, delay: float | None, throttle: float | None) -> Times:
        return replace(
            self._times,
            eval_delay_secs=_value_or_default(delay, self._times.eval_delay_secs),
            throttle_secs=_value_or_default(throttle, self._times.throttle_secs),
        )

    def _evaluate_continuously(
        self,
        calls: Calls,
        times: Times,
        is_once: bool,
        predicate: _Predicate | None,
        name: str,
        export: Callable[[Any, str], list[Any]],
    ) -> None:
        is_wanted = checked_predicate(predicate)
        wait(times.eval_delay_secs, "starting eval")
        metrics: Any = None
        evaluated: str | None = None
        warned = -math.inf
        while is_wanted(metrics, evaluated):
            if self._is_trained(metrics):
                return
            start = time.monotonic()
            path = newest_listed(self._estimator.model_dir)
            if not path or (is_once and path == evaluated):
                metrics = {}
                if start - warned > _WARNING_SECS:
                    tf_logging.warning(
                        "No new checkpoint ready for evaluation in %s.", self._estimator.model_dir
                    )
                    warned = start
            else:
                metrics = self._evaluate(calls.eval_steps, name, path, calls.eval_input_fn) or {}
                export(metrics, path)
                evaluated, warned = path, -math.inf
            wait(times.throttle_secs - (time.monotonic() - start), "starting next eval run")

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: _Predicate | None = None
    ) -> Any:
        """Trains and evaluates in turns.

        Args:
          continuous_eval_predicate_fn: see `continuous_eval`.

        Returns:
          The last metrics, and a list of the exports' folders.
        """
        is_wanted = checked_predicate(continuous_eval_predicate_fn)
        metrics: Any = None
        exported: Any = None
        path: str | None = None
        while is_wanted(metrics, path) and not self._is_trained(metrics):
            self._train(steps=self._times.steps_per_iteration)
            path = newest_listed(self._estimator.model_dir)
            metrics = self._evaluate(self._calls.eval_steps, "one_pass", path)
            exported = self._export(metrics)
        return metrics, exported

    def test(self) -> Any:
        """Trains one step, evaluates one batch, and exports; returns the metrics."""
        self._train(steps=1)
        metrics = self._evaluate(1, "one_pass")
        self._export(metrics)
        return metrics

    def run_std_server(self) -> NoReturn:
        """Serves variables until the job has ended, and then ends this process.

        The original served until it was killed: no program expects its process to go on.

        Raises:
          ValueError: the estimator's config lacks what a server needs.
          NotImplementedError: the process is no parameter server.
          SystemExit: the job has ended, with code 0.
          WorkerError: nobody trains, or another process holds the port.
        """
        serve_until_end(self._estimator.config)

    def _is_trained(self, metrics: Mapping[str, Any] | None) -> bool:
        step = (metrics or {}).get("global_step")
        return bool(step and self._calls.train_steps and step >= self._calls.train_steps)

    def _train(
        self,
        steps: int | None = None,
        max_steps: int | None = None,
        further_hooks: Sequence[Any] = (),
    ) -> Any:
        hooks = replace_monitors_with_hooks(
            [*self._train_monitors, *further_hooks], self._estimator
        )
        input_fn = self._calls.train_input_fn
        if not isinstance(self._estimator, Estimator):
            return self._estimator.fit(
                input_fn=input_fn, steps=steps, max_steps=max_steps, monitors=hooks
            )
        listeners = self._calls.saving_listeners
        return self._estimator.train(
            input_fn=input_fn,
            hooks=hooks,
            steps=steps,
            max_steps=max_steps,
            saving_listeners=listeners,
        )

    def _evaluate(
        self,
        steps: int | None,
        name: str | None,
        checkpoint_path: str | None = None,
        input_fn: Callable[..., Any] | None = None,
    ) -> Any:
        shared: dict[str, Any] = {
            "input_fn": input_fn or self._calls.eval_input_fn,
            "steps": steps,
            "name": name,
            "checkpoint_path": checkpoint_path,
            "hooks": self._calls.eval_hooks,
        }
        if isinstance(self._estimator, Estimator):
            return self._estimator.evaluate(**shared)
        return self._estimator.evaluate(metrics=self._calls.eval_metrics, **shared)

    def _export(self, metrics: Any, checkpoint_path: str | None = None) -> list[Any]:
        folder = os.path.join(os.fsdecode(self._estimator.model_dir), "export")
        return [
            each.export(self._estimator, os.path.join(folder, each.name), checkpoint_path, metrics)
            for each in self._export_strategies
        ]


def _value_or_default(value: float | None, default: float) -> float:
    return default if value is None else value
