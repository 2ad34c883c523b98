"""Prints each place that breaks a rule; exits with 1 if there is one."""

from __future__ import annotations

import sys
from pathlib import Path

from tooling.house import classes, files, layers, names
from tooling.house.tree import Tree

RULES = [*layers.RULES, *files.RULES, *names.RULES, *classes.RULES]


def complaints(root: Path) -> list[str]:
    """Returns a line for each place of a repository that breaks a rule."""
    tree = Tree(root)
    return [complaint for rule in RULES for complaint in rule(tree)]


if __name__ == "__main__":
    lines = complaints(Path(__file__).resolve().parents[2])
    print(*lines, sep="\n", end="\n" * bool(lines))
    sys.exit(bool(lines))
