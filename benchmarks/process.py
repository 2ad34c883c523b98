"""The controller's end of a measured process."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from typing import Any

__all__ = ["MeasuredProcess"]


class MeasuredProcess:
    """A running ``benchmarks.worker``, idle between orders.

    Args:
      python: the Python that runs it.
      program: a program of ``benchmarks.programs``.
      way: see the program.
      options: see the program.

    Attributes:
      start_time: the time of its start (``time.time``).
    """

    def __init__(self, python: str, program: str, way: str, options: dict[str, Any]):
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # close() closes it
        self.start_time = time.time()
        self._what = f"{program} {way} {json.dumps(options)}"
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": os.getcwd()}
        # Installed packages are compiled to bytecode; this compiles the project's too.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", program, way, json.dumps(options)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def order(self, **order: Any) -> dict[str, float]:
        """Sends an order and waits for the answer.

        Raises:
          RuntimeError: the process ended instead.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin and stdout  # requested by PIPE
        answer = ""
        try:
            stdin.write(json.dumps(order) + "\n")
            stdin.flush()
            answer = stdout.readline()
        except BrokenPipeError:  # it ended before it read the order
            self._process.wait()
        if not answer:
            self._process.wait()
            self._errors.seek(0)
            raise RuntimeError(
                f"The measured process ({self._what}) ended with code {self._process.returncode} "
                f"and no answer. Its last words:\n{self._errors.read()[-3000:]}"
            )
        return json.loads(answer)

    def close(self) -> None:
        """Closes the pipe, and waits for the process to end."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        self._errors.close()
