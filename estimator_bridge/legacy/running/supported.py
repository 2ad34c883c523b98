"""The table of `estimator-bridge run --list-supported`, which docs/supported.md shows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from estimator_bridge.contrib.advice import Namespaces
from estimator_bridge.legacy.contrib.namespaces import NAMESPACES
from estimator_bridge.legacy.tf1.changes import MISSING

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
    """Writes the table, in Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _HEAD
    for name, namespace in sorted(NAMESPACES.items()):
        if "." not in name:
            yield f"## tf.contrib.{name}\n"
            yield textwrap.fill(", ".join(f"`{each}`" for each in namespace.names), 100) + "\n"
    yield "# What is not there, and what to use\n\n| name | |\n|---|---|"
    advice = Namespaces()
    for name in sorted(set(advice) - set(NAMESPACES)):
        yield _row(f"tf.contrib.{name}", advice[name])
    for name, namespace in sorted(NAMESPACES.items()):
        for each, said in sorted(namespace.unsupported.items()):
            yield _row(f"tf.contrib.{name}.{each}", said)
    for name, said in sorted(MISSING.items()):
        yield _row(name.replace("tensorflow.", "tf.", 1), said)


def _row(name: str, advice: str) -> str:
    short = advice.removeprefix("is not supported. ").replace("|", "\\|")
    return f"| `{name}` | {short[:1].upper()}{short[1:]} |"
