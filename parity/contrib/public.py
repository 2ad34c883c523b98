"""Records the public names of tf.contrib, under TensorFlow 1.15.5 (Python 3.7).

    python -m parity.contrib.public

A name is public if it is an attribute of a namespace, ``tf.contrib.layers`` for example, or is
defined in a module that is one. The paths of files make no name public.
"""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any

__all__ = ["PATH", "public_names"]

PATH = Path(__file__).with_name("public.json")
# Packages of files, which TF 1.15 left visible in some namespaces.
_FILES = ("python", "ops", "kernels", "proto")


def public_names(contrib: Any) -> dict[str, list[str]]:
    """Returns the public names by namespace, those of its modules included.

    Args:
      contrib: the module ``tf.contrib`` of TensorFlow 1.15.
    """
    names_by_namespace = {}
    for namespace in sorted(dir(contrib)):
        try:
            module = getattr(contrib, namespace)
        except Exception:  # it needs a package or a library that this machine lacks
            continue
        if isinstance(module, types.ModuleType) and not namespace.startswith("_"):
            names_by_namespace[namespace] = sorted(_names(module))
    return names_by_namespace


def _names(namespace: types.ModuleType) -> set[str]:
    names = set()
    for name in dir(namespace):
        value = getattr(namespace, name, None)
        if name.startswith("_") or name in _FILES:
            continue
        if not isinstance(value, types.ModuleType):
            names.add(name)
        elif ".contrib." in value.__name__:
            names.add(name)
            names |= {
                each
                for each in dir(value)
                if not each.startswith("_")
                and (getattr(getattr(value, each), "__module__", None) or "").startswith(
                    value.__name__
                )
            }
    return names


def main() -> None:
    """Writes the file."""
    import tensorflow as tf

    lines = [
        f"{json.dumps(namespace)}: {json.dumps(' '.join(names))}"
        for namespace, names in public_names(tf.contrib).items()
    ]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
