"""Writes the source of an `eb.Model`."""

from __future__ import annotations

import ast
import builtins
import textwrap

from estimator_bridge.migrate.eb_model.data_flow import sets
from estimator_bridge.migrate.eb_model.modes import MODES
from estimator_bridge.migrate.eb_model.refusal import CannotTakeApartError
from estimator_bridge.migrate.eb_model.slicing import Part, Parts
from estimator_bridge.migrate.module import Module

__all__ = ["model_source"]

_ORDER = ("features", "labels", "mode", "params", "config")


def model_source(module: Module, function: ast.FunctionDef, parts: Parts, program: str) -> str:
    """Returns the source of the module with the parts and the Model.

    Args:
      module: the program's module.
      function: its model_fn.
      parts: the parts of the model_fn.
      program: the program's import name.
    """
    body = "\n\n\n".join(_function(module, part, parts.outputs) for part in parts.parts)
    names = "".join(f"    {part.name}={part.name},\n" for part in parts.parts)
    imports = _imports(module, function, parts, program)
    return (
        f'"""The model of {program}.{function.name}, written once for Estimator and TPUEstimator.'
        f'"""\n\n{imports}\n\n\n{body}\n\n\nmodel = eb.Model(\n{names})\n'
    )


def _imports(module: Module, function: ast.FunctionDef, parts: Parts, program: str) -> str:
    local: set[str] = set(_ORDER)
    for part in parts.parts:
        local |= set().union(*map(sets, part.statements), set())
    names = parts.reads() - local - {*dir(builtins), "eb"} - set(parts.outputs)
    tops = {f.variable: f for f in module.imports if f.statement in module.tree.body}
    statements = {"import estimator_bridge as eb"}
    own: list[str] = []
    for name in sorted(names):
        import_ = tops.get(name)
        if import_ is None:
            own.append(name)
        elif isinstance(import_.statement, ast.ImportFrom):
            home = "." * import_.statement.level + (import_.statement.module or "")
            statements.add(f"from {home} import {ast.unparse(import_.alias)}")
        else:
            statements.add(f"import {ast.unparse(import_.alias)}")
    for name in own:
        if name not in module.scopes.names:
            raise CannotTakeApartError(function, f"{name} is not a variable of the module")
    if own:
        statements.add(f"from {program} import {', '.join(own)}")
    first = sorted(statements, key=lambda s: (not s.endswith(" eb"), s.startswith("from"), s))
    return "\n".join(first)


def _function(module: Module, part: Part, outputs: list[str]) -> str:
    arguments = [name for name in _ORDER if name in part.arguments]
    lines: list[str] = []
    if part.outputs:
        single = len(outputs) == 1
        alone = single and outputs[0] in ("logits", "outputs")
        arguments.append(outputs[0] if alone else "outputs")
        if single and not alone:
            lines.append(f"{outputs[0]} = outputs")
        elif not single:
            lines += [f'{name} = outputs["{name}"]' for name in part.outputs]
    lines += [_text(module, statement) for statement in part.statements]
    for mode, statements in part.effects.items():
        texts = [_text(module, statement) for statement in statements]
        if mode:
            lines.append(f'if mode == "{MODES[mode]}":')
            texts = [textwrap.indent(text, "    ") for text in texts]
        lines += texts
    lines.append(f"return {_result_text(part, outputs)}")
    body = textwrap.indent("\n".join(lines), "    ")
    return f"def {part.name}({', '.join(arguments)}):\n{body}"


def _result_text(part: Part, outputs: list[str]) -> str:
    if part.result is not None:
        return ast.unparse(part.result)
    if len(outputs) == 1:
        return outputs[0]
    return "{" + ", ".join(f'"{name}": {name}' for name in outputs) + "}"


def _text(module: Module, statement: ast.stmt) -> str:
    """Returns a statement's own text without indentation."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    lines = [module.lines.line(number).rstrip("\r\n") for number in range(first, last + 1)]
    if _has_long_strings(statement):
        return ast.unparse(statement)
    before = lines[0][: statement.col_offset]
    if before.strip() or any(line.strip() and not line.startswith(before) for line in lines):
        return ast.unparse(statement)
    return "\n".join(line[len(before) :] for line in lines)


def _has_long_strings(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, (str, bytes))
        and node.end_lineno != node.lineno
        for node in ast.walk(statement)
    )
