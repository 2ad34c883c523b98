"""The table of `estimator-bridge run --list-supported`, which docs/supported.md shows."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Iterator

__all__ = ["table"]

_HEAD = """\
# What of TensorFlow 1 is there

Written by `estimator-bridge run --list-supported`.

The public names of TensorFlow 1.15's `tf` are there, as `tf.compat.v1` has them; the exceptions
stand below. Of `tf.contrib`, these are there. The paths of its files, such as
`tensorflow.contrib.layers.python.layers.layers`, lead to the same names. [Names that libraries
import](library_names.md) lists what there is of the modules of `tensorflow_estimator`.
"""


def table() -> str:
    """Writes the table, in Markdown.

    Loads every namespace of tf.contrib, and so takes some seconds.
    """
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    from estimator_bridge.legacy import contrib, missing
    from estimator_bridge.legacy.contrib.advice import Namespaces
    from estimator_bridge.legacy.tf1.changes import MISSING

    yield _HEAD
    for namespace in sorted(contrib.NAMESPACES):
        module = importlib.import_module(f"{contrib.__name__}.{namespace}")
        yield f"## tf.contrib.{namespace}\n"
        yield textwrap.fill(", ".join(f"`{name}`" for name in sorted(module.__all__)), 100) + "\n"
    yield "# What is not there, and what to use\n\n| name | |\n|---|---|"
    advice = Namespaces()
    for namespace in sorted(set(advice) - contrib.NAMESPACES):
        yield _row(f"tf.contrib.{namespace}", advice[namespace])
    for shown, names in sorted(missing.modules().items()):
        if shown.startswith("tf.contrib."):
            yield from (_row(f"{shown}.{name}", names[name]) for name in sorted(names))
    for name, said in sorted(MISSING.items()):
        yield _row(name.replace("tensorflow.", "tf.", 1), said)


def _row(name: str, advice: str) -> str:
    short = advice.removeprefix("is not supported. ").replace("|", "\\|")
    return f"| `{name}` | {short[:1].upper()}{short[1:]} |"
