"""Runs a Keras model's steps, and keeps its weights, on the cores of a strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.keras.cloning import CompiledModel
from estimator_bridge.keras.replica_program import ReplicaProgram
from estimator_bridge.model import ModeKeys

__all__ = ["Cores"]


class Cores:
    """The steps and weights of a model on a strategy's cores.

    Args:
      original: the model; its weights are read before the first step.
      strategy: the strategy of the cores.
      hypers: returns the optimizer's current numbers, such as the learning rate.
    """

    def __init__(
        self,
        original: CompiledModel,
        strategy: tf.distribute.Strategy,
        hypers: Callable[[], dict[str, Any]],
    ):
        self._original, self._strategy, self._hypers = original, strategy, hypers
        self._programs: dict[Any, ReplicaProgram] = {}
        self._written: dict[str, Any] = {}
        self._takes_weights, self._has_trained = True, False
        self._begins_metrics = False

    def run(self, mode: str, batch: Sequence[np.ndarray], has_weights: Sequence[bool]) -> list[Any]:
        """Runs a step; see ``ReplicaProgram``."""
        program = self._program(mode, batch, has_weights)
        if self._takes_weights:
            for name, value in zip(program.weights, self._original.model.get_weights()):
                program.write(name, value)
            self._takes_weights = False
        if self._begins_metrics:
            for each in self._programs.values():
                each.reset_metrics()
            self._begins_metrics = False
        if mode == ModeKeys.TRAIN:
            self._write_hypers(program)
            self._has_trained = True
        return program(batch)

    def take_weights(self) -> None:
        """Makes the next step start with the current weights of the program's model."""
        self._takes_weights, self._has_trained = True, False

    def give_weights(self) -> None:
        """Copies the weights on the cores to the program's model."""
        if self._has_trained:
            program = next(iter(self._programs.values()))
            self._original.model.set_weights([program.read(name) for name in program.weights])
            self._has_trained = False

    def reset_metrics(self) -> None:
        """Resets the metrics before the next step."""
        self._begins_metrics = True

    def reset_states(self) -> None:
        """Resets stateful layers."""
        for program in self._programs.values():
            program.reset_states()

    def _program(
        self, mode: str, batch: Sequence[np.ndarray], has_weights: Sequence[bool]
    ) -> ReplicaProgram:
        # If the number of cores does not divide a batch, each core gets all of it.
        is_whole = any(len(array) % self._strategy.num_replicas_in_sync for array in batch)
        shapes = tuple(self._shape(array) for array in batch)
        key = (mode, shapes, tuple(has_weights), is_whole)
        if key not in self._programs:
            state = np.random.get_state()  # layers draw their seeds; Keras shuffles by the same
            specs = [tf.TensorSpec(shape, a.dtype) for shape, a in zip(shapes, batch)]
            self._programs[key] = ReplicaProgram(
                self._original, self._strategy, mode, specs, has_weights, is_whole, self._shared()
            )
            np.random.set_state(state)
        return self._programs[key]

    def _shape(self, array: np.ndarray) -> tuple[int | None, ...]:
        """Returns the shape to trace a program for, with a batch size only if one is needed."""
        is_static = isinstance(self._strategy, tf.distribute.TPUStrategy)
        if is_static or self._original.model.stateful:
            return array.shape
        return (None, *array.shape[1:])

    def _shared(self) -> Any:
        """Returns the resources of the program with the most variables: one that trains, if any."""
        programs = sorted(self._programs.items(), key=lambda item: item[0][0] == ModeKeys.TRAIN)
        return programs[-1][1].session.resources if programs else None

    def _write_hypers(self, program: ReplicaProgram) -> None:
        for name, value in self._hypers().items():
            if name in program.hypers and self._written.get(name) != value:
                program.write(program.hypers[name], value)
                self._written[name] = value
