"""Looks each TensorFlow name of a source up in today's TensorFlow and this library.

The measure: a line that uses a name of TensorFlow or of estimator_bridge, in an import or behind a
variable that an import made, is

- right, if every such name on it is there when it is asked for;
- left, if a name on it is one of tf.contrib or tf.estimator and is not there;
- wrong, if another name on it is not there.

A name that is there can still mean something else than it did: this counts names, not numbers.
"""

from __future__ import annotations

import functools
import importlib
from collections import Counter
from types import ModuleType
from typing import Any

from estimator_bridge.migrate.module import Module

__all__ = ["lines_of", "verdict_of"]

_ROOTS = ("tensorflow", "estimator_bridge", "tensorflow_estimator")
_LEFT = ("contrib", "estimator", "tensorflow_estimator")


def lines_of(text: str) -> Counter[str]:
    """Counts the lines of a source by verdict.

    Args:
      text: the source.

    Returns:
      How many lines are "right", "left" and "wrong"; {"no Python": 1} where Python cannot parse it.
    """
    try:
        module = Module("source", text)
    except (SyntaxError, ValueError, RecursionError):
        return Counter({"no Python": 1})
    names: dict[int, set[str]] = {}
    for binding in module.imports:
        target = binding.target
        if binding.variable == "*":
            target = target.removesuffix(".*")
        elif not binding.alias.asname and not hasattr(binding.statement, "module"):
            target = binding.alias.name  # import a.b binds a
        names.setdefault(binding.statement.lineno, set()).add(target)
    for use in module.scopes.references:
        # A variable that is assigned, `flags = tf.flags`, counts there and not at each of its uses.
        if use.import_ is not None and not use.is_store:
            names.setdefault(use.nodes[0].lineno, set()).add(use.target)
    counts: Counter[str] = Counter()
    for targets in names.values():
        verdicts = {verdict_of(t) for t in targets if t.partition(".")[0] in _ROOTS}
        for verdict in ("left", "wrong", "right"):
            if verdict in verdicts:
                counts[verdict] += 1
                break
    return counts


@functools.cache
def verdict_of(target: str) -> str:
    """Returns the state of a dotted name: "right", "left" or "wrong"."""
    if _is_there(target):
        return "right"
    return "left" if set(target.split(".")) & set(_LEFT) else "wrong"


def _is_there(target: str) -> bool:
    import estimator_bridge  # noqa: F401 - before TensorFlow, for Keras 2

    parts = target.split(".")
    try:
        value: Any = importlib.import_module(parts[0])
    except ImportError:
        return False
    for end in range(1, len(parts)):
        # By its type: to ask tf.flags.FLAGS for its class makes it read the command line.
        if not issubclass(type(value), (ModuleType, type)):
            return True  # what an object has is its own affair
        try:
            value = getattr(value, parts[end])
        except Exception:
            try:
                value = importlib.import_module(".".join(parts[: end + 1]))
            except Exception:
                return False
    return True
