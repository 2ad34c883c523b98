"""Saves the input's position with each checkpoint, so that a resumed training continues there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint import Positions, step_of
from estimator_bridge.data import HostDatasets
from estimator_bridge.graph import Resources
from estimator_bridge.tensorflow_private.hooks import (
    checkpoint_folder,
    checkpoint_path,
    listeners_of,
)
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.training.own_hooks import SnapshotListener
from estimator_bridge.training.saver_listener import savers_of

__all__ = [
    "CheckpointInputPipelineHook",
    "StepDraws",
    "follow_savers",
    "open_input",
    "saves_positions",
    "with_whole_position",
]

_train = tf.compat.v1.train
_SessionRunHook: Any = _train.SessionRunHook
_Policy = tf.data.experimental.ExternalStatePolicy
_POLICIES = {"fail": _Policy.FAIL, "warn": _Policy.WARN, "ignore": _Policy.IGNORE}


class StepDraws(NamedTuple):
    """The counters of a run's draws whose number depends on values.

    Attributes:
      resources: the run's.
      replicas: the number of replicas in this process.
    """

    resources: Resources
    replicas: int

    def values(self) -> Mapping[str, np.ndarray]:
        """Returns the counters."""
        return self.resources.counted_draws()

    def begin_at(self, draws: Mapping[str, np.ndarray]) -> None:
        """Has the first step go on from counters that were saved."""
        others = {len(rows) for rows in draws.values()} - {self.replicas}
        if others:
            logging.warning(
                "The position of the input has the random draws of %d replicas in this process, "
                "which now has %d. In loops and branches whose draws depend on values, they begin "
                "anew.", others.pop(), self.replicas,
            )  # fmt: skip
        else:
            self.resources.inputs.draw_counters.begin_at(draws)


class CheckpointInputPipelineHook(_SessionRunHook):
    """Saves the input's position with the model, so that a resumed run sees what comes next.

    Each checkpoint of the model gets the position of its step, in files of its own beside it
    (``input.ckpt-N``), with the positions of random draws whose number depends on values. Training
    that goes on from a checkpoint takes the position of that very checkpoint; where there is none,
    the input begins anew, with a warning. Hand it to ``train(hooks=[...])``, to ``evaluate`` not.

    Args:
      estimator: whose model_dir and cadence of checkpoints are used.
      external_state_policy: what to do where the input draws on a state that is not its own (a
        generator, ``py_function``, a random op without a seed): 'fail', which is the default, is
        an error before the first step; 'warn' and 'ignore' save the rest.

    Raises:
      ValueError: external_state_policy is another one, or the estimator saves no checkpoints.
    """

    def __init__(self, estimator: Any, external_state_policy: Any = None):
        policy = "fail" if external_state_policy is None else external_state_policy
        if not isinstance(policy, _Policy) and policy not in _POLICIES:
            raise ValueError(
                "Invalid `ExternalStatePolicy.` Supported values include 'warn', 'ignore', and "
                f"'fail.' Received {external_state_policy!r}."
            )
        config = estimator.config
        if not (config.save_checkpoints_secs or config.save_checkpoints_steps):
            raise ValueError(
                "Either every_secs or every_steps should be provided: the input's position is "
                "saved with the model's checkpoints, and the estimator's config saves none. Set "
                "RunConfig(save_checkpoints_steps=...)."
            )
        self.policy = _POLICIES.get(policy, policy)
        self._folder, self._config = estimator.model_dir, config
        self._name = "input"
        self._other_names: list[str] = []  # of the other processes that train
        if config.num_worker_replicas > 1:
            self._name += f"_{config.task_type}_{config.task_id}"
            names = _names_in(config.cluster_spec)
            self._other_names = [name for name in names if name != self._name]
        self._iterator: Any = None
        self._draws: StepDraws | None = None
        self._last = 0
        self._every: int | None = None  # steps, in a process that saves positions alone
        self._positions = self._positions_of(os.path.join(self._folder, "model.ckpt"))

    def steps_until_due(self, step: int) -> float:
        """The next step to save at, for a process that saves positions alone."""
        return float("inf") if self._every is None else self._last + self._every - step

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        """Called when it is due."""
        del run_values
        session = run_context.session
        step = int(session.run(_train.get_global_step(session.graph)))
        if self._every is not None and step >= self._last + self._every:
            self.save(step)
            self._positions.tidy(step)

    def end(self, session: Any) -> None:
        """Saves the last position, where no saver did."""
        if self._every is not None:
            step = int(session.run(_train.get_global_step(session.graph)))
            if step != self._last:
                self.save(step)

    def follow(self, savers: Sequence[Any]) -> None:
        """Joins a run: from now on, each checkpoint of these hooks gets its position.

        Args:
          savers: the run's CheckpointSaverHooks.

        Raises:
          ValueError: none of them saves into the estimator's model_dir.
        """
        self._iterator, self._every = None, None
        here = [saver for saver in savers if _same(checkpoint_folder(saver), self._folder)]
        if here:
            self._positions = self._positions_of(checkpoint_path(here[0]))
            listeners_of(here[0]).insert(0, _PositionListener(self))
        elif self._config.is_chief or not self._config.save_checkpoints_steps:
            raise ValueError(
                "CheckpointInputPipelineHook needs a CheckpointSaverHook that saves into "
                f"{self._folder}, and this run has none there. Leave your own saver out, or let "
                "it save there; workers other than the chief need save_checkpoints_steps."
            )
        else:  # the chief saves the model, and at the same steps
            self._every = self._config.save_checkpoints_steps

    def open(
        self, iterator: Any, step: int, is_resumed: bool, draws: StepDraws | None = None
    ) -> None:
        """Sets a run's iterator to the position from which training goes on, and its draws.

        Args:
          iterator: new.
          step: the global step.
          is_resumed: whether the model's variables come from its own checkpoint of that step.
          draws: the counters of the run's draws, before its first step; None to save none.

        Raises:
          InputPositionError: the input's position cannot be saved, or does not fit.
        """
        self._iterator, self._draws = iterator, draws
        if not is_resumed:
            self._positions.clear()
        saved_draws = self._positions.restore(iterator, step) if is_resumed else None
        if saved_draws is None:
            self.save(step)  # which shows at once whether it can be
        elif draws is not None:
            draws.begin_at(saved_draws)
        self._last = step
        self._positions.tidy(step)

    def save(self, step: int) -> None:
        """Saves the position, before the model's checkpoint of that step."""
        if self._iterator is not None:  # the first checkpoint is older than the iterator
            self._positions.save(self._iterator, step, self._counted_draws())
            self._last = step

    def save_beside(self, model: str, step: int) -> None:
        """Saves the position beside a checkpoint in another folder.

        Args:
          model: the start of the checkpoint's name, such as "folder/model.ckpt".
          step: the global step.
        """
        if self._iterator is not None:
            folder = os.path.dirname(model)
            Positions(folder, self._name, model).save(self._iterator, step, self._counted_draws())

    def take(self, step: int) -> Callable[[], None]:
        """Takes the position of a step, and returns what writes it."""
        if self._iterator is None:  # see `save`
            return lambda: None
        write = self._positions.take(self._iterator, step, self._counted_draws())
        self._last = step
        return write

    def damage(self, step: int) -> str | None:
        """Says why the position of a step cannot be used, where it is damaged."""
        return self._positions.damage(step)

    def without_position(self, step: int) -> list[str]:
        """Names the other processes that have saved positions here, but none of this step.

        A worker saves its position beside the chief, so a kill may come between the two.
        """
        return [name for name in self._other_names if self._positions_named(name).lacks(step)]

    def tidy(self, step: int) -> None:
        """Deletes the positions of checkpoints that were deleted."""
        if self._iterator is not None:
            self._positions.tidy(step)

    def _counted_draws(self) -> Mapping[str, np.ndarray]:
        return {} if self._draws is None else self._draws.values()

    def _positions_of(self, model: str) -> Positions:
        return Positions(self._folder, self._name, model)

    def _positions_named(self, name: str) -> Positions:
        return Positions(self._folder, name, os.path.join(self._folder, "model.ckpt"))


class _PositionListener(SnapshotListener):
    """Tells the hook of a saver's checkpoints."""

    def __init__(self, hook: CheckpointInputPipelineHook):
        self._hook = hook

    def take(self, global_step_value: int) -> Callable[[], None]:
        """What AsyncCheckpointSaverHook calls in the place of `before_save`."""
        return self._hook.take(int(global_step_value))

    def before_save(self, session: Any, global_step_value: int) -> None:
        self._hook.save(int(global_step_value))

    def after_save(self, session: Any, global_step_value: int) -> None:
        self._hook.tidy(int(global_step_value))


def follow_savers(hooks: Iterable[Any]) -> None:
    """Lets the run's input positions be saved with its checkpoints.

    Args:
      hooks: all of the run, before they begin.
    """
    hooks = list(hooks)
    savers = savers_of(hooks)
    for hook in _position_hooks(hooks):
        hook.follow(savers)


def with_whole_position(
    checkpoint_path: str, hooks: Iterable[Any], fallback_checkpoint: Callable[[str], str | None]
) -> str:
    """Finds the newest checkpoint whose input position is not damaged either.

    A model goes on as if nothing had happened only from a checkpoint and its position together.

    Args:
      checkpoint_path: the newest whole checkpoint.
      hooks: all of the run.
      fallback_checkpoint: see ``initialize_session``.

    Returns:
      The checkpoint to restore: the one given where no older one is better.
    """
    positions = _position_hooks(hooks)
    path: str | None = checkpoint_path
    while path and positions:
        step = step_of(path)
        problems = [p for hook in positions if (p := hook.damage(step))]
        if not problems:
            break
        older = fallback_checkpoint(path)
        logging.warning(
            "%s; %s", problems[0], f"taking {older}" if older else "there is no older checkpoint"
        )
        path = older
    path = path or checkpoint_path
    names = [name for hook in positions for name in hook.without_position(step_of(path))]
    older = fallback_checkpoint(path) if names else None
    # Once only: where processes save at other steps than the chief, no older one is better.
    if older and not any(
        hook.damage(step_of(older)) or hook.without_position(step_of(older)) for hook in positions
    ):
        logging.warning(
            "%s was killed before it saved its input's position at step %d; taking %s",
            names[0].partition("_")[2].replace("_", " "),
            step_of(path),
            older,
        )
        return older
    return path


def saves_positions(hooks: Iterable[Any]) -> bool:
    """Whether one of a run's hooks saves the input's position."""
    return bool(_position_hooks(hooks))


def open_input(
    dataset: tf.data.Dataset | HostDatasets,
    hooks: Iterable[Any],
    step: int,
    is_resumed: bool,
    draws: StepDraws,
) -> Any:
    """Makes a run's iterator, which stands where its hooks know it to have stood.

    Args:
      dataset: the run's, eager; or one for each host of a TPU.
      hooks: all of the run.
      step: the global step.
      is_resumed: whether training goes on from a checkpoint of the model.
      draws: the counters of the run's draws.

    Returns:
      The iterator.

    Raises:
      InputPositionError: its position cannot be saved, or the saved one does not fit.
      NotImplementedError: a position is to be saved, and other machines read the input.
    """
    positions = _position_hooks(hooks)
    with eager_mode():
        if isinstance(dataset, HostDatasets):
            if positions:
                raise NotImplementedError(
                    "CheckpointInputPipelineHook cannot save where an input stands that the hosts "
                    "of a remote TPU read. Leave the hook out, and shuffle the input: training "
                    "that goes on begins it anew."
                )
        elif positions:
            options = tf.data.Options()
            options.experimental_external_state_policy = positions[0].policy
            dataset = dataset.with_options(options)
        iterator = iter(dataset)
    for hook in positions:
        hook.open(iterator, step, is_resumed, draws)
    return iterator


def _position_hooks(hooks: Iterable[Any]) -> list[CheckpointInputPipelineHook]:
    return [hook for hook in hooks if isinstance(hook, CheckpointInputPipelineHook)]


def _names_in(cluster: Any) -> list[str]:
    """The names of the positions of all processes that train."""
    jobs = cluster.as_dict() if cluster else {}
    return [
        f"input_{job}_{number}"
        for job in ("chief", "master", "worker")
        for number in range(len(jobs.get(job, ())))
    ]


def _same(one: str, other: str) -> bool:
    return os.path.normpath(os.fspath(one)) == os.path.normpath(os.fspath(other))
