"""Chooses the strategy that runs a model, from the one that a RunConfig names."""

from __future__ import annotations

import weakref
from typing import Any

import tensorflow as tf

from estimator_bridge.model import ModeKeys, RunConfig
from estimator_bridge.runtime import workers_of
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["input_context", "strategy_for", "strategy_to_run"]

_v1 = tf.compat.v1.distribute.experimental
_CENTRAL_STORAGE = (_v1.CentralStorageStrategy, tf.distribute.experimental.CentralStorageStrategy)

_MIRRORED = (tf.distribute.MirroredStrategy, tf.compat.v1.distribute.MirroredStrategy)

_strategies: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


_ARGUMENTS = {ModeKeys.TRAIN: "train_distribute", ModeKeys.EVAL: "eval_distribute"}


def strategy_for(config: RunConfig, mode: str) -> tf.distribute.Strategy | None:
    """Returns the strategy for the replicas of a mode; None if the RunConfig names none.

    Raises:
      NotImplementedError: see ``strategy_to_run``.
    """
    name = _ARGUMENTS.get(mode)  # a prediction runs on one replica
    strategy = getattr(config, name) if name else None
    return strategy_to_run(name, strategy) if name and strategy is not None else None


def strategy_to_run(name: str, strategy: tf.distribute.Strategy) -> tf.distribute.Strategy | None:
    """Returns the strategy that runs the replicas.

    Args:
      name: the RunConfig's argument.
      strategy: its value.

    Returns:
      The strategy itself, or one with the same replicas on the same devices and so with the same
      numbers. For central storage, one with a copy of the variables on each device. For mirrored
      CPU cores, which share one memory, one that adds up on one of them: MirroredStrategy's
      collectives are slower there, and those of strategies of different sizes collide. None for
      one of parameter servers, whose processes each run one replica.

    Raises:
      NotImplementedError: it is a parameter server strategy of several devices.
    """
    if isinstance(strategy, _v1.ParameterServerStrategy):
        devices = strategy.extended.worker_devices
        if len(devices) == 1:
            return None
        raise NotImplementedError(
            f"RunConfig's {name} is a ParameterServerStrategy of {len(devices)} GPUs in each "
            "process; one per process is supported. Start a worker for each GPU, and show it that "
            "one alone (CUDA_VISIBLE_DEVICES); or use tf.distribute.MirroredStrategy() on one "
            "machine, tf.distribute.MultiWorkerMirroredStrategy() on several."
        )
    devices = strategy.extended.worker_devices
    is_on_cores = type(strategy) in _MIRRORED and all(map(_is_cpu, devices))
    if isinstance(strategy, _CENTRAL_STORAGE) or is_on_cores:
        if strategy not in _strategies:
            _strategies[strategy] = _with_copies(devices)
        return _strategies[strategy]
    return strategy


def input_context(strategy: tf.distribute.Strategy) -> tf.distribute.InputContext:
    """Returns the input_context of an input_fn: this worker's part of the input."""
    return workers_of(strategy).input_context()


def _with_copies(devices: tuple[str, ...]) -> tf.distribute.Strategy:
    with eager_mode():
        if len(devices) == 1:
            return tf.distribute.OneDeviceStrategy(devices[0])
        if any(map(_is_cpu, devices)):
            return tf.distribute.MirroredStrategy(devices, tf.distribute.ReductionToOneDevice())
        return tf.distribute.MirroredStrategy(devices)


def _is_cpu(device: str) -> bool:
    return "CPU" in device.upper()
