from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.findings import Edit, Finding, Severity
from estimator_bridge.migrate.import_statements import NewImport, rewritten
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import edits_of_all_uses, home_of, shown
from estimator_bridge.migrate.names import Fate, Known, look_up
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.rules.missing_names import instead
from estimator_bridge.migrate.scopes import Import

_COMPAT = "tensorflow.compat.v1"


@rule("EB016", "an import from a module that has moved")
def moved_imports(module: Module) -> Iterator[Finding]:
    """The modules of `tf.contrib`, of Estimator and of TensorFlow 1 have moved.

    The import changes; its uses stay. An import of a namespace becomes an import of the most public
    module that has all the names the program uses. An unused name that no longer exists is removed.

    Before:

    ```python
    from tensorflow.contrib import layers, bigtable, tpu
    from tensorflow.python.estimator import model_fn as model_fn_lib

    def model_fn(features, labels, mode):
        logits = layers.fully_connected(features, 2)
        if mode == model_fn_lib.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode, predictions=logits)
    ```

    After:

    ```python
    from estimator_bridge.legacy.contrib import layers
    from estimator_bridge import tpu
    import estimator_bridge as model_fn_lib

    def model_fn(features, labels, mode):
        logits = layers.fully_connected(features, 2)
        if mode == model_fn_lib.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode, predictions=logits)
    ```
    """
    statements: dict[ast.stmt, list[Import]] = {}
    for found in module.imports:
        if found.bound != "*":
            statements.setdefault(found.statement, []).append(found)
    for statement, names in statements.items():
        yield from _of_statement(module, statement, names)


def _of_statement(module: Module, statement: ast.stmt, names: list[Import]) -> Iterator[Finding]:
    assert isinstance(statement, (ast.Import, ast.ImportFrom))
    today: list[NewImport | None] = []
    said: list[str] = []
    edits: list[Edit] = []
    imports: list[str] = []
    for found in names:
        known = look_up(module.name(found.target))
        new: NewImport | None = NewImport.of(found)
        if known is not None and not _is_root(found):
            if known.fate is Fate.MISSING or known.fate is Fate.UNKNOWN:
                if not found.uses and not found.guarded and known.fate is Fate.MISSING:
                    new = None
                    said.append(f"{shown(known.name)} no longer exists and is not used")
                else:
                    yield _lacking(module, found, known)
            elif known.place.startswith("contrib.slim.") and known.place.count(".") > 2:
                yield _in_a_module_of_slim(module, found, known)
            else:
                target = _today(module, found, known)
                uses = edits_of_all_uses(module, found) if target is None else None
                if uses is not None:
                    new = None
                    said.append(f"the names of {shown(known.name)} are in several modules now")
                    edits += uses[0]
                    imports += uses[1]
                elif target is None:
                    yield _scattered(module, found, known)
                elif target != found.target:
                    new = NewImport(target, found.bound)
                    said.append(f"{shown(known.name)} has moved")
        today.append(new)
    if said:
        edit, text = rewritten(module, statement, names, today)
        how = "Leave it out." if text == "nothing" else f"Write `{text}`."
        yield module.finding(
            "EB016", statement, Severity.REWRITTEN, "; ".join(said), how,
            (edit, *edits), tuple(imports),
        )  # fmt: skip


def _is_root(found: Import) -> bool:
    """Returns whether an import is `import tensorflow`, which another rule handles."""
    return isinstance(found.statement, ast.Import) and found.target == "tensorflow"


def _today(module: Module, found: Import, known: Known) -> str | None:
    """Returns the full name of an import's current target."""
    if known.fate is Fate.MOVED:
        return home_of(module, found, known)
    name = module.name(found.target)
    if name.startswith("tf1.") and not found.target.startswith(_COMPAT):
        return f"{_COMPAT}.{name[len('tf1.') :]}"
    return found.target


def _lacking(module: Module, found: Import, known: Known) -> Finding:
    gone = known.fate is Fate.MISSING
    return module.finding(
        "EB016",
        found.statement,
        Severity.UNAVAILABLE if gone else Severity.BY_HAND,
        f"{shown(known.name)} no longer exists" if gone else f"{shown(known.name)} is not there",
        instead(known.how),
    )


def _in_a_module_of_slim(module: Module, found: Import, known: Known) -> Finding:
    """Returns the finding for `from tensorflow.contrib.slim.nets.vgg import vgg_16`."""
    file, _, name = known.place[len("contrib.slim.") :].rpartition(".")
    return module.finding(
        "EB016",
        found.statement,
        Severity.BY_HAND,
        f"{shown(known.name)} is in a module of the package tf-slim",
        f"Write `from estimator_bridge.legacy.contrib.slim import {file}`, and {file}.{name}.",
    )


def _scattered(module: Module, found: Import, known: Known) -> Finding:
    places = sorted({use.place for used in found.uses if (use := module.known(used)) and use.place})
    return module.finding(
        "EB016",
        found.statement,
        Severity.BY_HAND,
        f"the names of {shown(known.name)} are in several modules now",
        f"Import each from its own module: {', '.join(places)}.",
    )
