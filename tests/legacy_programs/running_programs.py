"""Runs an old program with the user's command, in a separate process."""

from __future__ import annotations

import os
import re
from pathlib import Path

from forking import run_python

__all__ = ["CORES", "SCRIPTS", "Finished", "numbers", "run_program"]

SCRIPTS = Path(__file__).resolve().parent / "scripts"
ROOT = SCRIPTS.parents[2]
CORES = 2
PATIENCE = 240  # seconds


class Finished:
    """The output of a successful program.

    Attributes:
        output: its standard output.
        log: its standard error, where TF1 logs.
    """

    def __init__(self, output: str, log: str):
        self.output = output
        self.log = log

    def lines(self, beginning: str) -> list[str]:
        """Returns the lines of the output with this prefix, without it."""
        return [
            line[len(beginning) :].strip()
            for line in self.output.splitlines()
            if line.startswith(beginning)
        ]

    def line(self, beginning: str) -> str:
        """Returns the only line of the output with this prefix, without it."""
        (line,) = self.lines(beginning)
        return line


def run_program(*words: object, on_cores: bool = False) -> Finished:
    """Runs ``estimator-bridge run``.

    Args:
        *words: the script or ``-m`` and a module, and the program's own arguments.
        on_cores: whether a TPU that the program names is 2 emulated cores.
    """
    command = ["-m", "estimator_bridge", "run"]
    if on_cores:
        command += ["--cores", str(CORES)]
    inherited = os.environ.get("PYTHONPATH")
    environment = {
        # The command has to make the settings that a test process makes for its own TensorFlow.
        **{name: value for name, value in os.environ.items() if name != "TF_USE_LEGACY_KERAS"},
        "PYTHONPATH": os.pathsep.join([str(ROOT), *([inherited] if inherited else [])]),
    }
    done = run_python(
        [*command, *words], folder=SCRIPTS, environment=environment, patience=PATIENCE
    )
    assert done.returncode == 0, f"{done.args}\n{done.stdout}\n{done.stderr[-6000:]}"
    return Finished(done.stdout, done.stderr)


def numbers(text: str) -> list[float]:
    """Returns all numbers in a text."""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?", text)]
