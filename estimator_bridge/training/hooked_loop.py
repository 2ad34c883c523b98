"""Compiled loops, with session-run hooks called where they are due."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import LiftedSession
from estimator_bridge.graph.fetches import Fetches
from estimator_bridge.runtime import LoopResult, StepLoop
from estimator_bridge.training.cadence import due, skip
from estimator_bridge.training.pace import Pace
from estimator_bridge.training.together import Together

__all__ = ["HookedLoop", "NanLossError"]

_train = tf.compat.v1.train
_NanLossDuringTrainingError: Any = _train.NanLossDuringTrainingError


class NanLossError(_NanLossDuringTrainingError):
    """The loss became NaN.

    Args:
      step: at which global step.
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


class HookedLoop:
    """Steps in chunks, hooks in between.

    Args:
      session: of the traced graph.
      hooks: in the order of their calls.
      make_loop: gives the compiled loop that returns these fetches; takes ``sums``, see StepLoop.
      loss: the loss tensor that loops watch.
      pace: bounds the chunks.
      together: settles each chunk with the other workers; None where there are none.
    """

    def __init__(
        self,
        session: LiftedSession,
        hooks: Sequence[Any],
        make_loop: Callable[..., StepLoop],
        loss: tf.Tensor | None,
        pace: Pace,
        together: Together | None = None,
    ):
        self._session = session
        self._hooks = hooks
        self._make_loop = make_loop
        self._loops: list[StepLoop] = []
        self._loss = loss
        self._pace = pace
        self._together = together
        self._stop_requested = self._all_stop = False

    @property
    def should_stop(self) -> bool:
        """Whether a hook has asked to stop; of several workers, whether all know of it."""
        return self._all_stop if self._together else self._stop_requested

    def run(self, iterator, step: int, most: float, draw: int, limit: int | None) -> LoopResult:
        """Runs one chunk and calls the hooks that are due at its end.

        Args:
          iterator: of the input.
          step: the step that hooks count by: in training, the global step.
          most: no more steps than these.
          draw: the position in the random streams.
          limit: see ``StepLoop``.
        """
        dues = [due(hook, step, self._loss) for hook in self._hooks]
        steps = min(most, self._pace.steps())
        if not self._pace.is_fixed:
            steps = min(steps, min((d.steps for d in dues), default=math.inf))
        steps = max(int(steps), 1)
        if self._together:
            steps, self._all_stop = self._together.agree(steps, self._stop_requested)
            if self._all_stop:
                return LoopResult(0, False, None, None, None)
        called = [h for h, d in zip(self._hooks, dues) if d.now or d.steps <= steps]
        requests = self._before(called, step, steps)
        fetches = Fetches(self._session.graph, [r.fetches for _, _, r in requests if r])
        started = time.perf_counter()
        loop = self._loop(fetches.refs)
        ahead, last_alone = 0, loop.has_effects
        if self._together:
            loop, last_alone = self._together.agree_on_loop(
                loop, self._loop([]), lambda sums: self._loop(fetches.refs, sums)
            )
        if last_alone and steps > 1:  # what hooks run, runs in the last step alone
            result = self._loop([])(iterator, steps - 1, draw, limit)
            ahead = result.steps
        if ahead in (0, steps - 1) and not (ahead and _is_nan(result)):
            result = loop(iterator, steps - ahead, draw + ahead, limit)
            result = dataclasses.replace(result, steps=result.steps + ahead)
        self._pace.observe(result.steps, time.perf_counter() - started)
        for hook in self._hooks:
            if hook not in called:
                skip(hook, result.steps, step + result.steps)
        if result.fetched is not None and result.steps == steps:
            self._after(requests, fetches, result.fetched)
        if _is_nan(result):
            self._tell_of_nan(result.loss, step + result.steps)
        return result

    def _loop(self, refs: Sequence[str], sums: Sequence[str] = ()) -> StepLoop:
        """The compiled loop that returns these fetches; one that returns more will do."""
        for loop in self._loops:
            same = set(refs) == set(loop.fetches)
            # Where each sum is a meeting with other workers, no more may be made than needed.
            more = set(refs) <= set(loop.fetches) and not (loop.has_effects or self._together)
            if (same or more) and loop.sums.issuperset(sums):
                return loop
        more_sums = {"sums": sums} if sums else {}
        self._loops.append(self._make_loop(tuple(refs), **more_sums))
        return self._loops[-1]

    def _before(self, called, step, steps):
        requests = []
        for hook in called:
            skip(hook, steps - 1, step + steps - 1)
            context = _train.SessionRunContext(
                original_args=_train.SessionRunArgs(None), session=self._session
            )
            request = hook.before_run(context)
            if request is not None and request.feed_dict:
                raise NotImplementedError(
                    f"{type(hook).__name__}.before_run asks to feed {list(request.feed_dict)}. "
                    "Steps run many at a time in one function, so hooks cannot feed them; let "
                    "the input_fn produce the values, or assign them to a variable with "
                    "session.run in after_run."
                )
            requests.append((hook, context, request))
        return requests

    def _after(self, requests, fetches: Fetches, values: dict) -> None:
        results = iter(fetches.build([_numpy(values.get(ref)) for ref in fetches.refs]))
        for hook, context, request in requests:
            result = next(results) if request else None
            hook.after_run(
                context, _train.SessionRunValues(result, options=None, run_metadata=None)
            )
            self._stop_requested |= context.stop_requested

    def _tell_of_nan(self, loss: float | None, step: int) -> None:
        values = _train.SessionRunValues(loss, options=None, run_metadata=None)
        context = _train.SessionRunContext(
            original_args=_train.SessionRunArgs(None), session=self._session
        )
        for hook in self._hooks:
            if isinstance(hook, _train.NanTensorHook) and hook._loss_tensor is self._loss:
                try:
                    hook.after_run(context, values)
                except _train.NanLossDuringTrainingError as error:
                    raise NanLossError(step) from error
        self._stop_requested |= context.stop_requested


def _is_nan(result: LoopResult) -> bool:
    return result.loss is not None and math.isnan(result.loss)


def _numpy(value):
    return value if value is None or not hasattr(value, "numpy") else value.numpy()
