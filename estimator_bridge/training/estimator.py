"""The Estimator."""

from __future__ import annotations

import contextlib
import copy
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.duplicate_log_lines import drop_duplicate_lines
from estimator_bridge.base.gc_tuning import gc_frozen_at_startup
from estimator_bridge.checkpoint import (
    check_still_writable,
    check_writable,
    complete_files,
    explained_full_disk,
    explained_full_disk_of,
    finish_deletion,
    finish_publishing,
    only_training,
    remove_leftovers,
    step_of,
    wait_for_abandoned,
    watched_folder,
)
from estimator_bridge.compile_for import CompileJob, NotComputed, current_job, end_program
from estimator_bridge.data.input_errors import explained_input_errors
from estimator_bridge.errors import DiskError
from estimator_bridge.model import (
    ModeKeys,
    RunConfig,
    call_repr,
    parse_warm_start,
)
from estimator_bridge.runtime import connect_workers, default_strategy, workers_of
from estimator_bridge.tensorflow_private.timers import use_steady_timers
from estimator_bridge.tf_contrib.package import is_of_library
from estimator_bridge.training.arguments import (
    check_hooks,
    check_listeners,
    check_steps,
    check_trains,
)
from estimator_bridge.training.compile_program import compile_program
from estimator_bridge.training.configuration import config_with_folder
from estimator_bridge.training.distribution import DistributedExecution, strategy_for
from estimator_bridge.training.evaluate import evaluate_program
from estimator_bridge.training.execution import Execution
from estimator_bridge.training.export_methods import ExportMethods
from estimator_bridge.training.model_call import call_model_fn, check_model_fn
from estimator_bridge.training.monitoring import (
    shown_stage,
    with_monitor,
    write_report,
    writes_report,
)
from estimator_bridge.training.monitoring.samples import with_samples
from estimator_bridge.training.notebook_errors import shorten_notebook_errors
from estimator_bridge.training.original_methods import OriginalMethods
from estimator_bridge.training.overridden_members import check_members, check_uncalled
from estimator_bridge.training.parameter_servers import (
    ServerExecution,
    has_servers,
    is_server_strategy,
    train_on_servers,
)
from estimator_bridge.training.params import shown_params
from estimator_bridge.training.predict import predict_program
from estimator_bridge.training.program import Program
from estimator_bridge.training.program_cache import ProgramCache
from estimator_bridge.training.session_options import apply_session_config
from estimator_bridge.training.supervision.grace_period import grace_of
from estimator_bridge.training.supervision.termination import (
    Stage,
    ending_on_signals,
    interruptible,
)
from estimator_bridge.training.supervision.watchdog import watched
from estimator_bridge.training.trace_program import trace_program
from estimator_bridge.training.train import train_program
from estimator_bridge.training.worker_sync import check_cluster, wait_for_workers, with_workers

__all__ = ["Estimator"]

# Replaces a checkpoint's path: the variables get no values.
_NO_WARM_START = "no values"


class Estimator(ExportMethods, OriginalMethods):
    """Trains, evaluates, predicts with and exports the model that a model_fn describes.

    Args:
      model_fn: returns an EstimatorSpec; takes features and any of labels, mode, params, config.
      model_dir: the folder of checkpoints and event files, from which training continues. By
        default config's, else a new temporary folder.
      config: the RunConfig.
      params: passed to model_fn and input_fn, copied for each call.
      warm_start_from: a checkpoint, its folder, a SavedModel's folder, or WarmStartSettings, for
        variables' first values if model_dir has no checkpoint.

    Raises:
      ValueError: model_fn's arguments are wrong, config is not a RunConfig, or model_dir differs
        from config's.
    """

    _rate_tags: tuple[str, str | None] = ("global_step/sec", None)

    def __init__(
        self,
        model_fn: Callable[..., Any] | None,
        model_dir: str | os.PathLike[str] | None = None,
        config: RunConfig | None = None,
        params: Mapping[str, Any] | None = None,
        warm_start_from: Any = None,
    ):
        type(self)._assert_members_are_not_overridden(self)
        check_uncalled(self)
        drop_duplicate_lines()
        use_steady_timers()
        shorten_notebook_errors()
        apply_session_config(getattr(config, "session_config", None))
        self._config = config_with_folder(config, model_dir)
        self._model_dir: str = self._config.model_dir
        self._model_fn = check_model_fn(model_fn, params)
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = parse_warm_start(warm_start_from)
        self._programs = ProgramCache()

    def _assert_members_are_not_overridden(self) -> None:
        """Checks a subclass; one that may replace members replaces this."""
        check_members(Estimator, self)

    def __repr__(self) -> str:
        return call_repr(type(self).__name__, self._shown_values())

    def _shown_values(self) -> dict[str, Any]:
        """Returns the values of a repr, by the names of the constructor's arguments."""
        function = inspect.unwrap(getattr(self._model_fn, "func", self._model_fn))
        is_ours = is_of_library(getattr(function, "__module__", ""))
        values = {} if is_ours else {"model_fn": function}  # a canned estimator has an internal one
        values.update(model_dir=self._model_dir, config=self._config.replace(model_dir=None))
        if self._params:
            values["params"] = shown_params(self._params)
        return values

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints and event files."""
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the configuration."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the parameters."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., Any]:
        """The model_fn with params bound: takes features, labels, mode, config."""

        def with_bound_params(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return call_model_fn(self._model_fn, features, labels, mode, self.params, config)

        return with_bound_params

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> Estimator:
        """Trains, from the latest checkpoint in model_dir if there is one.

        Args:
          input_fn: returns a Dataset, or (features, labels).
          hooks: SessionRunHooks.
          steps: the number of further steps.
          max_steps: the global step to train to; nothing happens if it is reached.
          saving_listeners: CheckpointSaverListeners.

        Returns:
          This estimator.

        Raises:
          ValueError: both steps and max_steps, a wrong argument, or a process that is an
            evaluator or a parameter server.
          tf.compat.v1.train.NanLossDuringTrainingError: the loss became NaN.
          Interrupted: Ctrl-C; a script that does not catch it exits with code 130.
          SystemExit: SIGTERM, with code 143; in both cases after a checkpoint.
        """
        check_trains(self._config)
        self._check_steps("Train", steps=steps, max_steps=max_steps)
        hooks, listeners = with_monitor(check_hooks(hooks)), check_listeners(saving_listeners)
        if self._compiled_only(input_fn, ModeKeys.TRAIN):
            return self
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._loop("training_loop"))
            stack.enter_context(gc_frozen_at_startup())
            stack.enter_context(explained_input_errors())
            termination = stack.enter_context(ending_on_signals(self._model_dir, grace_of(hooks)))
            stack.enter_context(watched("Training", hooks, self._model_dir))
            execution = self._execution(ModeKeys.TRAIN)
            workers = stack.enter_context(with_workers(execution.strategy, termination))
            if workers.count > 1:  # they end together, at the end of a step
                termination.stage = Stage.STEPS
            writes = workers.is_chief and self._config.is_chief
            if writes:
                check_writable(self._model_dir)
                with explained_full_disk_of(f"The lock of {self._model_dir}", self._model_dir):
                    stack.enter_context(only_training(self._model_dir))
                stack.enter_context(explained_full_disk(self._model_dir))
                stack.enter_context(complete_files(self._model_dir))
                finish_publishing(self._model_dir)
            wait_for_abandoned(os.path.join(self._model_dir, ""))
            latest = self.latest_checkpoint()
            if writes:  # not before: an unreadable file may be part of a copy in progress
                finish_deletion(self._model_dir)
                remove_leftovers(self._model_dir)
            is_compared = workers.count > 1 or max_steps is not None
            step = step_of(latest) if latest and is_compared else None
            step = wait_for_workers(workers, step, self._config)
            if max_steps is not None and step is not None and step >= max_steps:
                if workers.count > 1 or not self._was_cut_short(latest):
                    logging.info("Skipping training since max_steps has already saved.")
                    return self
                logging.warning("The last save, %s, was cut short: it is finished now.", latest)
            if has_servers(self._config):
                train_on_servers(
                    execution, self._model_fn, input_fn, self.params, self._model_dir, hooks,
                    listeners, steps, max_steps, None if latest else self._warm_start,
                    self.latest_checkpoint, self._fallback_checkpoint(), termination,
                )  # fmt: skip
                return self
            stack.enter_context(shown_stage(hooks, self._config, "Tracing the model"))
            program = self._trace(execution, input_fn, ModeKeys.TRAIN, latest)
            try:
                train_program(
                    program, self._model_dir, hooks, listeners, steps, max_steps, latest,
                    self._rate_tags, termination, self._fallback_checkpoint(),
                )  # fmt: skip
            finally:
                program.close()
        return self

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates a checkpoint on every example of the input.

        Args:
          input_fn: returns a Dataset, or (features, labels).
          steps: the number of batches; None for all.
          hooks: SessionRunHooks.
          checkpoint_path: by default the latest; without any, the initial values.
          name: the name of the evaluation; its event files go to 'eval_NAME'.

        Returns:
          The metrics, 'loss' (its mean over the batches) and 'global_step', as numpy values.

        Raises:
          ValueError: steps is not positive, or there is no such checkpoint.
          ModelDirLostError: model_dir was removed, renamed or replaced during the evaluation. The
            results are in the log.
        """
        self._check_steps("Eval", steps=steps)
        hooks = check_hooks(hooks)
        job = self._compiled_only(input_fn, ModeKeys.EVAL, steps)
        if job:
            return NotComputed(job)
        with (
            interruptible("Evaluation"),
            watched("Evaluation", hooks, self._model_dir),
            shown_stage(hooks, self._config, "Evaluating"),
            self._loop("evaluation_loop"),
            explained_input_errors(),
        ):
            execution = self._execution(ModeKeys.EVAL)
            with contextlib.suppress(DiskError):  # the results are returned regardless
                check_still_writable(self._model_dir)
            with watched_folder(self._model_dir, "evaluation") as folder:
                path = self._checkpoint_for(checkpoint_path, "evaluate")
                with self._program(
                    execution, input_fn, ModeKeys.EVAL, path, bool(hooks)
                ) as program:
                    fallback_checkpoint = None if checkpoint_path else self._fallback_checkpoint()
                    folder_of_results = self.eval_dir(name) if self._writes_results else None
                    results = evaluate_program(
                        program, folder_of_results, hooks, steps, path, fallback_checkpoint
                    )
                if writes_report(hooks, self._config):
                    folder.check()
                    try:
                        write_report(self._model_dir)
                    except DiskError as error:  # the results are returned regardless
                        logging.warning("%s", error)
            return results

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Sequence[str] | str | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields predictions on demand.

        Args:
          input_fn: returns a Dataset, or features; labels are ignored.
          predict_keys: the keys of the predictions to yield; by default all.
          hooks: SessionRunHooks.
          checkpoint_path: by default the latest; without any, the initial values.
          yield_single_examples: whether to yield one dict per example, or one per batch.

        Yields:
          Predictions as numpy values: a dict by key, or the model's single output.

        Raises:
          ValueError: there is no such checkpoint, predict_keys match nothing, or predictions differ
            in length.
        """
        yield from self._open_predictions(
            input_fn, predict_keys, hooks, checkpoint_path, yield_single_examples, is_built=False
        )

    def _open_predictions(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Sequence[str] | str | None,
        hooks: Sequence[Any] | None,
        checkpoint_path: str | None,
        yield_single_examples: bool,
        is_built: bool,
    ) -> Iterator[Any]:
        """Yields predictions; with is_built, first None, when the model is built."""
        hooks = check_hooks(hooks)
        job = self._compiled_only(input_fn, ModeKeys.PREDICT)
        if job:
            end_program(job, "prediction")
        with contextlib.ExitStack() as stack:
            beat = stack.enter_context(watched("Prediction", hooks, self._model_dir))
            with interruptible("Prediction"):
                execution = self._execution(ModeKeys.PREDICT)
            path = self._checkpoint_for(checkpoint_path, "predict")
            stack.enter_context(self._loop("prediction_loop"))
            stack.enter_context(explained_input_errors())
            program = stack.enter_context(
                self._program(execution, input_fn, ModeKeys.PREDICT, path, bool(hooks))
            )
            if is_built:
                with beat.paused():
                    yield None
            fallback_checkpoint = None if checkpoint_path else self._fallback_checkpoint()
            predictions = predict_program(
                program, hooks, predict_keys, path, yield_single_examples, beat, fallback_checkpoint
            )
            if yield_single_examples and writes_report(hooks, self._config):
                predictions = with_samples(predictions, self._model_dir)
            yield from predictions

    def eval_dir(self, name: str | None = None) -> str:
        """Returns the folder of an evaluation's event files."""
        return os.path.join(self._model_dir, "eval" if not name else f"eval_{name}")

    def _loop(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Returns a context that is open while a call trains, evaluates or predicts."""
        del name
        return contextlib.nullcontext()

    @property
    def _writes_results(self) -> bool:
        """Whether this process writes the results of its evaluations."""
        return True

    def _check_steps(self, purpose: str, **counts: int | None) -> None:
        del purpose
        check_steps(**counts)

    def _execution(self, mode: str) -> Execution:
        strategy = strategy_for(self._config, mode)
        if mode == ModeKeys.TRAIN:
            check_cluster(self._config, strategy)
        if strategy is not None and workers_of(strategy).count > 1:
            strategy = self._connect(strategy, mode)
        if strategy is not None:
            return DistributedExecution(strategy, self._config)
        if mode == ModeKeys.TRAIN and is_server_strategy(self._config.train_distribute):
            return ServerExecution(default_strategy(), self._config)
        return Execution(default_strategy(), self._config)

    def _connect(self, strategy: tf.distribute.Strategy, mode: str) -> tf.distribute.Strategy:
        """Returns a strategy of several workers, connected to them."""
        config = self._config
        if mode != ModeKeys.TRAIN:
            raise NotImplementedError(
                "RunConfig's eval_distribute joins several workers, and an evaluation runs on one "
                "machine. Leave eval_distribute out, or give it a MirroredStrategy()."
            )
        timeout = config.session_creation_timeout_secs
        return connect_workers(strategy, timeout, config.protocol)

    def _export_execution(self) -> Execution:
        """Returns the layout of an exported model: batches of any size on one replica."""
        return Execution(default_strategy(), self._config)

    def _trace(
        self, execution: Execution, input_fn: Callable[..., Any], mode: str, checkpoint: str | None
    ) -> Program:
        return trace_program(
            execution,
            self._model_fn,
            input_fn,
            mode,
            self.params,
            after_model=None if checkpoint else self._warm_start,
        )

    def _compiled_only(
        self, input_fn: Callable[..., Any], mode: str, steps: int | None = None
    ) -> CompileJob | None:
        """Compiles a mode's steps for a TPU if none is to run; see `--compile-only`.

        Returns:
          The job; None if the program runs.
        """
        job = current_job()
        if job is None or not job.request.only:
            return None

        def trace(estimator: Estimator) -> Program:
            return estimator._trace(estimator._execution(mode), input_fn, mode, _NO_WARM_START)

        program = trace(self)
        try:
            compile_program(job, program, steps, lambda size: trace(self._with_batch(mode, size)))
        finally:
            program.close()
        return job

    def _with_batch(self, mode: str, size: int) -> Estimator:
        """Returns the same estimator with another global batch; only a TPUEstimator has one."""
        raise AssertionError(f"{type(self).__name__} has no batch of {size} in {mode}.")

    def _program(
        self,
        execution: Execution,
        input_fn: Callable[..., Any],
        mode: str,
        path: str | None,
        has_hooks: bool,
    ) -> contextlib.AbstractContextManager[Program]:
        """Returns a program to evaluate or predict: the last one, for the same input structure."""

        def trace() -> Program:
            with interruptible("Prediction"):  # of an evaluation, all is
                return self._trace(execution, input_fn, mode, path)

        may_keep = bool(path) and not has_hooks
        return self._programs.use(mode, trace, input_fn, self.params, may_keep)
