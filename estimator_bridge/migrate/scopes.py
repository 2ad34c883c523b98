"""Resolves names in a source: follows imports and aliases through Python's scopes."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

__all__ = ["Binding", "Import", "Reference", "Scopes"]

# Built-in names of Python 2.
_PYTHON_2 = {
    "basestring", "buffer", "cmp", "coerce", "execfile", "file", "intern", "long", "raw_input",
    "reduce", "reload", "unichr", "unicode", "xrange",
}  # fmt: skip
_BUILTINS = {*dir(builtins), *_PYTHON_2, "__file__"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(eq=False)
class Import:
    """One name of an import statement.

    Attributes:
      statement: the whole statement.
      alias: the name in it.
      target: the dotted name of the imported object; starts with "." for a relative import.
      variable: the variable; "*" for all names of a module.
      has_guard: whether it is in a `try` or below an `if`.
    """

    statement: ast.Import | ast.ImportFrom
    alias: ast.alias
    target: str
    variable: str
    has_guard: bool
    uses: list[Reference] = field(default_factory=list)


@dataclass(eq=False)
class Binding:
    """One place that gives a variable its value.

    Attributes:
      import_: the import, if it is one.
      value: the assigned expression, if it is a name or an attribute of one.
    """

    import_: Import | None = None
    value: ast.expr | None = None


class _Scope:
    def __init__(self, parent: _Scope | None, is_class: bool = False):
        self.parent, self.is_class = parent, is_class
        self.bindings: dict[str, list[Binding]] = {}
        self.elsewhere: dict[str, _Scope] = {}  # by `global` and `nonlocal`


@dataclass(eq=False)
class Reference:
    """A name with its attributes: ``tf.nn.relu``.

    Attributes:
      nodes: the name, then each longer part: ``tf``, ``tf.nn``, ``tf.nn.relu``.
      target: its dotted name: "tensorflow.nn.relu", "builtins.xrange"; "" if unknown.
      import_: the import that the name comes from, or None.
      is_store: whether it is assigned to or deleted.
    """

    nodes: tuple[ast.expr, ...]
    target: str
    import_: Import | None
    is_store: bool

    @property
    def node(self) -> ast.expr:
        """The whole expression."""
        return self.nodes[-1]


class Scopes:
    """The variables of a module.

    Args:
      tree: the module.

    Attributes:
      imports: its imports, in order.
      references: the names that it uses, with their attributes, in no particular order.
      names: all variables set anywhere in it.
    """

    def __init__(self, tree: ast.Module):
        self.imports: list[Import] = []
        self.references: list[Reference] = []
        self.names: set[str] = set()
        self._chains: list[tuple[tuple[ast.expr, ...], _Scope]] = []
        self._targets: dict[tuple[int, str], tuple[str, Import | None]] = {}
        self._guards = 0
        module = _Scope(None)
        self._module = module
        for statement in tree.body:
            self._visit(statement, module)
        self._has_star = any(import_.variable == "*" for import_ in self.imports)
        for nodes, scope in self._chains:
            self._resolve(nodes, scope)

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
        method = _VISITORS.get(type(node))
        if method is not None:
            method(self, node, scope)
        else:
            for child in ast.iter_child_nodes(node):
                self._visit(child, scope)

    def _visit_all(self, nodes: Iterable[ast.AST | None], scope: _Scope) -> None:
        for node in nodes:
            if node is not None:
                self._visit(node, scope)

    def _bind(self, name: str, binding: Binding, scope: _Scope) -> None:
        scope = scope.elsewhere.get(name, scope)
        scope.bindings.setdefault(name, []).append(binding)
        self.names.add(name)

    def _name(self, node: ast.Name, scope: _Scope) -> None:
        if isinstance(node.ctx, ast.Store):
            self._bind(node.id, Binding(), scope)
        else:
            self._chains.append(((node,), scope))

    def _attribute(self, node: ast.Attribute, scope: _Scope) -> None:
        nodes: list[ast.expr] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            nodes.append(inner)
            inner = inner.value
        if isinstance(inner, ast.Name):
            self._chains.append(((inner, *reversed(nodes)), scope))
        else:
            self._visit(inner, scope)

    def _assign(self, node: ast.Assign, scope: _Scope) -> None:
        self._visit(node.value, scope)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._bind(target.id, Binding(value=_chain_or_none(node.value)), scope)
            else:
                self._visit(target, scope)

    def _import(self, node: ast.Import, scope: _Scope) -> None:
        for alias in node.names:
            variable = alias.asname or alias.name.partition(".")[0]
            self._bind_import(
                node, alias, alias.name if alias.asname else variable, variable, scope
            )

    def _import_from(self, node: ast.ImportFrom, scope: _Scope) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            target = f"{module}{'' if module.endswith('.') else '.'}{alias.name}"
            self._bind_import(node, alias, target, alias.asname or alias.name, scope)

    def _bind_import(
        self, node: ast.Import | ast.ImportFrom, alias: ast.alias, target: str, variable: str,
        scope: _Scope,
    ) -> None:  # fmt: skip
        import_ = Import(node, alias, target, variable, self._guards > 0)
        self.imports.append(import_)
        if variable != "*":
            self._bind(variable, Binding(import_=import_), scope)

    def _visit_guard(self, node: ast.Try | ast.If, scope: _Scope) -> None:
        self._guards += 1
        for child in ast.iter_child_nodes(node):
            self._visit(child, scope)
        self._guards -= 1

    def _handler(self, node: ast.ExceptHandler, scope: _Scope) -> None:
        if node.name:
            self._bind(node.name, Binding(), scope)
        self._visit_all([node.type, *node.body], scope)

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: _Scope
    ) -> None:
        signature = node.args
        arguments = [*getattr(signature, "posonlyargs", []), *signature.args, *signature.kwonlyargs]
        arguments += [a for a in (signature.vararg, signature.kwarg) if a is not None]
        inner = _Scope(scope)
        self._visit_all([*signature.defaults, *signature.kw_defaults], scope)
        self._visit_all([argument.annotation for argument in arguments], scope)
        body: list[ast.AST]
        if isinstance(node, ast.Lambda):
            body = [node.body]
        else:
            self._visit_all([*node.decorator_list, node.returns], scope)
            self._bind(node.name, Binding(), scope)
            body = list(node.body)
        for argument in arguments:
            self._bind(argument.arg, Binding(), inner)
        self._visit_all(body, inner)

    def _class(self, node: ast.ClassDef, scope: _Scope) -> None:
        self._visit_all([*node.decorator_list, *node.bases, *node.keywords], scope)
        self._bind(node.name, Binding(), scope)
        self._visit_all(node.body, _Scope(scope, is_class=True))

    def _comprehension(self, node: ast.ListComp, scope: _Scope) -> None:
        inner = _Scope(scope)
        for number, part in enumerate(node.generators):
            self._visit(part.iter, inner if number else scope)
            self._visit_all([part.target, *part.ifs], inner)
        values = [getattr(node, field, None) for field in ("elt", "key", "value")]
        self._visit_all(values, inner)

    def _walrus(self, node: ast.NamedExpr, scope: _Scope) -> None:
        self._visit(node.value, scope)
        self._bind(node.target.id, Binding(), scope)  # in a comprehension, one scope too deep

    def _global(self, node: ast.Global, scope: _Scope) -> None:
        scope.elsewhere.update(dict.fromkeys(node.names, self._module))

    def _nonlocal(self, node: ast.Nonlocal, scope: _Scope) -> None:
        for name in node.names:
            holder = _holder(scope.parent, name)
            if holder is not None:
                scope.elsewhere[name] = holder

    def _resolve(self, nodes: tuple[ast.expr, ...], scope: _Scope) -> None:
        target, import_ = self._target(nodes, scope, ())
        is_store = len(nodes) > 1 and not isinstance(nodes[-1].ctx, ast.Load)  # type: ignore[attr-defined]
        reference = Reference(nodes, target, import_, is_store)
        self.references.append(reference)
        if import_ is not None:
            import_.uses.append(reference)

    def _target(
        self, nodes: tuple[ast.expr, ...], scope: _Scope, visited: tuple[Binding, ...]
    ) -> tuple[str, Import | None]:
        root = nodes[0]
        assert isinstance(root, ast.Name)
        name, import_ = self._variable(root.id, scope, visited)
        if not name:
            return "", import_
        attributes = [node.attr for node in nodes[1:] if isinstance(node, ast.Attribute)]
        return ".".join([name, *attributes]), import_

    def _variable(
        self, name: str, scope: _Scope, visited: tuple[Binding, ...]
    ) -> tuple[str, Import | None]:
        holder = _holder(scope, name)
        if holder is None:
            is_builtin = name in _BUILTINS and not self._has_star
            return (f"builtins.{name}" if is_builtin else ""), None
        key = id(holder), name
        if key in self._targets and not visited:
            return self._targets[key]
        targets: list[tuple[str, Import | None]] = []
        for binding in holder.bindings[name]:
            if binding in visited:
                continue
            if binding.import_ is not None:
                targets.append((binding.import_.target, binding.import_))
            elif binding.value is not None:
                value = _chain(binding.value)
                target, _ = self._target(value, holder, (*visited, binding))
                targets.append((target, None))
            else:
                targets.append(("", None))
        result = _common_target(targets)
        if not visited:
            self._targets[key] = result
        return result


def _common_target(targets: list[tuple[str, Import | None]]) -> tuple[str, Import | None]:
    """Returns the target of a variable that is set in several places; "" if they disagree.

    Programs that support both TensorFlows set one variable to either; it then means compat.v1.
    """
    names = {name for name, _ in targets}
    if "" in names or not names:
        return "", None
    if len(names) > 1:
        older = [name for name in names if name.startswith("tensorflow.compat.v1")]
        if len(older) != 1 or not names <= {older[0], older[0].replace(".compat.v1", "")}:
            return "", None
        names = set(older)
    (name,) = names
    imports = [import_ for target, import_ in targets if target == name and import_ is not None]
    return name, imports[0] if len(imports) == 1 == len(targets) else None


def _holder(scope: _Scope | None, name: str) -> _Scope | None:
    """Returns the scope that defines a variable visible from a scope."""
    first = scope
    while scope is not None:
        if name in scope.elsewhere:
            scope = scope.elsewhere[name]
            return scope if name in scope.bindings else None
        if name in scope.bindings and (scope is first or not scope.is_class):
            return scope
        scope = scope.parent
    return None


def _chain(node: ast.expr) -> tuple[ast.expr, ...]:
    nodes = [node]
    while isinstance(nodes[-1], ast.Attribute):
        nodes.append(nodes[-1].value)
    return tuple(reversed(nodes))


def _chain_or_none(node: ast.expr) -> ast.expr | None:
    return node if isinstance(_chain(node)[0], ast.Name) else None


_VISITORS: dict[type, Callable[..., None]] = {
    ast.Assign: Scopes._assign,
    ast.Attribute: Scopes._attribute,
    ast.ClassDef: Scopes._class,
    ast.ExceptHandler: Scopes._handler,
    ast.Global: Scopes._global,
    ast.If: Scopes._visit_guard,
    ast.Import: Scopes._import,
    ast.ImportFrom: Scopes._import_from,
    ast.Name: Scopes._name,
    ast.NamedExpr: Scopes._walrus,
    ast.Nonlocal: Scopes._nonlocal,
    ast.Try: Scopes._visit_guard,
    **dict.fromkeys(_FUNCTIONS, Scopes._function),
    **dict.fromkeys(_COMPREHENSIONS, Scopes._comprehension),
}
