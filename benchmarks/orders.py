"""The protocol between a measured process and its controller.

Lines of JSON: orders on its standard input, answers on its standard output. Its other output goes
to its standard error.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from typing import Any

__all__ = ["Orders"]


class Orders:
    """The measured process's end. Make it before anything else prints."""

    def __init__(self):
        self._answers = os.fdopen(os.dup(1), "w")
        self._cpu_start = 0.0
        os.dup2(2, 1)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yields the orders, until the controller closes the pipe."""
        for line in sys.stdin:
            order = json.loads(line)
            self._cpu_start = time.process_time()
            yield order

    def tell(self, **measured: float) -> None:
        """Sends an answer, with the CPU seconds since the order and the peak memory so far."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        cpu = time.process_time() - self._cpu_start  # of all threads
        answer = {**measured, "cpu": cpu, "peak memory, MB": peak}
        self._answers.write(json.dumps(answer) + "\n")
        self._answers.flush()
