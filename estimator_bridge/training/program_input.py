"""A program's input: its plan, and the session in whose graph the input_fn was called."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import InputPart, LiftedSession, SessionInput
from estimator_bridge.tensorflow_private import eager_mode
from estimator_bridge.training.input_plan import InputPlan

__all__ = ["ProgramInput"]

_v1 = tf.compat.v1


@dataclasses.dataclass(frozen=True)
class ProgramInput:
    """What a program's steps draw from.

    Attributes:
      plan: how they take it.
      session: over the graph in which the input_fn was called.
      is_apart: whether that graph is not the model's, as the program is used again.
    """

    plan: InputPlan
    session: LiftedSession
    is_apart: bool = False

    def dataset(self) -> Any:
        """The batches as the compiled loop takes them; the session is initialised."""
        return self._with_threads(lambda: self.plan.dataset(self.session))

    def open_later(self, whole: InputPart, make_iterator: Callable[[Any], Any]) -> SessionInput:
        """The input for the steps, and the runs of a session, that draw from one iterator.

        Args:
          whole: what an element stands for, where all parts are drawn together.
          make_iterator: of a dataset, ``DividedDatasets`` or ``HostDatasets``. It is called when
            the first batch is about to be drawn.
        """
        given, divides = self.plan.input, self.plan.divides
        static = [whole] if not divides or given.is_whole else given.drawn_parts()

        def open_input() -> tuple[Any, Sequence[InputPart]]:
            if divides:
                dataset, parts = self._with_threads(lambda: given.datasets(self.session, static))
            else:
                dataset, parts = self.dataset(), static
            with eager_mode():
                return make_iterator(dataset), parts

        return SessionInput(static, open_input, self.plan.refusal, divides)

    def is_like(self, plan: InputPlan) -> bool:
        """Whether a program that was traced for this input serves another plan's."""
        other, mine = plan.input, self.plan.input
        are_whole = not self.plan.divides or (other.is_whole and mine.is_whole)
        return other.spec == mine.spec and not other.has_plain_values and are_whole

    def _with_threads(self, make: Callable[[], Any]) -> Any:
        """What ``make`` makes of the input, whose threads run then."""
        if self.is_apart:
            with self.session.graph.as_default():
                init = [_v1.local_variables_initializer(), _v1.tables_initializer()]
                self.session.run(init)
        # Datasets put their functions into the default graph too; the model's is finished.
        with tf.Graph().as_default(), eager_mode():
            made = make()
        self.session.queues.start(self.session, self.plan.input.needless_runners())
        return made
