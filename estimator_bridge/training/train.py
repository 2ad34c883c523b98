"""Training: from a traced program to its last checkpoint."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.gc_tuning import unfreeze_gc
from estimator_bridge.checkpoint import disk_problem
from estimator_bridge.graph import continue_trace
from estimator_bridge.runtime import local_replicas, workers_of
from estimator_bridge.training.async_saver import AsyncCheckpointSaverHook, wants_async
from estimator_bridge.training.first_batches import give_hooks_the_input
from estimator_bridge.training.graph_files import GraphSaverHook
from estimator_bridge.training.hook_schedule import any_hook_due
from estimator_bridge.training.hooked_loop import ENDS, HookedLoop, Stop
from estimator_bridge.training.initialize import open_session
from estimator_bridge.training.input_position import (
    StepDraws,
    follow_savers,
    open_input,
    saves_positions,
    with_whole_position,
)
from estimator_bridge.training.last_step import StopAtHook
from estimator_bridge.training.log_hooks import LossLogHook, RateLogHook, least_log_secs
from estimator_bridge.training.monitoring import monitored
from estimator_bridge.training.own_hooks import ObservingHook
from estimator_bridge.training.program import Program
from estimator_bridge.training.saver_hooks import chief_hooks
from estimator_bridge.training.saver_listener import release_savers, watch_savers
from estimator_bridge.training.supervision.rescue_checkpoint import LostFolder
from estimator_bridge.training.supervision.termination import Stage, Termination
from estimator_bridge.training.watched_input import is_watched
from estimator_bridge.training.worker_sync import SingleWorkerSync, worker_sync_of

__all__ = ["train_program"]

_v1 = tf.compat.v1


def train_program(
    program: Program,
    model_dir: str,
    hooks: Sequence[Any],
    saving_listeners: Sequence[Any],
    steps: int | None,
    max_steps: int | None,
    checkpoint_path: str | None,
    rate_tags: tuple[str, str | None],
    termination: Termination,
    fallback_checkpoint: Callable[[str], str | None] | None = None,
) -> float | None:
    """Runs training steps until enough are done, a hook stops it, or the input ends.

    Args:
      program: traced for training.
      model_dir: the folder of checkpoints and summaries.
      hooks: the caller's hooks.
      saving_listeners: the listeners of the saver.
      steps: the number of further steps; None for no such bound.
      max_steps: the global step at which to end; None for no such bound.
      checkpoint_path: the checkpoint to resume from; None starts from initial values.
      rate_tags: see ``RateLogHook``.
      termination: checked between chunks.
      fallback_checkpoint: see ``initialize_session``.

    Returns:
      The loss of the last step; None if no step ran.
    """
    graph, session, shards = program.graph, program.session, program.execution.shards
    workers = workers_of(program.execution.strategy)
    sync = worker_sync_of(workers, session)
    termination.slowest_save = lambda: session.slowest_save_secs
    with continue_trace(graph, shards):
        is_chief = program.execution.config.is_chief and workers.is_chief
        all_hooks = _all_hooks(program, model_dir, hooks, saving_listeners, rate_tags, is_chief)
        follow_savers(all_hooks)
        watch_savers(all_hooks)
        if checkpoint_path and fallback_checkpoint:
            checkpoint_path = with_whole_position(checkpoint_path, all_hooks, fallback_checkpoint)
        is_resumed = checkpoint_path is not None
        program.input.session.resources.inputs.keeps_positions = saves_positions(all_hooks)
        draws = StepDraws(session.resources, local_replicas(program.execution.strategy))
        source = program.input.open_later(
            session,
            program.inputs,
            lambda dataset: open_input(dataset, all_hooks, program.global_step, is_resumed, draws),
            lambda: is_watched(graph, all_hooks),
        )
        open_session(
            program.session, program.scaffold, all_hooks, checkpoint_path, True, fallback_checkpoint
        )
        sync.start_alike()
        start = program.global_step
        limit = max_steps if max_steps is not None else steps and start + steps
        limit = limit and math.ceil(limit)  # programs divide numbers of examples by batch sizes
        sync.check_limit(limit)
        for hook in all_hooks:
            if isinstance(hook, StopAtHook):
                hook.limit = limit
        iterator = source.iterator
        give_hooks_the_input(program, all_hooks, iterator)
        lost_folder = LostFolder(program, model_dir, all_hooks)
        try:
            termination.stage = Stage.STEPS
            with monitored(program, model_dir, hooks) as make_loop:
                loss = _run(
                    program, make_loop, all_hooks, iterator, start, limit, sync, termination
                )
            termination.stage = Stage.LAST_CHECKPOINT
            if loss is None and (limit is None or start < limit):
                logging.warning(
                    "Training with estimator made no steps. Perhaps input is empty or misspecified."
                )
            for hook in all_hooks:
                hook.end(session)
        except Exception as error:
            lost_folder.explain(error)
            raise
        release_savers(all_hooks)
        termination.requested = sync.end(termination.requested)
        kind = program.spec.loss.dtype.as_numpy_dtype
        logging.info("Loss for final step: %s.", loss if loss is None else kind(loss))
    return loss


def _run(
    program: Program,
    make_loop: Callable[..., Any],
    hooks: list[Any],
    iterator: Any,
    start: int,
    limit: int | None,
    sync: SingleWorkerSync,
    termination: Termination,
) -> float | None:
    execution = program.execution
    observers = [hook for hook in hooks if isinstance(hook, ObservingHook)]
    examples = program.plan.examples
    loop = HookedLoop(
        program.session,
        hooks,
        make_loop,
        program.spec.loss,
        execution.loop_limits(program.mode),
        original_fetches=[program.spec.train_op, program.spec.loss],
        sync=sync,
    )
    step: int = start
    loss = None
    rng_step = start  # so that a resumed run continues the random streams
    while not loop.stop and (limit is None or step < limit):
        if program.is_stopped:
            loop.request_stop()
        if termination.requested:
            loop.request_stop(Stop.TERMINATED)
        if loop.stop:
            break
        most = float("inf") if limit is None else limit - step
        try:
            result = loop.run(iterator, step, most, rng_step, limit)
            unfreeze_gc()
        except ENDS as error:
            if sync.shares_steps or disk_problem(error):
                raise  # the others are in a step; or a hook's file must not become larger
            logging.info("Training ends: %r.", error)
            break
        rng_step += result.steps
        loss = loss if result.loss is None else result.loss
        if result.limit_value is not None and result.steps:
            step = result.limit_value
            sync.note_step(step)
            for observer in observers:
                observer.observe(step, limit, result.loss, examples)
        if result.input_ended:
            break
    program.check_input()
    if loop.stop == Stop.TERMINATED:
        termination.requested = True  # of another worker; all end, to be started together
    return loss


def _all_hooks(
    program: Program,
    model_dir: str,
    hooks: Sequence[Any],
    saving_listeners: Sequence[Any],
    rate_tags: tuple[str, str | None],
    is_chief: bool,
) -> list[Any]:
    """Returns the hooks of a run, in the original's order: savers, rates, the caller's.

    The original wrote summaries after the rates. Here they precede the savers: a kill would lose a
    summary of a checkpoint's step that is written after it.
    """
    config, spec = program.execution.config, program.spec
    all_of_program = [*hooks, *spec.training_hooks]
    kind = AsyncCheckpointSaverHook if wants_async(all_of_program) else GraphSaverHook
    chief = []
    if is_chief:
        chief = chief_hooks(
            config, spec, program.scaffold, model_dir, hooks, saving_listeners, kind
        )
    own, losses, summaries = [], [], []
    every_steps = config.log_step_count_steps
    if every_steps:
        execution = program.execution
        examples = program.plan.examples
        pace = least_log_secs()
        if is_chief:
            own.append(RateLogHook(every_steps, model_dir, rate_tags, examples, least_secs=pace))
        dtype, counts_last = spec.loss.dtype, execution.fetched_step_counts_last
        losses.append(LossLogHook(every_steps, dtype, counts_last, examples, least_secs=pace))
    if config.save_summary_steps and is_chief:
        summaries.append(
            _v1.train.SummarySaverHook(
                scaffold=program.scaffold,
                save_steps=config.save_summary_steps,
                output_dir=model_dir,
            )
        )
    watch = _v1.train.NanTensorHook(spec.loss)
    # Hooks that come later see its request, and those that come before may set the step.
    last = [StopAtHook()] if any_hook_due([*all_of_program, *spec.training_chief_hooks]) else []
    return [*summaries, *chief, *own, *hooks, *last, watch, *losses, *spec.training_hooks]
