"""Runs compiled loops, and calls session-run hooks when they are due."""

from __future__ import annotations

import enum
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import check_own_training
from estimator_bridge.graph import LiftedSession
from estimator_bridge.runtime import LoopResult, StepLoop
from estimator_bridge.training.global_step_view import GlobalStepView
from estimator_bridge.training.hook_requests import HookRequests
from estimator_bridge.training.hook_schedule import HookSchedule
from estimator_bridge.training.log_hooks import Reached
from estimator_bridge.training.loop_limits import LoopLimits
from estimator_bridge.training.supervision.watchdog import note_progress
from estimator_bridge.training.worker_sync import SingleWorkerSync

__all__ = ["ENDS", "HookedLoop", "LoopCache", "NanLossError", "Stop"]

# Raised in a hook or a step, these end a run like the input's end.
ENDS = (tf.errors.OutOfRangeError, StopIteration)
# The number of single steps for which a loop that fetches more than wanted may replace a new one.
_WORTH_A_LOOP = 100

_train = tf.compat.v1.train
_NanLossDuringTrainingError: Any = _train.NanLossDuringTrainingError


class Stop(enum.IntEnum):
    """Why a run ends before its last step; the strongest reason of several workers counts."""

    NO = 0
    ASKED = 1  # by a hook, or a thread
    TERMINATED = 2  # by SIGTERM


class NanLossError(_NanLossDuringTrainingError):
    """The loss became NaN.

    Args:
      step: the global step.
    """

    def __init__(self, step: int):
        super().__init__()
        self.step = step

    def __str__(self) -> str:
        return (
            f"NaN loss during training, at global step {self.step}. The checkpoints in model_dir "
            "are from before it. Lower the learning rate, clip the gradients "
            "(tf.clip_by_global_norm), or look for log(0) and division by 0 in the loss and for "
            "NaN in the input (tf.debugging.check_numerics)."
        )


class LoopCache:
    """Compiles loops, and uses one again where it returns what is wanted.

    Args:
      make_loop: returns the compiled loop with these fetches, feeds and sums; see LoopRequest.
      may_do_more: whether a loop that fetches more than wanted may be used. Where each sum is an
        exchange with other workers, it may not.
    """

    def __init__(self, make_loop: Callable[..., StepLoop], may_do_more: bool):
        self._make_loop, self._may_do_more = make_loop, may_do_more
        self._loops: list[StepLoop] = []
        self._last: tuple[Any, StepLoop | None] = (None, None)  # what was asked for, and returned
        # The number of single steps taken by a loop with more fetches, by the fetches wanted.
        self._run_counts: Counter[tuple[str, ...]] = Counter()

    def loop(
        self,
        refs: Sequence[str],
        fed: tuple[str, ...],
        sums: Sequence[str] = (),
        needs: Sequence[str] = (),
        is_single: bool = False,
    ) -> StepLoop:
        """Returns a loop.

        Additional fetches are computed once a call, so calls of a single step pay for them.

        Args:
          refs: the references to fetch.
          fed: the references that calls supply.
          sums: CrossReplicaSum nodes that the loop has to compute.
          needs: see ``LoopRequest``.
          is_single: whether the loop is for a call of a single step.
        """
        key = tuple(refs)
        request = key, fed, tuple(sums), tuple(needs)
        if self._last[1] is not None and self._last[0] == request:  # as at most steps
            return self._last[1]
        asked_refs = set(refs)
        alike = [
            loop
            for loop in self._loops
            if fed == loop.request.fed
            and loop.sums.issuperset(sums)
            and list(loop.request.needs) == list(needs)
        ]
        for loop in alike:
            if asked_refs == set(loop.request.fetches):
                self._last = request, loop
                return loop
        if self._may_do_more and self._run_counts[key] < _WORTH_A_LOOP:
            for loop in alike:
                if asked_refs.issubset(loop.request.fetches) and not (
                    loop.has_effects or loop.draws_more
                ):
                    self._run_counts[key] += is_single
                    return loop
        self._loops.append(self._make_loop(key, fed, sums, needs))
        self._last = request, self._loops[-1]
        return self._loops[-1]


class HookedLoop:
    """Runs steps in chunks, and hooks in between.

    Args:
      session: the session of the traced graph.
      hooks: in the order of their calls.
      make_loop: returns the compiled loop with these fetches, feeds and sums; see LoopRequest.
      loss: the loss tensor that loops watch.
      limits: bounds the chunks.
      original_fetches: the fetches of a step that hooks see as ``original_args.fetches``.
      sync: settles each chunk with the other workers; ``SingleWorkerSync()`` for one process.
      singly: whether a single step may have a function of its own; see StepLoop.
    """

    def __init__(
        self,
        session: LiftedSession,
        hooks: Sequence[Any],
        make_loop: Callable[..., StepLoop],
        loss: tf.Tensor | None,
        limits: LoopLimits,
        original_fetches: Any = None,
        sync: SingleWorkerSync = SingleWorkerSync(),  # noqa: B008 - it holds nothing
        singly: bool = True,
    ):
        self._session = session
        self._schedule = HookSchedule(hooks, loss)
        self._loops = LoopCache(make_loop, may_do_more=not sync.shares_steps)
        self._limits = limits
        self._original_args = _train.SessionRunArgs(original_fetches)
        self._call: HookRequests | None = None
        self._sync = sync
        self._singly = singly
        self._step = GlobalStepView(session)
        self._stop_requested = Stop.NO

    @property
    def stop(self) -> Stop:
        """Whether the run is to end; of several workers, whether all know of it."""
        reason = self._sync.agreed_stop(self._stop_requested)
        return reason if isinstance(reason, Stop) else Stop(reason)

    def request_stop(self, reason: Stop = Stop.ASKED) -> None:
        """Asks for an end before the next chunk."""
        self._stop_requested = max(self._stop_requested, reason)

    def run(
        self, iterator: Any, step: int, most: float, rng_step: int, limit: int | None
    ) -> LoopResult:
        """Runs one chunk and calls the hooks that are due at its end.

        Args:
          iterator: the iterator of the input.
          step: the step that hooks count by: in training, the global step after the last chunk,
            before its hooks.
          most: the largest number of steps.
          rng_step: the position in the random streams.
          limit: see ``StepLoop``.
        """
        due = self._schedule.due_hooks(self._step.now(step))
        steps = min(most, self._limits.steps())
        if not self._limits.hooks_wait:
            steps = min(steps, due.steps)
        steps = max(int(steps), 1)
        steps = self._sync.agree(steps, self._stop_requested)
        if self.stop:
            return LoopResult(0, False, None, None, None)
        hooks = due.within(steps)
        # Before the hooks' before_run, in which they look at their counts.
        self._schedule.skip_before(hooks, steps, step)
        call = self._call = HookRequests(self._session, hooks, self._original_args, self._call)
        fed, values = tuple(call.feeds), tuple(call.feeds.values())
        start_time = time.perf_counter()
        loop = self._loops.loop(call.fetches.refs, fed, is_single=steps == 1)
        loop, last_alone = self._sync.agree_on_loop(
            loop,
            lambda: self._loops.loop([], fed),
            lambda sums, needs: self._loops.loop(call.fetches.refs, fed, sums, needs),
        )
        with call.trace():
            if last_alone and steps > 1:  # what hooks run, runs in the last step alone
                result = self._loops.loop([], fed)(iterator, steps - 1, rng_step, limit, values)
                if result.steps == steps - 1 and not _is_nan(result):
                    last = loop(iterator, 1, rng_step + result.steps, limit, values, start=rng_step)
                    result = last._replace(steps=result.steps + last.steps)
            else:
                result = loop(iterator, steps, rng_step, limit, values, singly=self._singly)
        self._sync.settle()
        self._limits.observe(result.steps, time.perf_counter() - start_time)
        note_progress()
        check_own_training()
        self._schedule.skip_all(hooks, result.steps, step)
        if result.fetch_values is not None and result.steps == steps:
            progress = lambda: _progress(result, step, limit)  # noqa: E731 - few steps are logged
            self.finish(result.fetch_values, result.limit_value, progress)
        if _is_nan(result):
            self._tell_of_nan(result.loss, step + result.steps)
        return result

    @property
    def fetched_refs(self) -> list[str]:
        """The references that hooks fetch from the last step of the current chunk."""
        return self._call.fetches.refs if self._call else []

    def finish(
        self,
        fetch_values: dict[str, Any],
        step: int | None = None,
        progress: Callable[[], Reached | None] = lambda: None,
    ) -> None:
        """Calls the hooks at the end of a chunk: ``run`` does, unless a short batch ended it.

        Args:
          fetch_values: the values of ``fetched_refs``.
          step: the global step, if known: TensorFlow's hooks read it again.
          progress: in training, makes the result for the log hooks.
        """
        assert self._call is not None
        with self._step.announce(step):
            self._call.finish(fetch_values, progress)
        if self._call.stop_requested:
            self.request_stop()

    def _tell_of_nan(self, loss: float | None, step: int) -> None:
        values = _train.SessionRunValues(loss, options=None, run_metadata=None)
        context = _train.SessionRunContext(self._original_args, self._session)
        for hook in self._schedule.nan_hooks:
            try:
                hook.after_run(context, values)
            except _train.NanLossDuringTrainingError as error:
                raise NanLossError(step) from error
        if context.stop_requested:
            self.request_stop()


def _progress(result: LoopResult, start: int, limit: int | None) -> Reached | None:
    """Returns the result for log hooks, with the average increment of the steps of a call."""
    if result.limit_value is None:
        return None
    stride = (result.limit_value - start) // max(result.steps, 1)
    return Reached(result.limit_value, result.limit_value - stride, result.loss, limit)


def _is_nan(result: LoopResult) -> bool:
    return result.loss is not None and math.isnan(result.loss)
