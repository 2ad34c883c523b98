"""Evaluation: metrics over every example of the input."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from absl import logging

from estimator_bridge.graph import continue_trace
from estimator_bridge.training.cadence import NEVER, due
from estimator_bridge.training.hooked_loop import ENDS, HookedLoop
from estimator_bridge.training.initialize import open_session
from estimator_bridge.training.metrics import write_results
from estimator_bridge.training.program import Program
from estimator_bridge.training.termination import end_if_asked

__all__ = ["evaluate_program"]


def evaluate_program(
    program: Program,
    output_dir: str,
    hooks: Sequence[Any],
    steps: int | None,
    checkpoint_path: str | None,
    other_than: Callable[[str], str | None] | None = None,
) -> dict[str, Any]:
    """Runs the evaluation step over the input.

    Args:
      program: traced for evaluation.
      output_dir: of the event file.
      hooks: the caller's.
      steps: how many batches; None for all.
      checkpoint_path: what to evaluate; None for the initial values.
      other_than: see ``initialize_session``.

    Returns:
      The metrics, 'loss' and 'global_step' as numpy values.
    """
    graph, session = program.graph, program.session
    with continue_trace(graph, program.execution.shards):
        all_hooks = [*hooks, *program.spec.evaluation_hooks]
        source = program.read_input()
        evaluated = open_session(
            program.session, program.scaffold, all_hooks, checkpoint_path, other_than=other_than
        )
        count = _run(program, all_hooks, steps, source.iterator)
        if not count:
            logging.warning("Evaluation made no steps. Perhaps the input is empty.")
        results = session.run(program.results)
        for hook in all_hooks:
            hook.end(session)
        write_results(output_dir, results, evaluated)
    return results


def _run(program: Program, hooks: list[Any], steps: int | None, iterator: Any) -> int:
    execution = program.execution
    loop = HookedLoop(
        program.session,
        hooks,
        program.kept_loop,
        None,  # a NaN loss is a result here, no failure
        execution.pace(program.mode, steps if _are_called(hooks) else None),
        original_fetches=[update for _, update in program.spec.eval_metric_ops.values()],
        singly=bool(hooks),
    )
    done, step = 0, program.global_step
    while not (loop.stop or program.is_stopped) and (steps is None or done < steps):
        end_if_asked()
        most = math.inf if steps is None else steps - done
        try:
            result = loop.run(iterator, step, most, done, None)
        except ENDS:
            break
        done += result.steps
        if result.short_batch:
            wanted = execution.evaluate_short_batch(program, result.short_batch, loop.wanted)
            done += 1
            if wanted is not None:
                loop.finish(wanted)
        execution.evaluate_left_over(program, result)
        if result.input_ended:
            break
    program.check_input()
    return done


def _are_called(hooks: Sequence[Any]) -> bool:
    """Whether any hook has a before_run or after_run to be called."""
    return any(due(hook, 0) != NEVER for hook in hooks)
