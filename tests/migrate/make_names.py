"""Writes estimator_bridge/migrate/names.json, the names that `check` and `rewrite` know.

python tests/migrate/make_names.py

They start without TensorFlow, so what its API and this library's namespaces hold is written down.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "estimator_bridge" / "migrate" / "names.json"

# Namespaces that are taken as they are: too large, or the same on both sides.
_WHOLE = {"raw_ops", "keras", "compat"}
# Files that have only a part of the names of TensorFlow's file; the namespace has all of them.
_PARTS = {"data.batching", "data.readers"}
# In this order a name's best home is looked for.
_OURS = ("", "tpu", "tpu.experimental", "experimental", "export", "inputs", "training", "v1")
_API = ("tensorflow._api.", "tensorflow.compat.", "tf_keras.api.")
_NO_API = ("typing", "collections", "enum", "functools", "dataclasses", "__future__")


def content() -> dict[str, Any]:
    """The content of the file."""
    import estimator_bridge  # noqa: F401 - before TensorFlow, for Keras 2

    import tensorflow as tf  # isort: skip

    tf1: dict[str, ModuleType] = {}
    _namespaces(tf.compat.v1, "", tf1)
    tf2: dict[str, ModuleType] = {}
    _namespaces(tf, "", tf2)
    contrib = _contrib()
    return {
        "tensorflow": tf.__version__,
        "tf1": _names_of(tf1),
        "tf2": _names_of(tf2),
        "python": _private_modules(tf),
        "contrib": {name: _joined(_public(module)) for name, module in contrib.items()},
        "differing": _differing(contrib),
        "homes": _homes(tf1, contrib),
        "missing": _missing(),
    }


def text() -> str:
    """The file."""
    return json.dumps(content(), indent=1, sort_keys=True) + "\n"


def _names_of(modules: dict[str, ModuleType]) -> dict[str, str]:
    return {path: _joined(_api_names(module)) for path, module in modules.items()}


def _api_names(module: ModuleType) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


def _joined(names: Any) -> str:
    return " ".join(sorted(set(names)))


def _namespaces(module: ModuleType, path: str, modules: dict[str, ModuleType]) -> None:
    modules[path] = module
    for name in _api_names(module):
        below = f"{path}.{name}".lstrip(".")
        value = getattr(module, name)
        is_api = isinstance(value, ModuleType) and name not in _WHOLE | {"estimator"}
        if is_api and value.__name__.startswith(_API):
            _namespaces(value, below, modules)


def _private_modules(tf: Any) -> dict[str, str]:
    """The modules of tensorflow.python and tensorflow.core, by package, and a package's names."""
    packages: dict[str, set[str]] = {}
    root = Path(tf.__file__).parent
    for part in ("python", "core"):
        files = (root / part).rglob("*")
        for file in sorted(file for file in files if file.suffix in (".py", ".so")):
            parts = ["tensorflow", *file.relative_to(root).with_suffix("").parts]
            if parts[-1] == "__init__":
                parts.pop()
                if len(parts) > 2:
                    packages.setdefault(".".join(parts), set()).update(_bound_in(file))
            packages.setdefault(".".join(parts[:-1]), set()).add(parts[-1])
    return {package: _joined(names) for package, names in packages.items()}


def _bound_in(file: Path) -> set[str]:
    """Names that a package's file imports or sets; "*" where it imports all of a module."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    names = {alias.asname or alias.name for n in nodes if isinstance(n, ast.ImportFrom)
             for alias in n.names}  # fmt: skip
    names |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    names |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return {name for name in names if not name.startswith("_")}


def _contrib() -> dict[str, ModuleType]:
    """tf.contrib's namespaces here, and their modules that were files of TensorFlow."""
    from estimator_bridge.legacy.tf1.deep_paths import DEEP_MODULES
    from estimator_bridge_contrib.namespaces import NAMESPACES

    files = {path.rpartition(".")[2] for path in DEEP_MODULES}
    modules = {}
    for name, namespace in sorted(NAMESPACES.items()):
        modules[name] = module = namespace.load()
        for file in pkgutil.iter_modules(getattr(module, "__path__", [])):
            path = f"{name}.{file.name}"
            if path not in _PARTS and (file.name in files or file.name in module.__all__):
                modules[path] = importlib.import_module(f"{module.__name__}.{file.name}")
    return modules


def _public(module: ModuleType) -> list[str]:
    """Returns a module's names for programs: its list, and functions and classes not in it."""
    from estimator_bridge.base.lazy_namespace import loaded_names

    names = list(getattr(module, "__all__", []))
    # vars() would load each name, and with it modules that only this library has.
    for name, value in loaded_names(module).items():
        home = getattr(value, "__module__", None)
        if isinstance(value, ModuleType):
            shown = value.__name__ == f"{module.__name__}.{name}"
        else:
            shown = callable(value) and str(home).partition(".")[0] not in _NO_API
        if shown and not name.startswith("_"):
            names.append(name)
    return names


def _differing(contrib: dict[str, ModuleType]) -> dict[str, str]:
    """By file: its names that mean another object in its namespace."""
    differences = {}
    for path, module in contrib.items():
        namespace = contrib.get(path.rpartition(".")[0])
        both = set(getattr(module, "__all__", [])) & set(getattr(namespace, "__all__", []))
        names = [name for name in both if getattr(module, name) is not getattr(namespace, name)]
        if names:
            differences[path] = _joined(names)
    return differences


def _homes(tf1: dict[str, ModuleType], contrib: dict[str, ModuleType]) -> dict[str, str]:
    """By name below TF1's tf: where the same object is in this library's or TensorFlow's API."""
    from estimator_bridge.base.public_names import V1_PLACES
    from estimator_bridge.legacy.api_modules import api_module_v1
    from estimator_bridge.legacy.tf1.changes import _OWN

    places = _places(tf1)
    homes = {}
    for namespace, module in contrib.items():
        for name in _public(module):
            value = getattr(module, name, None)
            place = _best(places, value, name)
            if place:
                homes[f"contrib.{namespace}.{name}"] = place
    face = api_module_v1()
    for name in V1_PLACES:
        homes.update(_estimator_homes(f"estimator.{name}", getattr(face, name), places))
    for full_name, own in _OWN.items():
        if isinstance(own, str) and own.startswith("estimator_bridge."):
            module, _, name = own.rpartition(".")
            place = _best(places, getattr(importlib.import_module(module), name), name)
            homes[full_name.partition(".")[2]] = place or own
    for name in ("batch_parallel", "cross_replica_sum", "initialize_system", "replicate",
                 "rewrite", "shard", "shutdown_system"):  # fmt: skip
        homes[f"tpu.{name}"] = f"eb.tpu.{name}"
    homes["distribute.cluster_resolver.TPUClusterResolver"] = "eb.tpu.TPUClusterResolver"
    return homes


def _estimator_homes(path: str, value: Any, places: dict[int, list[str]]) -> dict[str, str]:
    if not isinstance(value, ModuleType):
        place = _best(places, value, path.rpartition(".")[2])
        assert place is not None and place.startswith("eb."), path
        return {path: place}
    below = path.partition(".")[2]
    homes = {path: f"eb.{below}"}
    for name in getattr(value, "__all__", []):
        homes[f"{path}.{name}"] = f"eb.{below}.{name}"
    return homes


def _places(tf1: dict[str, ModuleType]) -> dict[int, list[str]]:
    """By object: where it can be had publicly."""
    import estimator_bridge

    places_of: dict[int, list[str]] = {}
    for path in _OURS:
        module = importlib.import_module(".".join(filter(None, (estimator_bridge.__name__, path))))
        for name in module.__all__:
            if not name.startswith("_"):
                place = ".".join(filter(None, ("eb", path, name)))
                places_of.setdefault(id(getattr(module, name)), []).append(place)
    for path, module in tf1.items():
        if path.split(".")[0] not in ("estimator", "contrib"):
            for name in _api_names(module):
                value = getattr(module, name)
                if callable(value):  # numbers and strings are the same objects by chance
                    places_of.setdefault(id(value), []).append(
                        f"tf.{path}.{name}".replace("..", ".")
                    )
    return places_of


def _best(places: dict[int, list[str]], value: Any, name: str) -> str | None:
    """The shortest place of that name; this library's before TensorFlow's."""
    if not (callable(value) or isinstance(value, ModuleType)):
        return None
    fitting = [p for p in places.get(id(value), []) if p.rpartition(".")[2] == name]
    return min(fitting, key=_length) if fitting else None


def _length(place: str) -> tuple[bool, int, str]:
    return not place.startswith("eb."), place.count("."), place


def _missing() -> dict[str, str]:
    from estimator_bridge.legacy.tf1.changes import MISSING
    from estimator_bridge_contrib.namespaces import NAMESPACES

    advice_on = {name.partition(".")[2]: advice for name, advice in MISSING.items()}
    for namespace in NAMESPACES.values():
        for name, advice in namespace.unsupported.items():
            advice_on[f"contrib.{namespace.name}.{name}"] = advice
    return advice_on


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
    print(f"{PAGE.name}: {PAGE.stat().st_size} bytes", file=sys.stderr)
