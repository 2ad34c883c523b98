"""Evaluation: metrics over every example of the input."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint import disk_problem
from estimator_bridge.graph import continue_trace
from estimator_bridge.training.hook_schedule import any_hook_due
from estimator_bridge.training.hooked_loop import ENDS, HookedLoop
from estimator_bridge.training.initialize import open_session
from estimator_bridge.training.last_step import StopAfterHook
from estimator_bridge.training.metrics import write_results
from estimator_bridge.training.printed_scalars import printed_as_number
from estimator_bridge.training.program import Program
from estimator_bridge.training.short_batches import evaluate_short_batch
from estimator_bridge.training.supervision.termination import end_if_asked
from estimator_bridge.training.watched_input import is_watched

__all__ = ["evaluate_program"]

_FEW = 20  # batches: with fewer, each has a line


def evaluate_program(
    program: Program,
    output_dir: str | None,
    hooks: Sequence[Any],
    steps: int | None,
    checkpoint_path: str | None,
    fallback_checkpoint: Callable[[str], str | None] | None = None,
) -> dict[str, Any]:
    """Runs the evaluation step over the input.

    Args:
      program: traced for evaluation.
      output_dir: the folder of the event file; None if another process writes it.
      hooks: the caller's hooks.
      steps: the number of batches; None for all.
      checkpoint_path: the checkpoint to evaluate; None for the initial values.
      fallback_checkpoint: see ``initialize_session``.

    Returns:
      The metrics, 'loss' and 'global_step' as numpy values.
    """
    graph, session = program.graph, program.session
    with continue_trace(graph, program.execution.shards):
        own_hooks = program.spec.evaluation_hooks
        last = [StopAfterHook(steps)] if any_hook_due(own_hooks) and steps is not None else []
        all_hooks = [*hooks, *last, *own_hooks]
        source = program.input.open_later(
            session, program.inputs, is_watched=lambda: is_watched(graph, all_hooks)
        )
        start_time = time.monotonic()
        logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S"))
        path = open_session(
            program.session,
            program.scaffold,
            all_hooks,
            checkpoint_path,
            fallback_checkpoint=fallback_checkpoint,
        )
        count = _run(program, all_hooks, steps, source.iterator)
        if not count:
            logging.warning("Evaluation made no steps. Perhaps the input is empty.")
        results = session.run(program.results)
        for hook in all_hooks:
            hook.end(session)
        logging.info("Inference Time : %0.5fs", time.monotonic() - start_time)
        logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))
        write_results(output_dir, results, path)
    return {name: printed_as_number(value) for name, value in results.items()}


def _run(program: Program, hooks: list[Any], steps: int | None, iterator: Any) -> int:
    loop = HookedLoop(
        program.session,
        hooks,
        program.kept_loop,
        None,  # a NaN loss is a result here, not a failure
        program.execution.loop_limits(program.mode, steps if any_hook_due(hooks) else None),
        original_fetches=[update for _, update in program.spec.eval_metric_ops.values()],
        singly=bool(hooks),
    )
    step = program.global_step if hooks else 0  # by which only hooks count
    batch_count = logged_count = 0
    while not (loop.stop or program.is_stopped) and (steps is None or batch_count < steps):
        end_if_asked()
        most = math.inf if steps is None else steps - batch_count
        try:
            result = loop.run(iterator, step, most, batch_count, None)
        except ENDS as error:
            if disk_problem(error):  # a hook's file must not become larger
                raise
            break
        batch_count += result.steps
        if result.short_batch:
            fetch_values = evaluate_short_batch(program, result.short_batch, loop.fetched_refs)
            batch_count += 1
            if fetch_values is not None:
                loop.finish(fetch_values)
        if result.left_over:
            _evaluate_left_over(program, result.left_over)
        logged_count = _tell(logged_count, batch_count, steps)
        if result.input_ended:
            break
    program.check_input()
    return batch_count


def _evaluate_left_over(program: Program, elements: Sequence[list[Any]]) -> None:
    """Evaluates the last elements of the input, which are fewer than the replicas."""
    session, operations = program.session, program.traced.operations
    for element in elements:
        try:
            session.evaluate(operations, dict(zip(program.inputs, element)))
        except NotImplementedError:
            logging.warning(
                "The last %d element(s) of the evaluation's input were too few for %d "
                "replicas and are left out, as its metrics add up values of all replicas.",
                len(elements),
                program.plan.replicas,
            )
            break


def _tell(logged_count: int, batch_count: int, steps: int | None) -> int:
    """Logs the batches since the last line, as often as the original did.

    Args:
      logged_count: the number of batches that the lines cover so far.
      batch_count: the number of evaluated batches.
      steps: the number of batches to evaluate; without it, the original logged none.

    Returns:
      The number of batches that the lines cover now.
    """
    if steps is not None and logging.get_verbosity() <= logging.INFO:
        every = 1 if steps < _FEW else steps // 10
        for count in range(logged_count + 1, batch_count + 1):
            if count % every == 0 or count == steps:
                logging.info("Evaluation [%d/%d]", count, steps)
    return batch_count
