"""Writes the table of `estimator-bridge run --list-supported` and docs/contrib/supported.md."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from estimator_bridge.legacy.tf1.changes import MISSING
from estimator_bridge.tf_contrib.namespace_advice import Namespaces
from estimator_bridge.tf_contrib.package import load_contrib

__all__ = ["table"]

_HEAD = """\
# Supported TensorFlow 1 APIs

Written by `estimator-bridge run --list-supported`.

The public names of TensorFlow 1.15's `tf` are available, as in `tf.compat.v1`, apart from the
exceptions below. The following names of `tf.contrib` are supported. The paths of its files, such as
`tensorflow.contrib.layers.python.layers.layers`, have the same names. [Names that libraries
import](../evidence/library_names.md) lists the supported names of the modules of
`tensorflow_estimator`.
"""


def table() -> str:
    """Returns the table, in Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    namespaces = load_contrib("namespaces").NAMESPACES
    yield _HEAD
    for name, namespace in sorted(namespaces.items()):
        if "." not in name:
            yield f"## tf.contrib.{name}\n"
            yield textwrap.fill(", ".join(f"`{each}`" for each in namespace.names), 100) + "\n"
    yield "# Unsupported names and replacements\n\n| name | |\n|---|---|"
    advice = Namespaces()
    for name in sorted(set(advice) - set(namespaces)):
        yield _row(f"tf.contrib.{name}", advice[name])
    for name, namespace in sorted(namespaces.items()):
        for each, text in sorted(namespace.unsupported.items()):
            yield _row(f"tf.contrib.{name}.{each}", text)
    for name, text in sorted(MISSING.items()):
        yield _row(name.replace("tensorflow.", "tf.", 1), text)


def _row(name: str, advice: str) -> str:
    short = advice.removeprefix("is not supported. ").replace("|", "\\|")
    return f"| `{name}` | {short[:1].upper()}{short[1:]} |"
