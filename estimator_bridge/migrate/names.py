"""The current places of the names of TensorFlow 1, tf.contrib and Estimator.

Names are looked up under a root for the TensorFlow version: "tf1.nn.relu" is that of TensorFlow 1,
now in tf.compat.v1, and "tf2.nn.relu" that of TensorFlow 2.
"""

from __future__ import annotations

import enum
import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from estimator_bridge.base.public_names import V2_PLACES
from estimator_bridge.legacy.library.names import GONE_MODULES
from estimator_bridge.legacy.old_paths import OLD_MODULES
from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.tf1.contrib_paths import FUNCTIONS_OF_FILES
from estimator_bridge.legacy.tf1.deep_paths import DEEP_MODULES, DEEP_PACKAGES
from estimator_bridge.legacy.tf1.private_keras import (
    NAMES_OF_EXPERIMENTAL,
    REMOVED_FROM_EXPERIMENTAL,
)
from estimator_bridge.legacy.tf1.private_names import (
    MODULES,
    NAMES,
    NAMESPACES,
    ROOT,
    advice_on,
    v1_place_of,
)
from estimator_bridge.tf_contrib.namespace_advice import OF_TF1, Namespaces

__all__ = ["Fate", "NameEntry", "canonical", "look_up", "tf_slim_name"]

_NAMES = Path(__file__).with_name("names.json")
# Files of TensorFlow, the same in both dialects.
_FILES = ("python", "core", "compiler", "tools", "tsl", "examples", "models", "lite.python")
_PRIVATE = ("tensorflow.python.", "tensorflow.core.", "tensorflow.examples.", "tensorflow.models.")
_PYTHON = "tensorflow.python."
_EXAMPLES = ("tensorflow.examples.", "tensorflow.models.")
_MNIST = "tensorflow.examples.tutorials.mnist.input_data"
_ESTIMATOR_FILES = ("tensorflow_estimator", "tensorflow.python.estimator")
_NETS = "slim.python.slim.nets."
# Modules of slim that are those of other namespaces.
_SLIM_MODULES = {
    "initializers": "layers", "layers": "layers", "losses": "losses",
    "metrics": "metrics", "regularizers": "layers",
}  # fmt: skip
_KERAS_EXPERIMENTAL = "keras.experimental."
_OPEN_NAMESPACES = ("keras", "raw_ops", "compat", "lite")


class Fate(enum.Enum):
    """The status of a name."""

    SAME = "is in TensorFlow"
    MOVED = "has moved"
    MISSING = "is missing"
    UNKNOWN = "is not a public name"


@dataclass(frozen=True)
class NameEntry:
    """The known facts about a name, or about its longest known prefix.

    Attributes:
      fate: its status.
      name: the known prefix, with its root.
      place: its current place: "eb.RunConfig", "contrib.layers.fully_connected" for a name below
        `estimator_bridge.legacy.contrib`, "tf.nn.relu", or a full path below estimator_bridge,
        tensorflow or tf_keras.
      how: the advice on what to use instead.
      own: for a name of tf.contrib, its place in `estimator_bridge.legacy.contrib`.
    """

    fate: Fate
    name: str
    place: str = ""
    how: str = ""
    own: str = ""


def canonical(target: str, dialect: Dialect) -> str:
    """Returns the name under which a target is looked up.

    Args:
      target: a dotted name that starts with `tensorflow`, or any other.
      dialect: the meaning of `tensorflow` in the module.
    """
    root = target.partition(".")[0]
    if root != "tensorflow":
        # A program's own package may be named tf2.
        return f"program.{target}" if root in _DIALECTS else target
    below = target[len("tensorflow.") :]
    for start, root in (("compat.v1", "tf1"), ("compat.v2", "tf2")):
        if f"{below}.".startswith(f"{start}."):
            rest = below[len(start) + 1 :]
            # TF1's tf.compat.v1 has the names of its tf; TF2's has its own compat.v1.
            return canonical(f"tensorflow.{rest}", _DIALECTS[root]) if rest else root
    if f"{below}.".startswith("contrib."):
        return f"tf1.{below}"
    if f"{below}.".startswith(tuple(f"{file}." for file in _FILES)):
        return (v1_place_of(target) if dialect is Dialect.TF1 else None) or target
    return ".".join(filter(None, (_ROOTS[dialect], below)))


_ROOTS = {Dialect.TF1: "tf1", Dialect.TF2: "tf2"}
_DIALECTS = {root: dialect for dialect, root in _ROOTS.items()}


@functools.cache
def look_up(name: str) -> NameEntry | None:
    """Finds a name.

    Args:
      name: a name from `canonical`.

    Returns:
      The known facts; None for a name outside of TensorFlow.
    """
    root, _, below = name.partition(".")
    if name.startswith(_ESTIMATOR_FILES):
        return _estimator_file(name)
    if f"{name}.".startswith(f"{_MNIST}."):
        return _in_old_file(_MNIST, name)
    if root not in _DIALECTS:
        return _private(name) if f"{name}.".startswith(_PRIVATE) else None
    if not below:
        return NameEntry(Fate.SAME, name)
    first = below.partition(".")[0]
    if first == "contrib":
        return _of_contrib(below)
    if first == "estimator":
        return _of_estimator(root, below)
    return _of_tensorflow(root, below)


@functools.cache
def _data() -> dict[str, Any]:
    return json.loads(_NAMES.read_text(encoding="utf-8"))


@functools.cache
def _names_in(table: str, namespace: str) -> frozenset[str]:
    return frozenset(_data()[table].get(namespace, "").split())


def _prefixes(name: str) -> list[str]:
    """Returns the prefixes of a name, the longest first."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]


def _of_tensorflow(root: str, below: str) -> NameEntry:
    homes, missing = _data()["homes"], _data()["missing"]
    for prefix in _prefixes(below):
        if prefix in homes:
            return NameEntry(Fate.MOVED, f"{root}.{prefix}", homes[prefix])
        if prefix in missing:
            return NameEntry(Fate.MISSING, f"{root}.{prefix}", how=missing[prefix])
    if below.startswith("_api."):
        return NameEntry(Fate.SAME, f"{root}.{below}")
    if below.startswith(_KERAS_EXPERIMENTAL):
        name = below[len(_KERAS_EXPERIMENTAL) :].partition(".")[0]
        full = f"{root}.{_KERAS_EXPERIMENTAL}{name}"
        if name in NAMES_OF_EXPERIMENTAL:
            return NameEntry(Fate.MOVED, full, NAMES_OF_EXPERIMENTAL[name])
        if name in REMOVED_FROM_EXPERIMENTAL:
            return NameEntry(Fate.MISSING, full, how=REMOVED_FROM_EXPERIMENTAL[name])
    namespace = ""
    tables = _data()[root]
    for name in below.split("."):
        path = f"{namespace}.{name}".lstrip(".")
        if name.startswith("__"):  # what every module and class has
            return NameEntry(Fate.SAME, f"{root}.{path}")
        if path in _OPEN_NAMESPACES:
            return NameEntry(Fate.SAME, f"{root}.{below}")
        if name not in _names_in(root, namespace):
            return NameEntry(Fate.UNKNOWN, f"{root}.{path}")
        if path not in tables:
            return NameEntry(Fate.SAME, f"{root}.{path}")
        namespace = path
    return NameEntry(Fate.SAME, f"{root}.{below}")


def _of_estimator(root: str, below: str) -> NameEntry:
    if below == "estimator":
        return NameEntry(Fate.MOVED, f"{root}.estimator", "eb.v1" if root == "tf1" else "eb")
    homes = _data()["homes"]
    name = below.split(".")[1]
    for prefix in _prefixes(below)[:-1]:
        if prefix in homes and (root == "tf1" or name in V2_PLACES):
            own = prefix if root == "tf2" and "." not in prefix[10:] else homes[prefix]
            return NameEntry(Fate.MOVED, f"{root}.{prefix}", own.replace("estimator.", "eb.", 1))
    if root == "tf2" and f"estimator.{name}" in homes:
        how = f"Is only in tf.compat.v1.estimator: write tf.compat.v1.estimator.{name}."
        return NameEntry(Fate.MISSING, f"{root}.estimator.{name}", how=how)
    if name.startswith("BoostedTrees"):
        how = "Train the trees with the package ydf."
        return NameEntry(Fate.MISSING, f"{root}.estimator.{name}", how=how)
    return NameEntry(Fate.UNKNOWN, f"{root}.{below}")


def _of_contrib(below: str) -> NameEntry:
    """Looks up a name of tf.contrib: "contrib.layers.fully_connected", or by its file's path."""
    parts = below.split(".")
    if len(parts) == 1:
        return NameEntry(Fate.MOVED, "tf1.contrib", "contrib", own="contrib")
    namespace = parts[1]
    whole = f"contrib.{namespace}"
    if namespace not in _data()["contrib"]:
        advice = Namespaces()[namespace] if not namespace.startswith("__") else ""
        kind = Fate.MISSING if namespace in OF_TF1 else Fate.UNKNOWN
        return NameEntry(kind, f"tf1.{whole}", how=advice)
    if namespace == "slim" and len(parts) > 3 and parts[2] in _SLIM_MODULES:
        name, of_slim = parts[3], f"tf1.{whole}.{parts[2]}"
        entry = _of_contrib(f"contrib.{_SLIM_MODULES[parts[2]]}.{name}")
        return NameEntry(entry.fate, f"{of_slim}.{name}", entry.place, entry.how, entry.own)
    file, rest = _file_of(parts[1:])
    if file:
        return _in_file(namespace, file, rest)
    homes, missing = _data()["homes"], _data()["missing"]
    for prefix in _prefixes(below)[:-2]:
        if prefix in homes:
            return NameEntry(Fate.MOVED, f"tf1.{prefix}", homes[prefix], own=prefix)
        if _needs_tf_slim(prefix):
            return _in_tf_slim(f"tf1.{prefix}", prefix.partition(".")[2], parts[3:])
        if prefix in missing:
            return NameEntry(Fate.MISSING, f"tf1.{prefix}", how=missing[prefix])
        inner, _, name = prefix.rpartition(".")
        if name in _names_in("contrib", inner[len("contrib.") :]):
            return NameEntry(Fate.MOVED, f"tf1.{prefix}", prefix, own=prefix)
    if len(parts) == 2:
        return NameEntry(Fate.MOVED, f"tf1.{whole}", whole, own=whole)
    return NameEntry(Fate.MISSING, f"tf1.{whole}.{parts[2]}", how=_SEE_LIST)


def _needs_tf_slim(name: str) -> bool:
    """Returns whether a name is a part of slim that needs the package tf-slim."""
    advice = _data()["missing"].get(name, "")
    return name.startswith("contrib.slim.") and advice.startswith("needs the package tf-slim")


def tf_slim_name(name: str) -> str:
    """Returns the part of slim that a name is or belongs to, if it needs tf-slim.

    Args:
      name: a name from `canonical`, of TensorFlow 1 or of this library.

    Returns:
      "nets", "tfexample_decoder", ...; "" for names that do not need the package tf-slim.
    """
    for start in ("tf1.contrib.slim.", "estimator_bridge.legacy.contrib.slim."):
        for part in name[len(start) :].split(".") if name.startswith(start) else ():
            if _needs_tf_slim(f"contrib.slim.{part}"):
                return part
            if f"{_NETS}{part}" in DEEP_MODULES:
                return "nets"
    return ""


_SEE_LIST = "`estimator-bridge run --list-supported` lists the supported names."


def _file_of(parts: list[str]) -> tuple[str, list[str]]:
    """Splits a name into a file of tf.contrib, or "", and the names below it."""
    if len(parts) < 2 or not (set(_prefixes(".".join(parts))) & DEEP_PACKAGES):
        return "", parts
    for end in range(len(parts), 1, -1):
        path = ".".join(parts[:end])
        if path in DEEP_MODULES - FUNCTIONS_OF_FILES or path in DEEP_PACKAGES:
            return path, parts[end:]
    return "", parts


def _in_file(namespace: str, file: str, rest: list[str]) -> NameEntry:
    name = f"tf1.contrib.{file}"
    own = f"{namespace}.{file.rpartition('.')[2]}"
    if _needs_tf_slim(f"contrib.{own}") or file.startswith(_NETS):
        return _in_tf_slim(name, own, rest)
    if not rest:
        place = own if file in DEEP_MODULES and own in _data()["contrib"] else namespace
        return NameEntry(Fate.MOVED, name, f"contrib.{place}", own=f"contrib.{place}")
    is_another = rest[0] in _data()["differing"].get(own, "").split()
    if rest[0] in _names_in("contrib", namespace) and not is_another:
        entry = _of_contrib(f"contrib.{namespace}.{rest[0]}")
        return NameEntry(entry.fate, f"{name}.{rest[0]}", entry.place, entry.how, entry.own)
    if rest[0] in _names_in("contrib", own):
        place = f"contrib.{own}.{rest[0]}"
        return NameEntry(Fate.MOVED, f"{name}.{rest[0]}", place, own=place)
    advice = _data()["missing"].get(f"contrib.{namespace}.{rest[0]}", _SEE_LIST)
    return NameEntry(Fate.MISSING, f"{name}.{rest[0]}", how=advice)


def _in_tf_slim(name: str, own: str, rest: list[str]) -> NameEntry:
    """Looks up a part of slim that is a module of tf-slim, or a name in one."""
    if own == "slim.nets" and rest:  # this library's slim has the modules of nets directly
        own = "slim"
    place = ".".join(["contrib", own, *rest[:1]])
    return NameEntry(Fate.MOVED, ".".join([name, *rest[:1]]), place, own=place)


def _estimator_file(name: str) -> NameEntry:
    """Looks up a module of the original, or a name in one."""
    for prefix in _prefixes(name):
        if prefix in OLD_MODULES:
            return _in_old_file(prefix, name)
    advice = next((GONE_MODULES[p] for p in GONE_MODULES if name.endswith(f".{p}")), _SEE_LIST)
    return NameEntry(Fate.MISSING, name, how=advice)


def _in_old_file(file: str, name: str) -> NameEntry:
    """Looks up one of OLD_MODULES, or a name in it."""
    names, missing = OLD_MODULES[file]
    rest = name[len(file) + 1 :].split(".", maxsplit=1)[0]
    if not rest:
        return NameEntry(Fate.MOVED, file, "")
    if rest in names:
        return NameEntry(Fate.MOVED, f"{file}.{rest}", _public_name(names[rest]))
    how = missing[rest] if rest in missing else _SEE_LIST  # noqa: SIM401 - no plain dict
    return NameEntry(Fate.MISSING, f"{file}.{rest}", how=how)


def _public_name(place: str) -> str:
    """Returns the shortest public name of a place in this library."""
    home = {
        "estimator_bridge.training.EstimatorV1": "eb.v1.Estimator",
        "estimator_bridge.legacy.v1": "eb.v1",
    }
    if place in home:
        return home[place]
    module, _, name = place.rpartition(".")
    if module == "estimator_bridge.canned" and name.endswith("V1"):
        return f"eb.v1.{name[:-2]}"
    if module == "estimator_bridge.heads" and name.endswith("_v1"):
        return f"eb.v1.{name[:-3]}"
    public = module.partition(".")[2]
    if module == "estimator_bridge" or public in ("tpu", "export", "experimental", "inputs"):
        return place.replace("estimator_bridge", "eb", 1)
    return place


def _private(name: str) -> NameEntry:
    """Looks up a name below tensorflow.python or tensorflow.core."""
    row = _row_of_the_table(name)
    if row is not None:
        return row
    entry = _moved_private(name)
    if entry is not None:
        return entry
    packages = _data()["python"]
    for prefix in _prefixes(name):
        package, _, module = prefix.rpartition(".")
        if prefix in packages or module in packages.get(package, "").split():
            is_module = prefix not in packages
            if is_module or prefix == name or "*" in packages[prefix].split():
                return NameEntry(Fate.SAME, prefix)
            break
    package, _, last = name.rpartition(".")
    for namespace in _public_namespaces(package):
        if last in _names_in("tf1", namespace):
            return NameEntry(Fate.MOVED, name, f"tf.{namespace}.{last}".replace("..", "."))
    if name.startswith(_EXAMPLES):
        how = "It was an example in TensorFlow 1's package. Copy it into the program."
        return NameEntry(Fate.UNKNOWN, name, how=how)
    return NameEntry(Fate.UNKNOWN, name, how="It is a private name that was removed or moved.")


def _row_of_the_table(name: str) -> NameEntry | None:
    """Looks up a private name, or one below it, that has a row of its own."""
    for prefix in _prefixes(name):
        place = NAMES.get(prefix[len(ROOT) :]) if prefix.startswith(ROOT) else None
        if place is not None:
            place_today = f"tf.{place[4:]}" if place.startswith("tf1.") else place
            return NameEntry(Fate.MOVED, prefix, place_today)
        advice = advice_on(prefix)
        if advice is not None:
            return NameEntry(Fate.MISSING, prefix, how=advice)
    return None


def _moved_private(name: str) -> NameEntry | None:
    """Looks up a module that has moved, or a name in one."""
    below = name[len(_PYTHON) :] if name.startswith(_PYTHON) else ""
    for old in sorted(MODULES, key=len, reverse=True):
        if f"{below}.".startswith(f"{old}."):
            place = f"{MODULES[old]}{below[len(old) :]}"
            if not place.startswith("tf1."):
                return NameEntry(Fate.MOVED, name, place)
            entry = look_up(place)
            if entry is not None and entry.name == place and entry.fate is not Fate.UNKNOWN:
                fate = Fate.MOVED if entry.fate is Fate.SAME else entry.fate
                return NameEntry(fate, name, entry.place or f"tf.{place[4:]}", entry.how)
    return None


def _public_namespaces(module: str) -> list[str]:
    """Returns the namespaces of tf.compat.v1 for a private module's names, likeliest first."""
    below = module[len(_PYTHON) :] if module.startswith(_PYTHON) else ""
    fitting = [start for start in NAMESPACES if f"{below}.".startswith((f"{start}.", f"{start}_"))]
    return [*(NAMESPACES[start] for start in sorted(fitting, key=len, reverse=True)), ""]
