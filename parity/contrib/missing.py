"""Lists the public names of tf.contrib that are missing here, each with its advice.

    python -m parity.contrib.missing

A name counts if TensorFlow 1.15.5 has it. The advice on a namespace that is missing as a whole is
the advice on each of its names. The names are recorded, under TensorFlow 1.15.5 (Python 3.7):

    python -m parity.contrib.missing --record
"""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

__all__ = ["IN_KERAS", "PATH", "missing_names", "names_of_tf1"]

PATH = Path(__file__).with_name("names.json")
# Packages of files, which TF 1.15 left visible in some namespaces.
_FILES = ("python", "ops", "kernels", "proto", "string_types")
# Missing names of modules that are Keras's own, so its error has no advice.
IN_KERAS = {
    "keras.metrics.cosine_similarity": "Use tf.keras.losses.cosine_similarity.",
    "keras.utils.HDF5Matrix": "Read the file with the package h5py.",
    "keras.utils.convert_all_kernels_in_model": "Leave it out: it was for weights of Theano.",
}
# A namespace that has it shows all that its files import.
_OPEN = "absolute_import"


def missing_names() -> dict[str, dict[str, str]]:
    """Returns the missing names by namespace, with the message of each one's error.

    The message of a name without advice is empty.
    """
    import estimator_bridge_contrib as contrib

    messages: dict[str, dict[str, str]] = {}
    for namespace, names in json.loads(PATH.read_text(encoding="utf-8")).items():
        for name in names.split():
            message = _message(contrib, [*namespace.split("."), name])
            if message is not None:
                messages.setdefault(namespace, {})[name] = message
    return messages


def _message(contrib: Any, path: list[str]) -> str | None:
    """Returns the error's message for a name, "" if it has no advice, None if the name is there."""
    from estimator_bridge.errors import MissingNameError

    value = contrib
    for name in path:
        try:
            value = getattr(value, name)
        except MissingNameError as error:
            return str(error)
        except AttributeError:
            advice = IN_KERAS.get(".".join(path))
            return (advice and f"tf.contrib.{'.'.join(path)} is not in Keras 2. {advice}") or ""
    return None


def names_of_tf1(contrib: Any) -> dict[str, list[str]]:
    """Returns the public names by namespace; "layers.summaries" is one of a module.

    Args:
      contrib: the module ``tf.contrib`` of TensorFlow 1.15.
    """
    names_by_namespace: dict[str, list[str]] = {}
    for name in sorted(each for each in dir(contrib) if not each.startswith("_")):
        try:
            namespace = getattr(contrib, name)
        except Exception:  # it needs a package or a library that this machine lacks
            continue
        if isinstance(namespace, types.ModuleType):
            names_by_namespace[name] = _names(namespace)
            for below in names_by_namespace[name]:
                if isinstance(getattr(namespace, below), types.ModuleType):
                    names_by_namespace[f"{name}.{below}"] = _names(getattr(namespace, below))
    return {name: names for name, names in names_by_namespace.items() if names}


def _names(namespace: types.ModuleType) -> list[str]:
    names = []
    # Other namespaces of tf.contrib, and their files, are imports in an open one.
    prefix = ".".join(namespace.__name__.split(".")[:3]) + "."
    for name in dir(namespace):
        value = getattr(namespace, name, None)
        place: str = getattr(value, "__module__", "") or getattr(value, "__name__", "tf.contrib.")
        is_foreign = ".contrib." not in place
        if name.startswith("_") or name in _FILES:
            continue
        is_module = isinstance(value, types.ModuleType)
        if is_foreign and (is_module or _OPEN in dir(namespace)):
            continue
        is_file = not hasattr(namespace, "__path__")  # its siblings are imports
        if is_module and _OPEN in dir(namespace) and (is_file or not place.startswith(prefix)):
            continue
        names.append(name)
    return sorted(names)


def main(arguments: list[str]) -> None:
    """Runs the command."""
    if arguments == ["--record"]:
        import tensorflow as tf

        lines = [
            f"{json.dumps(namespace)}: {json.dumps(' '.join(names))}"
            for namespace, names in sorted(names_of_tf1(tf.contrib).items())
        ]
        text = ",\n".join(lines)
        PATH.write_text("{\n" + text + "\n}\n", encoding="utf-8")
        return
    for names in missing_names().values():
        for name, message in names.items():
            print(message or f"{name}: no advice")


if __name__ == "__main__":
    main(sys.argv[1:])
