"""How a measured process hears what to do next, and tells what it measured.

Lines of JSON: orders on its standard input, answers on its standard output. Whatever else it
prints goes to its standard error.
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
        """The orders, until the other side has no more."""
        for line in sys.stdin:
            yield json.loads(line)

    def tell(self, **measured: float) -> None:
        """Answers, with the most memory (MB) that this process has had so far."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        self._answers.write(json.dumps({**measured, "peak memory, MB": peak}) + "\n")
        self._answers.flush()
