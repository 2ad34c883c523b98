"""Counts the private names of TensorFlow that programs use, and those that it lacks.

`check` knows TensorFlow's private modules, and not the names in them. So a name of a module that is
there may be missing. Each is looked up in the installed TensorFlow here.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from estimator_bridge.migrate.check import examine_all
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.names import Fate, look_up
from estimator_bridge.migrate.options import Options
from estimator_bridge.migrate.rewriting import rewrite_text
from parity.rewriting.names import verdict_of

__all__ = ["private_names"]

_PRIVATE = ("tensorflow.python.", "tensorflow.core.")


def private_names(folders: Iterable[Path]) -> dict[str, Any]:
    """Looks up the private names of repositories.

    Args:
      folders: the repositories; nothing is written there.

    Returns:
      The number of repositories that use any, of different names that `check` takes for there, and
      of those that are missing; and the missing names that `rewrite` writes otherwise, and the
      others.
    """
    options = Options()
    rules = options.rules()
    users = 0
    names: set[str] = set()
    remaining_names: set[str] = set()
    for folder in folders:
        used_names: set[str] = set()
        for file, sources in examine_all([str(folder)], options):
            if sources is None:
                continue
            source, module = sources
            used_names |= _names_in(module)
            after = rewrite_text(module, rules, file.findings)[0]
            remaining_names |= _names_in(
                module if after == source.text else Module(file.path, after)
            )
        users += bool(used_names)
        names |= used_names
    missing = {name for name in names if verdict_of(name) != "right"}
    return {
        "repositories": users,
        "names": len(names),
        "missing": len(missing),
        "rewritten": sorted(missing - remaining_names),
        "by hand": sorted(missing & remaining_names),
    }


def _names_in(module: Module) -> set[str]:
    """Returns the private names of a source that `check` takes for there, modules included."""
    targets = {binding.target for binding in module.imports if binding.variable != "*"}
    targets |= {use.target for use in module.scopes.references if use.import_ is not None}
    names = set()
    for target in targets:
        if target.startswith(_PRIVATE):
            api_entry = look_up(module.name(target))
            if api_entry is not None and api_entry.fate is Fate.SAME:
                names.add(target)
    return names
