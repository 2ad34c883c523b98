"""Shows the predictions of a classifier in a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["show_classes"]


def show_classes(rows: Sequence[Mapping[str, Any]], model_dir: str) -> str:
    """Returns a line with the classes of some examples and their probabilities.

    Args:
        rows: predictions with `class` and `probabilities`.
        model_dir: not used: nothing is written.
    """
    del model_dir
    classes = ", ".join(f"{row['class']} ({row['probabilities'].max():.0%})" for row in rows)
    return f"Classes of the first {len(rows)} test examples, with their probabilities: {classes}"
