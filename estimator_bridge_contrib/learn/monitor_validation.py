"""The monitors that evaluate and export an estimator during its training."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from typing import Any

from estimator_bridge.checkpoint.any_checkpoints import newest_listed
from estimator_bridge.tensorflow_private.names import tf_logging
from estimator_bridge.training import Estimator
from estimator_bridge_contrib.learn.monitor_bases import EveryN

__all__ = ["ExportMonitor", "ValidationMonitor"]


class ValidationMonitor(EveryN):
    """Evaluates new checkpoints during training, and stops it if a metric does not improve.

    Args:
      x: see `Estimator.evaluate` of tf.contrib.learn.
      y: as well.
      input_fn: as well; only this is allowed with an estimator of tf.estimator.
      batch_size: as well.
      eval_steps: the number of batches to evaluate; None for all.
      every_n_steps: see `EveryN`.
      metrics: see `Estimator.evaluate` of tf.contrib.learn.
      hooks: hooks of the evaluation.
      early_stopping_rounds: the number of steps without a better value after which training stops;
        by default it does not.
      early_stopping_metric: the name of the metric.
      early_stopping_metric_minimize: whether smaller values are better.
      name: the evaluation's name, for the folder of its events.
      check_interval_secs: the shortest time between two looks for a new checkpoint, or None.

    Raises:
      ValueError: neither x nor input_fn is given.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Mapping[str, Any] | None = None,
        hooks: Any = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ):
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._shared = {"input_fn": input_fn, "steps": eval_steps, "hooks": hooks, "name": name}
        self._of_learn = {"x": x, "y": y, "batch_size": batch_size, "metrics": metrics}
        self._rounds = early_stopping_rounds
        self._metric = early_stopping_metric, early_stopping_metric_minimize
        self._interval = check_interval_secs
        self._early_stopped = False
        self._best: tuple[int, Any, Mapping[str, Any]] | None = None
        self._checked_time: float | None = None
        self._path: str | None = None

    @property
    def early_stopped(self) -> bool:
        """True if the monitor stopped the training."""
        return self._early_stopped

    @property
    def best_step(self) -> int | None:
        """The step of the metric's best value."""
        return self._best and self._best[0]

    @property
    def best_value(self) -> Any:
        """The metric's best value."""
        return self._best and self._best[1]

    @property
    def best_metrics(self) -> Mapping[str, Any] | None:
        """All metrics of the evaluation with that value."""
        return self._best and self._best[2]

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        """Evaluates the latest checkpoint if it is new, and returns whether to stop.

        Raises:
          ValueError: the evaluation has no metric of the given name, or the estimator is not set.
        """
        super().every_n_step_end(step, outputs)
        if self._estimator is None:
            raise ValueError(
                "Missing call to set_estimator. Pass the monitor to fit(monitors=[...])."
            )
        if not self._has_new_checkpoint():
            return False
        metrics = self._evaluate()
        text = ", ".join(f"{name} = {value}" for name, value in metrics.items())
        tf_logging.info("Validation (step %d): %s", step, text)
        return self._rounds is not None and self._is_stop(step, metrics, self._rounds)

    def _has_new_checkpoint(self) -> bool:
        now, before = time.monotonic(), self._checked_time
        if self._interval is not None and before is not None and now - before <= self._interval:
            return False
        self._checked_time = now
        path = newest_listed(self._estimator.model_dir)
        if path is None or path == self._path:
            return False
        self._path = path
        return True

    def _evaluate(self) -> Mapping[str, Any]:
        if not isinstance(self._estimator, Estimator):
            return self._estimator.evaluate(**self._of_learn, **self._shared)
        names = [name for name, value in self._of_learn.items() if value is not None]
        if names:
            raise ValueError(
                "tf.estimator.Estimator does not support following arguments: x, y, batch_size, "
                f"metrics. Leave {', '.join(names)} out of ValidationMonitor; give an input_fn, "
                "and metrics in model_fn."
            )
        return self._estimator.evaluate(**self._shared)

    def _is_stop(self, step: int, metrics: Mapping[str, Any], rounds: int) -> bool:
        name, is_minimized = self._metric
        if name not in metrics:
            raise ValueError(
                f"Metric {name} missing from outputs {set(metrics)}. Name one of them in "
                "early_stopping_metric."
            )
        value = metrics[name]
        if self._best is None or (value < self._best[1] if is_minimized else value > self._best[1]):
            self._best = step, value, copy.deepcopy(metrics)
        if step - self._best[0] < rounds:
            return False
        tf_logging.info(f"Stopping. Best step: {self._best[0]} with {name} = {self._best[1]}.")
        self._early_stopped = True
        return True


class ExportMonitor(EveryN):
    """Refuses: it wrote the files of SessionBundle, which TensorFlow 1.5 replaced.

    Raises:
      NotImplementedError: always; it says what to use.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            "ExportMonitor wrote a SessionBundle, which no TensorFlow 2 reads. Pass "
            "export_strategies=[tf.contrib.learn.make_export_strategy(serving_input_fn)] to "
            "Experiment, or call export_savedmodel after fit()."
        )
