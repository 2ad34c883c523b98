"""What the processes of a step must have alike: their steps are one program."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from estimator_bridge.errors import NotOnJaxError
from estimator_bridge.runtime.on_jax.step import JaxStep
from estimator_bridge.runtime.workers import Workers

__all__ = ["SharedStep"]

_MOST_TEXT = 300  # of one process's values in an error


class SharedStep:
    """A step of this process, compared with those of the others.

    Devices whose programs differ wait for each other without end, or exchange wrong numbers. Names
    and instructions may differ, by what else a process has traced, and are left out.

    Args:
      step: the step.

    Attributes:
      numbers: two numbers, of which all processes find the largest ones.
    """

    def __init__(self, step: JaxStep):
        program = step.program
        self._text = json.dumps(
            {
                "values for the host (host_call)": list(program.shape.each),
                "inputs and variables": [
                    [one.kind, one.kind == "variable" and one.name, *one.shape, one.dtype]
                    for one in program.arguments
                ],
                "updated variables": program.updated,
                "results": [[*shape, str(dtype)] for shape, dtype in program.step.outputs],
                "steps of a block": [step.steps_of_block, program.is_single, step.is_counted],
            }
        )
        number = int.from_bytes(hashlib.sha256(self._text.encode()).digest()[:7], "big")
        self.numbers = [number, -number]

    def check(self, largest: Sequence[int], workers: Workers) -> None:
        """Checks that all processes have the same step.

        Args:
          largest: the largest numbers of all.
          workers: the processes.

        Raises:
          NotOnJaxError: they differ; says in what.
        """
        if largest[0] == -largest[1]:
            return
        first, *others = map(json.loads, workers.texts(self._text))
        for address, other in zip(workers.addresses[1:], others):
            for name, value in first.items():
                if other[name] != value:
                    raise NotOnJaxError(
                        f"The process at {address} has another step than the chief: its {name} "
                        f"are {_shortened(other[name])}, and the chief's {_shortened(value)}. "
                        "A step of several processes on JAX is one program: build the same "
                        "model, host_call and shapes in all of them."
                    )


def _shortened(value: Any) -> str:
    """Returns the text of a list, without its middle if it is long."""
    text = json.dumps(value)
    return text if len(text) < _MOST_TEXT else f"{text[: _MOST_TEXT // 2]} ... {text[-50:]}"
