from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.findings import Edit, Finding, Severity
from estimator_bridge.migrate.import_statements import NewImport, rewrite_statement
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import edits_of_all_uses, home_of, tf_name
from estimator_bridge.migrate.names import Fate, NameEntry, look_up
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.rules.removed_names import instead
from estimator_bridge.migrate.scopes import Import

_COMPAT = "tensorflow.compat.v1"


@rule("EB016", "an import from a module that has moved", under_run=True)
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
    for import_ in module.imports:
        if import_.variable != "*":
            statements.setdefault(import_.statement, []).append(import_)
    for statement, names in statements.items():
        yield from _check_statement(module, statement, names)


def _check_statement(module: Module, statement: ast.stmt, names: list[Import]) -> Iterator[Finding]:
    assert isinstance(statement, (ast.Import, ast.ImportFrom))
    today: list[NewImport | None] = []
    reasons: list[str] = []
    edits: list[Edit] = []
    imports: list[str] = []
    for import_ in names:
        entry = look_up(module.name(import_.target))
        new: NewImport | None = NewImport.of(import_)
        if entry is not None and not _is_root(import_):
            if entry.fate is Fate.MISSING or entry.fate is Fate.UNKNOWN:
                if not import_.uses and not import_.has_guard and entry.fate is Fate.MISSING:
                    new = None
                    reasons.append(f"{tf_name(entry.name)} no longer exists and is not used")
                else:
                    yield _report_missing(module, import_, entry)
            elif entry.place.startswith("contrib.slim.") and entry.place.count(".") > 2:
                yield _report_slim_module(module, import_, entry)
            else:
                target = _target_today(module, import_, entry)
                uses = edits_of_all_uses(module, import_) if target is None else None
                if uses is not None:
                    new = None
                    reasons.append(f"the names of {tf_name(entry.name)} are in several modules now")
                    edits += uses[0]
                    imports += uses[1]
                elif target is None:
                    yield _report_scattered(module, import_, entry)
                elif target != import_.target:
                    new = NewImport(target, import_.variable)
                    reasons.append(f"{tf_name(entry.name)} has moved")
        today.append(new)
    if reasons:
        edit, text = rewrite_statement(module, statement, names, today)
        how = "Leave it out." if text == "nothing" else f"Write `{text}`."
        yield module.finding(
            "EB016", statement, Severity.REWRITTEN, "; ".join(reasons), how,
            (edit, *edits), tuple(imports),
        )  # fmt: skip


def _is_root(import_: Import) -> bool:
    """Returns whether an import is `import tensorflow`, which another rule handles."""
    return isinstance(import_.statement, ast.Import) and import_.target == "tensorflow"


def _target_today(module: Module, import_: Import, entry: NameEntry) -> str | None:
    """Returns the full name of an import's current target."""
    if entry.fate is Fate.MOVED:
        return home_of(module, import_, entry)
    name = module.name(import_.target)
    if name.startswith("tf1.") and not import_.target.startswith(_COMPAT):
        return f"{_COMPAT}.{name[len('tf1.') :]}"
    return import_.target


def _report_missing(module: Module, import_: Import, entry: NameEntry) -> Finding:
    is_gone = entry.fate is Fate.MISSING
    return module.finding(
        "EB016",
        import_.statement,
        Severity.UNAVAILABLE if is_gone else Severity.BY_HAND,
        f"{tf_name(entry.name)} {'no longer exists' if is_gone else 'is not there'}",
        instead(entry.how),
    )


def _report_slim_module(module: Module, import_: Import, entry: NameEntry) -> Finding:
    """Returns the finding for `from tensorflow.contrib.slim.nets.vgg import vgg_16`."""
    file, _, name = entry.place[len("contrib.slim.") :].rpartition(".")
    return module.finding(
        "EB016",
        import_.statement,
        Severity.BY_HAND,
        f"{tf_name(entry.name)} is in a module of the package tf-slim",
        f"Write `from estimator_bridge.legacy.contrib.slim import {file}`, and {file}.{name}.",
    )


def _report_scattered(module: Module, import_: Import, entry: NameEntry) -> Finding:
    places = sorted(
        {use.place for one in import_.uses if (use := module.entry_of(one)) and use.place}
    )
    return module.finding(
        "EB016",
        import_.statement,
        Severity.BY_HAND,
        f"the names of {tf_name(entry.name)} are in several modules now",
        f"Import each from its own module: {', '.join(places)}.",
    )
