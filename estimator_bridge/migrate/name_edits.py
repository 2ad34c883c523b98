"""Writes names that have moved in a module's source."""

from __future__ import annotations

from estimator_bridge.migrate.findings import Edit
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.names import Fate, NameEntry, look_up
from estimator_bridge.migrate.scopes import Import, Reference

__all__ = [
    "ROOTS",
    "edits_of_all_uses",
    "edits_of_use",
    "expression",
    "home_of",
    "new_import",
    "tf_name",
    "variable_of",
]

ROOTS = ("tf1", "tf2")
_LIBRARY = "estimator_bridge"
# Places that are imported by themselves, and not used below a variable for the package.
_IMPORTED = (f"{_LIBRARY}.", "tf_keras.")
_FULL = (*_IMPORTED, "tensorflow.")
CONTRIB = f"{_LIBRARY}.legacy.contrib"


def tf_name(name: str) -> str:
    """Returns a name under a root as users write it: "tf.contrib.layers"."""
    root, dot, below = name.partition(".")
    return f"tf{dot}{below}" if root in ROOTS else name


def expression(module: Module, place: str, tensorflow: str) -> tuple[str, str]:
    """Returns the source text for a place, and the import statement that it needs.

    Args:
      module: the module that the text is for.
      place: see `NameEntry.place`; not a full path below estimator_bridge.
      tensorflow: the variable for tf.compat.v1 there.

    Returns:
      The text, and the statement; "" if the module needs none.
    """
    root, dot, below = place.partition(".")
    if root == "tf":
        return f"{tensorflow}{dot}{below}", ""
    if root == "eb":
        name, statement = variable_of(module, _LIBRARY, "eb", "estimator_bridge")
    else:
        name, statement = variable_of(module, CONTRIB, "contrib", "tf_contrib", "eb_contrib")
    return f"{name}{dot}{below}", statement


def variable_of(module: Module, target: str, *names: str) -> tuple[str, str]:
    """Returns the variable for a module, and the import statement it needs, or "".

    Args:
      module: the module that uses the variable.
      target: the full name of the module to import.
      names: names for the variable; the first that is free is used.
    """
    for import_ in module.imports:
        is_top = import_.statement in module.tree.body
        if import_.target == target and not import_.has_guard and is_top:
            return import_.variable, ""
    name = module.free_name(*names, f"{names[0]}_", f"{names[0]}__")
    return name, new_import(target, name)


def new_import(target: str, name: str) -> str:
    """Returns the statement that imports a module or an object in one as a variable."""
    package, _, last = target.rpartition(".")
    alias = "" if last == name else f" as {name}"
    return f"from {package} import {last}{alias}" if package else f"import {last}{alias}"


def edits_of_use(
    module: Module, use: Reference, entry: NameEntry
) -> tuple[tuple[Edit, ...], tuple[str, ...]] | None:
    """Returns the replacement for a use of a name that has moved.

    Returns:
      The edits and the imports that they need. None if the name is used through its own import or
      variable: then the import or the variable's value is rewritten.
    """
    depth = module.depth(use, entry)
    attributes = len(use.nodes) - 1
    base = module.name(use.target.rsplit(".", attributes)[0] if attributes else use.target)
    if entry.fate is not Fate.MOVED or depth < 2 or not _is_kept(base, entry):
        return None
    if entry.place.startswith(_IMPORTED):
        text, statement = _expression_for(module, entry.place)
    else:
        root = use.nodes[0]
        variable = module.text[module.lines.span(root).start : module.lines.span(root).end]
        place = entry.place
        if place.startswith("tf.") and base == "tf2":
            place = entry.own or f"tf.compat.v1.{place[3:]}"
        text, statement = expression(module, place, variable)
    edit = Edit(module.span(use.nodes[0], use.nodes[depth - 1]), text)
    return (edit,), ((statement,) if statement else ())


def _is_kept(base: str, entry: NameEntry) -> bool:
    """Returns whether a use's variable stays TensorFlow, or a namespace that it still has."""
    if base in ROOTS or not entry.place.startswith(_IMPORTED):
        return base in ROOTS
    entry_of_base = look_up(base)
    return entry_of_base is not None and entry_of_base.fate is Fate.SAME


def edits_of_all_uses(
    module: Module, import_: Import
) -> tuple[tuple[Edit, ...], tuple[str, ...]] | None:
    """Returns the replacements for all uses of an import whose names are now in several modules.

    Returns:
      The edits and the imports that they need; None if a use is not of a moved name.
    """
    edits: list[Edit] = []
    imports: list[str] = []
    for use in import_.uses:
        entry = module.entry_of(use)
        if entry is None or entry.fate is not Fate.MOVED or not entry.place or use.is_store:
            return None
        text, statement = _expression_for(module, entry.place)
        depth = module.depth(use, entry)
        edits.append(Edit(module.span(use.nodes[0], use.nodes[depth - 1]), text))
        imports += [statement] if statement else []
    return tuple(edits), tuple(dict.fromkeys(imports))


def _expression_for(module: Module, place: str) -> tuple[str, str]:
    if place.startswith(_IMPORTED):
        name = place.rpartition(".")[2]
        return variable_of(module, place, name, f"eb_{name}")
    return expression(module, place, "")


def home_of(module: Module, import_: Import, entry: NameEntry) -> str | None:
    """Returns the full name of the module or object that an import should now import.

    For a namespace it is the most public module that has all names that the program uses.

    Returns:
      The name; None if no module has all of them.
    """
    if entry.place.startswith(_FULL):
        return entry.place
    entries = [
        entry_of_use for use in import_.uses if (entry_of_use := module.entry_of(use)) is not None
    ]
    moves = [k for k in entries if k.fate is Fate.MOVED and k.name != entry.name]
    parents = {k.place.rpartition(".")[0] for k in moves}
    if entry.own:
        is_namespace = entry.place == entry.own
        if is_namespace and len(parents) == 1 and not _is_used_bare(import_):
            (parent,) = parents
            if parent.split(".")[0] == "eb" and parent != "eb.v1":
                return _full(parent)
        return _full(entry.place if entry.place.startswith("eb.") else entry.own)
    if entry.place in ("eb", "eb.v1"):
        needs_v1 = _is_used_bare(import_) or any(k.place.startswith("eb.v1.") for k in moves)
        return f"{_LIBRARY}.v1" if entry.place == "eb.v1" and needs_v1 else _LIBRARY
    if entry.place:
        return _full(entry.place)
    # A file of the original.
    same_names = all(k.place.rpartition(".")[2] == k.name.rpartition(".")[2] for k in moves)
    if (
        not same_names
        or _is_used_bare(import_)
        or not all(place.startswith("eb") for place in parents)
    ):
        return None
    if parents <= {"eb", "eb.v1"}:
        return f"{_LIBRARY}.v1" if "eb.v1" in parents else _LIBRARY
    return _full(next(iter(parents))) if len(parents) == 1 else None


def _is_used_bare(import_: Import) -> bool:
    """Returns whether a variable is used other than by its attributes."""
    return any(len(use.nodes) == 1 for use in import_.uses)


def _full(place: str) -> str:
    root, dot, below = place.partition(".")
    roots = {"eb": _LIBRARY, "contrib": CONTRIB, "tf": "tensorflow.compat.v1"}
    return f"{roots[root]}{dot}{below}"
