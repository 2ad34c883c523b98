"""`estimator-bridge rewrite --to eb-model FILE`: writes the model and its test."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path
from typing import Any

from estimator_bridge.base.foreign_json import foreign_json
from estimator_bridge.base.terminal_text import printable
from estimator_bridge.migrate.atomic_writes import write_new
from estimator_bridge.migrate.check import examine_all
from estimator_bridge.migrate.eb_model.data_flow import reads
from estimator_bridge.migrate.eb_model.refusal import CannotTakeApartError
from estimator_bridge.migrate.eb_model.slicing import take_apart
from estimator_bridge.migrate.eb_model.source import model_source
from estimator_bridge.migrate.eb_model.test_source import defines_flags, find_inputs, test_source
from estimator_bridge.migrate.main_modules import is_main
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.options import Options
from estimator_bridge.migrate.rewriting import rewrite_text

__all__ = ["eb_model_files", "write_eb_model"]

_PARAMETERS = {"features", "labels", "mode"}


def write_eb_model(path: str, options: Options, inputs: dict[str, str], params: str) -> int:
    """Writes NAME_eb_model.py and test_NAME_eb_model.py next to a program, and prints their paths.

    Args:
      path: the program; it must need no other rewriting.
      options: the other options of `rewrite`.
      inputs: the program's input functions for the test, by "train" and "eval".
      params: the estimators' params for the test, as JSON.

    Returns:
      0 if they were written, 1 if the program cannot be taken apart.

    Raises:
      ValueError: `params` is not a JSON object, or the program cannot be read.
    """
    try:
        parameters = foreign_json(params, is_nan_allowed=True)
    except ValueError as error:
        raise ValueError(f"--params is not JSON: {error}") from None
    if not isinstance(parameters, dict):
        raise ValueError(f"--params is not a JSON object: {params}")
    try:
        files = eb_model_files(path, options, inputs, parameters)
    except CannotTakeApartError as error:
        place = f"{path}:{error.line}" if error.line else path
        print(printable(f"{place}: not taken apart: {error.reason}"), file=sys.stderr)
        return 1
    there = [name for name in files if os.path.exists(name)]
    if there:
        print(
            f"{printable(', '.join(there))}: already exists; nothing was written", file=sys.stderr
        )
        return 1
    write_new({name: text.encode() for name, text in files.items()})
    for name in files:
        print(f"{printable(name)}: written")
    return 0


def eb_model_files(
    path: str, options: Options, inputs: dict[str, str], params: dict[str, Any]
) -> dict[str, str]:
    """Returns the files to write, by path.

    Raises:
      CannotTakeApartError: the program cannot be taken apart.
      ValueError: it cannot be read.
    """
    ((report, read),) = examine_all([path], options)
    if read is None:
        raise ValueError(f"{path}: {report.passed_over}")
    source, module = read
    if rewrite_text(module, options.rules(), report.findings)[0] != source.text:
        raise CannotTakeApartError(
            None, f"rewrite it first, and read the messages: estimator-bridge rewrite --write "
            f"{path}",
        )  # fmt: skip
    _check_importable(module)
    program = _import_name(Path(path))
    function = _model_fn(module)
    parts = take_apart(function, _helpers(module, function))
    input_functions = find_inputs(module, inputs)
    stem = Path(path).stem
    folder = Path(path).parent
    package = program.rpartition(".")[0]
    model = f"{package}.{stem}_eb_model" if package else f"{stem}_eb_model"
    return {
        str(folder / f"{stem}_eb_model.py"): model_source(module, function, parts, program),
        str(folder / f"test_{stem}_eb_model.py"): test_source(
            program, model, function.name, input_functions, params, parts, defines_flags(module)
        ),
    }


def _helpers(module: Module, function: ast.FunctionDef) -> list[ast.FunctionDef]:
    """Returns the functions of a module that a model_fn uses, and those that they use."""
    tops = {node.name: node for node in module.tree.body if isinstance(node, ast.FunctionDef)}
    helpers: dict[str, ast.FunctionDef] = {}
    todo: list[ast.FunctionDef] = [function]
    while todo:
        for name in reads(todo.pop()):
            if name in tops and name not in helpers and tops[name] is not function:
                helpers[name] = tops[name]
                todo.append(tops[name])
    return list(helpers.values())


def _check_importable(module: Module) -> None:
    has_guard = any(
        isinstance(statement, ast.If) and "__name__" in reads(statement.test)
        for statement in module.tree.body
    )
    if is_main(module) and not has_guard:
        raise CannotTakeApartError(
            None, 'it runs when it is imported: move that code below `if __name__ == "__main__":`'
        )


def _import_name(path: Path) -> str:
    path = path.resolve()
    names = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").exists():
        names.insert(0, folder.name)
        folder = folder.parent
    wrong = [name for name in names if not name.isidentifier()]
    if wrong:
        raise CannotTakeApartError(None, f"{wrong[0]!r} is not a name that Python can import")
    return ".".join(names)


def _model_fn(module: Module) -> ast.FunctionDef:
    candidates = [
        node
        for node in module.nodes(ast.FunctionDef)
        if {a.arg for a in (*node.args.args, *node.args.kwonlyargs)} >= _PARAMETERS
    ]
    top = [node for node in candidates if node in module.tree.body]
    if len(top) == 1:
        return top[0]
    if not candidates:
        raise CannotTakeApartError(None, "no function takes features, labels and mode")
    if not top:
        raise CannotTakeApartError(
            candidates[0], f"{candidates[0].name} is inside a function or class, and may read its "
            "variables: move it to the top of the module",
        )  # fmt: skip
    names = ", ".join(f"{node.name} (line {node.lineno})" for node in top)
    raise CannotTakeApartError(None, f"there are several model_fns: {names}")
