"""Prediction: the model's outputs, example by example, on demand."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.checkpoint import check_own_training
from estimator_bridge.graph import continue_trace
from estimator_bridge.graph.fetches import Fetches
from estimator_bridge.training.hook_requests import as_numpy
from estimator_bridge.training.hooked_loop import ENDS, HookedLoop
from estimator_bridge.training.initialize import open_session
from estimator_bridge.training.loop_limits import LoopLimits
from estimator_bridge.training.predict_ahead import loop_ahead
from estimator_bridge.training.program import Program
from estimator_bridge.training.supervision.termination import Termination, interruptible
from estimator_bridge.training.supervision.watchdog import Beat, note_progress

__all__ = ["predict_program", "select_outputs"]


def select_outputs(outputs: Mapping[str, Any], keys: Sequence[str] | None) -> dict[str, Any]:
    """Returns the outputs that predict_keys names: those for which ``key in keys`` is true.

    Raises:
      ValueError: predict_keys match nothing, or the predictions are not a dict.
    """
    if not keys:
        return dict(outputs)
    if "" in outputs:
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    selection = {key: value for key, value in outputs.items() if key in keys}
    if not selection:
        raise ValueError(
            f"Expected to run at least one output from {list(outputs)}, provided {keys}."
        )
    return selection


class _OutputsHook(tf.compat.v1.train.SessionRunHook):
    """Fetches the outputs with every step."""

    def __init__(self, outputs: Mapping[str, Any]):
        self._outputs = outputs
        self.values: dict[str, np.ndarray] = {}

    def before_run(self, run_context: tf.compat.v1.train.SessionRunContext) -> Any:
        del run_context
        return tf.compat.v1.train.SessionRunArgs(self._outputs)

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        del run_context
        self.values = run_values.results


def predict_program(
    program: Program,
    hooks: Sequence[Any],
    predict_keys: Sequence[str] | None,
    checkpoint_path: str | None,
    yield_single_examples: bool,
    beat: Beat,
    fallback_checkpoint: Callable[[str], str | None] | None = None,
) -> Iterator[Any]:
    """Yields predictions, computed batch by batch.

    Args:
      program: traced for prediction.
      hooks: the caller's hooks.
      predict_keys: the keys of the outputs; None for all.
      checkpoint_path: the checkpoint to use; None for the initial values.
      yield_single_examples: whether to yield examples, or whole batches.
      beat: the beat of the watchdog, paused while the caller has control.
      fallback_checkpoint: see ``initialize_session``.
    """
    graph, shards = program.graph, program.execution.shards
    outputs = select_outputs(program.traced.outputs, predict_keys)
    if not outputs:  # steps would read no batch, and so would not end
        raise _NoLengthError("model_fn returned no predictions: the dict of them is empty.")
    all_hooks = [*hooks, *program.spec.prediction_hooks]
    datasets: list[Any] = []

    def begin(dataset: Any) -> Any:
        datasets.append(dataset)
        return iter(dataset)

    source = program.input.open_later(program.session, program.inputs, begin)
    with interruptible("Prediction"), continue_trace(graph, shards):
        open_session(
            program.session,
            program.scaffold,
            all_hooks,
            checkpoint_path,
            fallback_checkpoint=fallback_checkpoint,
        )
        iterator = source.iterator
    ahead = None if all_hooks else loop_ahead(program, outputs, datasets[0], iterator)
    if ahead is not None:
        batches = ahead.batches(iterator)
    elif all_hooks:
        batches = _step_by_step(program, outputs, iterator, all_hooks)
    else:
        batches = _without_hooks(program, outputs, iterator)
    for values in _interruptible(batches):
        with beat.paused():
            yield from _examples(values, yield_single_examples)
    program.check_input()
    with continue_trace(graph, shards):
        for hook in all_hooks:
            hook.end(program.session)


def _interruptible(batches: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields the same items; Ctrl-C ends their computation, but not the caller's code."""
    termination = Termination("Prediction")
    while True:
        with interruptible("Prediction", termination):
            values = next(batches, None)
        if values is None:
            return
        yield values


def _step_by_step(
    program: Program, outputs: Mapping[str, Any], iterator: Any, hooks: Sequence[Any]
) -> Iterator[dict[str, Any]]:
    """Yields the outputs of each batch, with the hooks called around each step."""
    outputs_hook = _OutputsHook(_with_size(program, outputs))
    step = program.global_step
    loop = HookedLoop(
        program.session,
        [*hooks, outputs_hook],
        program.kept_loop,
        None,
        LoopLimits(steps=1),
        original_fetches=outputs,
    )
    batch_count, has_ended = 0, False
    while not (has_ended or loop.stop or program.is_stopped):
        # Not while the caller has control.
        with continue_trace(program.graph, program.execution.shards):
            try:
                result = loop.run(iterator, step, 1, batch_count, None)
            except ENDS:
                break
        batch_count += result.steps
        has_ended = result.input_ended
        if result.steps:
            yield outputs_hook.values


def _without_hooks(
    program: Program, outputs: Mapping[str, Any], iterator: Any
) -> Iterator[dict[str, Any]]:
    """Yields the same, when nobody is called around a step: requests to an open prediction."""
    fetches = Fetches(program.graph, _with_size(program, outputs))
    trace = functools.partial(continue_trace, program.graph, program.execution.shards)
    with trace():
        loop = program.kept_loop(fetches.refs)
    batch_count, has_ended = 0, False
    while not (has_ended or program.is_stopped):
        # To enter the trace's contexts costs a small step a tenth, and compiled steps need none.
        with contextlib.nullcontext() if loop.is_compiled_for(iterator) else trace():
            try:
                result = loop(iterator, 1, batch_count)
            except ENDS:
                break
        note_progress()
        check_own_training()
        batch_count += result.steps
        has_ended = result.input_ended
        if result.fetch_values is not None and result.steps:
            yield fetches.build([as_numpy(result.fetch_values.get(ref)) for ref in fetches.refs])


def _with_size(program: Program, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the outputs, and the number of real examples in a padded batch."""
    size = program.batch.valid_size
    return {**outputs, **({_SIZE: size} if size is not None else {})}


class _NoLengthError(ValueError, IndexError, TypeError):
    """Raises the error for a prediction that is a scalar, and so has no examples.

    The original asked for its first, an IndexError, or iterated over it, a TypeError.
    """


_SIZE = "estimator_bridge/valid_size"


def _dicts(columns: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Returns a dict for each row; a literal takes half of the time of ``dict``."""
    if len(columns) == 1:
        ((a, column),) = columns.items()
        return ({a: value} for value in column)
    if len(columns) == 2:
        a, b = columns
        return ({a: first, b: second} for first, second in zip(*columns.values()))
    if len(columns) == 3:
        a, b, c = columns
        return ({a: first, b: second, c: third} for first, second, third in zip(*columns.values()))
    return map(dict, zip(*(zip(itertools.repeat(key), value) for key, value in columns.items())))


def _examples(values: dict[str, Any], single: bool) -> Iterator[Any]:
    size = values.pop(_SIZE, None)
    if size is not None:  # padding is not an example
        values = {key: value[:size] for key, value in values.items()}
    if not single:
        yield values.get("", values)
        return
    lengths = {key: len(value) if np.ndim(value) else None for key, value in values.items()}
    if len(set(lengths.values())) > 1 or None in lengths.values():
        kind = _NoLengthError if None in lengths.values() else ValueError
        raise kind(
            f"Batch length of predictions should be same. The lengths are {lengths} (None: a "
            "scalar). Give every prediction the batch as its first dimension, or pass "
            "yield_single_examples=False."
        )
    if "" in values:
        yield from values[""]
        return
    yield from _dicts(values)
