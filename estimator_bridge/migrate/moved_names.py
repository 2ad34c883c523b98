"""The common part of the rules for moved names of tf.estimator, tf.contrib and others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import edits_of_use, tf_name
from estimator_bridge.migrate.names import Fate
from estimator_bridge.migrate.scopes import Reference

__all__ = ["find_moved_uses"]

_RESOLVER = "distribute.cluster_resolver.TPUClusterResolver"


def find_moved_uses(
    module: Module, code: str, below: tuple[str, ...], but: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """Finds the uses of moved names.

    Args:
      module: the module to search.
      code: the rule's code.
      below: the namespaces of the names.
      but: names directly below these that another rule handles.

    Yields:
      A finding for each name that is used as an attribute of TensorFlow. The rule on imports
      handles names that are imported by themselves.
    """
    starts = tuple(f"{namespace}." for namespace in below)
    for use, entry in module.uses:
        name = f"{entry.name}."
        if entry.fate is not Fate.MOVED or not name.startswith(starts):
            continue
        if name.split(".")[1] in but:
            continue
        replacement = edits_of_use(module, use, entry)
        if replacement is None:
            continue
        edits, imports = replacement
        if entry.name.endswith(_RESOLVER) and not _is_called(module, use):
            yield module.finding(
                code,
                use.nodes[0],
                Severity.BY_HAND,
                f"{tf_name(entry.name)} is used as a class",
                f"{edits[0].text} is a function: compare with "
                "tf.distribute.cluster_resolver.ClusterResolver.",
            )
            continue
        if use.is_store and module.depth(use, entry) == len(use.nodes):
            yield module.finding(
                code,
                use.node,
                Severity.BY_HAND,
                f"{tf_name(entry.name)} is set",
                f"This patches a name that has moved: set it on {edits[0].text}, and check that "
                "the caller uses that.",
            )
            continue
        yield module.finding(
            code,
            use.nodes[0],
            Severity.REWRITTEN,
            f"{tf_name(entry.name)} has moved",
            _how(edits[0].text, imports),
            edits,
            imports,
        )


def _how(text: str, imports: tuple[str, ...]) -> str:
    """What to write; and where its first word comes from, unless that is `eb`."""
    others = [f"`{line}`" for line in imports if not line.endswith(" as eb")]
    return f"Write {text}, with {' and '.join(others)}." if others else f"Write {text}."


def _is_called(module: Module, use: Reference) -> bool:
    parent = module.parents.get(use.node)
    return isinstance(parent, ast.Call) and parent.func is use.node
