"""The protocol between a measured process and its controller.

Lines of JSON: orders on its standard input, answers on its standard output. Its other output goes
to its standard error.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["Orders"]


class Orders:
    """The measured process's end. Make it before anything else prints."""

    def __init__(self):
        self._answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yields the orders, until the controller closes the pipe."""
        for line in sys.stdin:
            yield json.loads(line)

    def tell(self, **measured: float) -> None:
        """Sends an answer, with this process's peak memory (MB) so far."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        self._answers.write(json.dumps({**measured, "peak memory, MB": peak}) + "\n")
        self._answers.flush()
