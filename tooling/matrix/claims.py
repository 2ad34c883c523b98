"""The supported pairs of TensorFlow and Python."""

from __future__ import annotations

import dataclasses

__all__ = ["PAIRS", "WHEELS", "Pair", "parse_pair"]

# For each TensorFlow the lowest and the highest Python for which it has wheels on Linux.
WHEELS = {
    "2.16": ("3.9", "3.12"),
    "2.17": ("3.9", "3.12"),
    "2.18": ("3.9", "3.12"),
    "2.19": ("3.9", "3.12"),
    "2.20": ("3.9", "3.13"),
    "2.21": ("3.10", "3.13"),
}


@dataclasses.dataclass(frozen=True)
class Pair:
    """A TensorFlow and a Python, both as "major.minor"."""

    tensorflow: str
    python: str

    @property
    def name(self) -> str:
        """The name of the pair's environment."""
        return f"tf{self.tensorflow}-py{self.python}"


PAIRS = tuple(Pair(tensorflow, python) for tensorflow, ends in WHEELS.items() for python in ends)


def parse_pair(text: str) -> Pair:
    """Reads a pair from the command line.

    Args:
        text: for example "2.16:3.9".

    Raises:
        ValueError: the text is not a pair, or the pair is not supported.
    """
    tensorflow, _, python = text.partition(":")
    pair = Pair(tensorflow, python)
    if pair not in PAIRS:
        pairs = ", ".join(f"{pair.tensorflow}:{pair.python}" for pair in PAIRS)
        raise ValueError(f"{text!r} is not a pair of the matrix. The pairs are {pairs}.")
    return pair
