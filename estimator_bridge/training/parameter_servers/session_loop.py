"""Training in a session on a cluster, step by step, as the original did it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.gc_tuning import unfreeze_gc
from estimator_bridge.data.inputs import GraphInput
from estimator_bridge.graph import session_graph
from estimator_bridge.graph.table_files import check_table_files
from estimator_bridge.model import ModeKeys, RunConfig
from estimator_bridge.training.async_saver import wants_async
from estimator_bridge.training.execution import Execution, TracedModel
from estimator_bridge.training.input_plan import InputPlan
from estimator_bridge.training.input_position import CheckpointInputPipelineHook
from estimator_bridge.training.own_hooks import FirstBatchesHook, ObservingHook
from estimator_bridge.training.parameter_servers.placement import device_function
from estimator_bridge.training.parameter_servers.saver import ServerSaverHook
from estimator_bridge.training.parameter_servers.session_creators import (
    ChiefCreator,
    WorkerCreator,
)
from estimator_bridge.training.saver_hooks import chief_hooks
from estimator_bridge.training.saver_listener import release_savers, watch_savers
from estimator_bridge.training.supervision.termination import Stage, Termination
from estimator_bridge.training.supervision.watchdog import note_progress
from estimator_bridge.training.trace_program import trace_model

__all__ = ["train_on_servers"]

_v1 = tf.compat.v1
# How long threads of queues may take to stop. The original waited 120 s, and always so long for
# SyncReplicasOptimizer's, which ends when the session is closed.
_STOP_SECS = 5
_SessionRunHook: Any = _v1.train.SessionRunHook


def train_on_servers(
    execution: Execution,
    model_fn: Callable[..., Any],
    input_fn: Callable[..., Any],
    params: Mapping[str, Any],
    model_dir: str,
    hooks: Sequence[Any],
    saving_listeners: Sequence[Any],
    steps: int | None,
    max_steps: int | None,
    warm_start: Callable[[], None] | None,
    latest_checkpoint: Callable[[], str | None],
    fallback_checkpoint: Callable[[str], str | None],
    termination: Termination,
) -> None:
    """Runs training steps until enough are done, a hook stops it, or the input ends.

    Args:
      execution: the layout of the model.
      model_fn: a checked model_fn.
      input_fn: the user's input_fn.
      params: a copy for this call.
      model_dir: the folder of checkpoints and summaries.
      hooks: the caller's hooks.
      saving_listeners: the listeners of the chief's saver.
      steps: the number of further steps of all processes; None for no such bound.
      max_steps: the global step at which to end; None for no such bound.
      warm_start: called in the graph after model_fn; None if there is a checkpoint.
      latest_checkpoint: returns the checkpoint to restore, or None.
      fallback_checkpoint: see ``initialize_session``.
      termination: checked after each step.

    Raises:
      WorkerError: a server, or the chief, does not come in time.
      NotImplementedError: a hook saves the input's position.
    """
    config = execution.config
    _check_hooks(hooks)
    with (
        session_graph(config.tf_random_seed) as graph,
        execution.scope(ModeKeys.TRAIN),
        _v1.device(device_function(config)),
    ):
        plan, _, traced = trace_model(
            execution, model_fn, input_fn, graph, ModeKeys.TRAIN, params, warm_start
        )
        spec, scaffold = traced.spec, traced.scaffold
        inputs = _opened_inputs(plan)
        all_hooks = [
            *_hooks_of_chief(config, traced, model_dir, hooks, saving_listeners),
            *inputs,
            *hooks,
            *_stop_hooks(steps, max_steps),
            _v1.train.NanTensorHook(spec.loss),
            *_loss_hooks(config, spec.loss),
            *spec.training_hooks,
        ]
        watcher = _StepWatcher(termination, spec.loss, max_steps, plan.examples, all_hooks)
        watch_savers(all_hooks)
        creator: Any = WorkerCreator(scaffold, config)
        if config.is_chief:
            creator = ChiefCreator(scaffold, config, latest_checkpoint, fallback_checkpoint)
        fetches = [spec.train_op, spec.loss, *_beside(traced, spec.train_op)]
        loss = None
        hooks_in_order = [*all_hooks, watcher]
        check_table_files(graph.as_graph_def().node, {})
        with _v1.train.MonitoredSession(creator, hooks_in_order, _STOP_SECS) as session:
            while not session.should_stop():
                loss = session.run(fetches)[1]
            termination.stage = Stage.LAST_CHECKPOINT
        release_savers(all_hooks)
    if loss is None:
        logging.warning(
            "Training with estimator made no steps. Perhaps input is empty or misspecified."
        )
    logging.info("Loss for final step: %s.", loss)


class _StepWatcher(_SessionRunHook):
    """Does what this library adds around steps; the last of the hooks.

    Args:
      termination: whether this process was asked to end.
      loss: the loss, for hooks that observe.
      max_steps: the global step at which training ends; None if unknown.
      examples: the size of a batch of this process; None if unknown.
      hooks: all other hooks.
    """

    def __init__(
        self,
        termination: Termination,
        loss: tf.Tensor,
        max_steps: int | None,
        examples: int | None,
        hooks: Sequence[Any],
    ):
        self._termination = termination
        self._max_steps, self._examples = max_steps, examples
        self._observers = [hook for hook in hooks if isinstance(hook, ObservingHook)]
        self._first = [hook for hook in hooks if isinstance(hook, FirstBatchesHook)]
        self._savers = [hook for hook in hooks if isinstance(hook, ServerSaverHook)]
        step = _v1.train.get_global_step()
        self._fetches = _v1.train.SessionRunArgs([step, loss]) if self._observers else None

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when the variables have values, also after a server was lost."""
        del coord
        for hook in self._first:
            hook.use_input(session.run)
        self._termination.stage = Stage.STEPS
        self._termination.slowest_save = lambda: max(
            (saver.slowest_secs for saver in self._savers), default=0.0
        )

    def before_run(self, run_context: Any) -> Any:
        """Requests the step and the loss, if a hook observes them."""
        del run_context
        return self._fetches

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Notes the step, and ends training if the process was asked to end."""
        note_progress()
        unfreeze_gc()
        if self._fetches is not None:
            step, loss = run_values.results
            for observer in self._observers:
                observer.observe(int(step), self._max_steps, float(loss), self._examples)
        if self._termination.requested:
            run_context.request_stop()


class _OpensIterator(_SessionRunHook):
    """Opens the dataset's iterator in each session.

    Args:
      initializer: the operation that opens it.
    """

    def __init__(self, initializer: tf.Operation):
        self._initializer = initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens it."""
        del coord
        session.run(self._initializer)


def _check_hooks(hooks: Sequence[Any]) -> None:
    for hook in hooks:
        if isinstance(hook, CheckpointInputPipelineHook):
            raise NotImplementedError(
                "CheckpointInputPipelineHook saves the position of the input with a checkpoint, "
                "and with parameter servers a checkpoint belongs to no step of one process. Leave "
                "the hook out: of a shuffled input it does not matter where a restart begins."
            )
    if wants_async(hooks):
        logging.warning(
            "Asynchronous checkpoints are off: with parameter servers, the servers write a "
            "checkpoint while the other processes train anyway."
        )


def _opened_inputs(plan: InputPlan) -> list[Any]:
    batch_input = plan.input
    if batch_input.is_eager:
        raise ValueError(
            "input_fn returned a dataset that was made outside of it. With parameter servers the "
            "input is part of the training graph: make the dataset inside the input_fn."
        )
    initializer = batch_input.initializer if isinstance(batch_input, GraphInput) else None
    return [] if initializer is None else [_OpensIterator(initializer)]


def _hooks_of_chief(
    config: RunConfig,
    traced: TracedModel,
    model_dir: str,
    hooks: Sequence[Any],
    saving_listeners: Sequence[Any],
) -> list[Any]:
    """Returns the saver and the hooks that write events.

    Where the job of the chief is `master`, it also evaluates, and worker 0 writes the events.
    """
    chief = chief_hooks(
        config, traced.spec, traced.scaffold, model_dir, hooks, saving_listeners, ServerSaverHook
    )
    jobs = config.cluster_spec.jobs
    chief = chief if config.is_chief else []
    writes = config.is_chief
    if "master" in jobs and "worker" in jobs:
        writes = config.task_type == "worker" and config.task_id == 0
    if not writes:
        return chief
    if config.log_step_count_steps:
        chief.append(_v1.train.StepCounterHook(config.log_step_count_steps, output_dir=model_dir))
    if config.save_summary_steps:
        chief.append(
            _v1.train.SummarySaverHook(
                config.save_summary_steps, output_dir=model_dir, scaffold=traced.scaffold
            )
        )
    return chief


def _stop_hooks(steps: int | None, max_steps: int | None) -> list[Any]:
    if steps is None and max_steps is None:
        return []
    return [_v1.train.StopAtStepHook(steps, max_steps)]


def _loss_hooks(config: RunConfig, loss: tf.Tensor) -> list[Any]:
    if config.log_step_count_steps is None:
        return []
    values = {"loss": loss, "step": _v1.train.get_global_step()}
    return [_v1.train.LoggingTensorHook(values, every_n_iter=config.log_step_count_steps)]


def _beside(traced: TracedModel, train_op: Any) -> list[Any]:
    """Returns the operations of a step besides the train op: those of a host_call."""
    graph = _v1.get_default_graph()
    train = train_op if isinstance(train_op, tf.Operation) else train_op.op
    operations = [graph.get_operation_by_name(name.lstrip("^")) for name in traced.operations]
    return [operation for operation in operations if operation is not train]
