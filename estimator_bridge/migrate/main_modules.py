"""Recognizes modules that start a program."""

from __future__ import annotations

import ast

from estimator_bridge.migrate.module import Module

__all__ = ["is_main"]

_SETS_UP = {
    "append",
    "bridge_v1_behavior",
    "disable_v2_behavior",
    "insert",
    "mark_flag_as_required",
    "set_verbosity",
}


def is_main(module: Module) -> bool:
    """Returns whether a module starts a program.

    That is a notebook, or a module that checks for ``__main__``, contains tests, or does work at
    its top level.

    Only the module's own source counts; a script without any of these is taken for an imported
    module.
    """
    is_notebook = module.file.endswith(".ipynb")
    return is_notebook or any(_starts(statement, module) for statement in module.tree.body)


def _starts(statement: ast.stmt, module: Module) -> bool:
    if isinstance(statement, ast.If):
        names = [node for node in ast.walk(statement.test) if isinstance(node, ast.Name)]
        return any(node.id == "__name__" for node in names)
    if isinstance(statement, ast.ClassDef):
        return any(module.name_of(base).endswith(".test.TestCase") for base in statement.bases)
    if isinstance(statement, ast.With):
        return any("Session" in ast.dump(item.context_expr) for item in statement.items)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return not name.startswith("DEFINE") and name not in _SETS_UP
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        return module.name_of(statement.value.func).endswith(("Session", ".placeholder"))
    return False
