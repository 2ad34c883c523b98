"""An evaluation program whose variables are copies of those in training."""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow as tf

from estimator_bridge.training.program import Program

__all__ = ["CopiedWeights"]

_v1 = tf.compat.v1


class CopiedWeights:
    """A traced evaluation that starts with the variables' values from another session.

    Args:
      program: a program traced for evaluation, not yet run.

    Attributes:
      program: the same program; its initialization copies the values.
      source: the training session; set it before each run.

    Raises:
      ValueError: the model's scaffold has a saver or an init_fn.
    """

    def __init__(self, program: Program):
        for part in ("saver", "init_fn"):
            if program.spec.scaffold and getattr(program.spec.scaffold, part) is not None:
                raise ValueError(
                    f"InMemoryEvaluator does not support custom {part}: it evaluates the current "
                    "weights of training, and restores nothing. Leave it out of the Scaffold "
                    "in mode 'eval', or evaluate checkpoints with train_and_evaluate."
                )
        self.source: Any = None
        with program.graph.as_default():
            self._variables = {v.name: v for v in _v1.global_variables()}
            self._values = {
                name: _v1.placeholder(variable.dtype.base_dtype, variable.shape)
                for name, variable in self._variables.items()
            }
            self._assign_ops = {
                name: _v1.assign(variable, self._values[name]).op
                for name, variable in self._variables.items()
            }
            scaffold = _v1.train.Scaffold(init_fn=self._copy, copy_from_scaffold=program.scaffold)
        traced_model = dataclasses.replace(program.traced, scaffold=scaffold)
        self.program = dataclasses.replace(program, traced=traced_model)

    def _copy(self, scaffold: Any, session: Any) -> None:
        """Copies the variables that both graphs have; the others keep their initial values."""
        del scaffold
        in_training = {
            v.name: v
            for v in self.source.graph.get_collection(_v1.GraphKeys.GLOBAL_VARIABLES)
            if v.name in self._variables
        }
        values = self.source.run(in_training)
        session.run(
            [self._assign_ops[name] for name in values],
            feed_dict={self._values[name]: value for name, value in values.items()},
        )
