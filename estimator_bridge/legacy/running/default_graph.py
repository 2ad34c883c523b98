"""Detects sources that import tensorflow.compat.v1 and rely on TensorFlow 1's behavior.

In TensorFlow 1.14 and 1.15, ``import tensorflow.compat.v1 as tf`` was TensorFlow 1, with a graph at
the top level. Such a program does not say that it needs one. But it opens sessions on that graph,
which would be empty in TensorFlow 2, or it reads the ``.value`` of a shape's dimensions, which are
plain numbers in TensorFlow 2. A session has its own graph if it is opened inside ``with
tf.Graph().as_default():``, or in a function that is called only from there.
"""

from __future__ import annotations

import ast

__all__ = ["Signs", "signs_of"]

_SESSIONS = {"Session", "InteractiveSession"}
_TEST_SESSIONS = {"cached_session", "session", "test_session"}
_V2 = "tensorflow.compat.v2."
# A program that uses one of these names knows TensorFlow 2, and has made its own choice.
_CHOICES = {
    "GradientTape",
    "disable_eager_execution",
    "disable_v2_behavior",
    "enable_eager_execution",
    "enable_v2_behavior",
    "as_numpy_iterator",
    "numpy",
}


class Signs:
    """The signs that a source relies on TensorFlow 1's behavior.

    Attributes:
      line: the line of the first sign of TensorFlow 1's behavior; 0 if there is none.
      what: the construct on that line.
      is_explicit: whether the source itself chooses graphs or eager execution.
    """

    def __init__(self) -> None:
        self.line, self.what = 0, ""
        self.is_explicit = False

    def saw(self, what: str, line: int) -> None:
        """Keeps the first sign in the source."""
        if not self.line or line < self.line:
            self.line, self.what = line, what


def signs_of(source: bytes) -> Signs:
    """Looks for signs in a source.

    Args:
      source: the source of a module.

    Returns:
      The signs; none if the source is not Python 3, or does not import compat.v1.
    """
    signs = Signs()
    if b"compat" not in source or b"tensorflow" not in source:
        return signs
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return signs
    visitor = _Visitor(signs)
    visitor.visit(tree)
    for function, line in visitor.sessions:
        if not visitor.runs_in_own_graphs(function):
            signs.saw("a session of the default graph", line)
    return signs


class _Visitor(ast.NodeVisitor):
    """Finds signs, sessions, and functions called inside the program's own graphs.

    Attributes:
      sessions: the function and line of each session that is not inside such a graph.
    """

    def __init__(self, signs: Signs):
        self._signs = signs
        self._own_graphs = 0
        self._function = ""
        self.sessions: list[tuple[str, int]] = []
        self._called_in_own_graphs: set[str] = set()
        self._callers: dict[str, set[str]] = {}  # by function name: its callers outside such graphs

    def runs_in_own_graphs(self, function: str, visited: frozenset[str] = frozenset()) -> bool:
        """Returns whether the source calls a function, and only inside its own graphs."""
        others = self._callers.get(function, set()) - visited - {function}
        if "" in others or not (others or function in self._called_in_own_graphs):
            return False
        visited |= {function}
        return all(self.runs_in_own_graphs(caller, visited) for caller in others)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before, self._function = self._function, node.name
        self.generic_visit(node)
        self._function = before

    def visit_Import(self, node: ast.Import) -> None:
        self._signs.is_explicit |= any(f"{a.name}.".startswith(_V2) for a in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        names = [f"{node.module}.{alias.name}." for alias in node.names]
        self._signs.is_explicit |= any(name.startswith(_V2) for name in names)

    def visit_With(self, node: ast.With) -> None:
        before = self._own_graphs
        for item in node.items:
            self.visit(item)
            self._own_graphs += _is_own_graph(item.context_expr)
        for statement in node.body:
            self.visit(statement)
        self._own_graphs = before

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._signs.is_explicit |= node.attr in _CHOICES
        if node.attr == "value" and _is_dimension(node.value):
            self._signs.saw("the .value of a dimension", node.lineno)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and not self._own_graphs and _opens(node):
            self.sessions.append((self._function, node.lineno))
        name = _name_of(node.func)
        if self._own_graphs:
            self._called_in_own_graphs.add(name)
        else:
            self._callers.setdefault(name, set()).add(self._function)
        self.generic_visit(node)


def _is_dimension(node: ast.expr) -> bool:
    """Returns whether an expression looks like `x.shape[0]` or `x.get_shape()[0]`."""
    if not isinstance(node, ast.Subscript):
        return False
    shape = node.value
    if isinstance(shape, ast.Call):
        return isinstance(shape.func, ast.Attribute) and shape.func.attr == "get_shape"
    return isinstance(shape, ast.Attribute) and shape.attr == "shape"


def _name_of(function: ast.expr) -> str:
    """Returns the name of a called function or method."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_own_graph(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "as_default"
        and not (isinstance(node.func.value, ast.Name) and "sess" in node.func.value.id)
    )


def _opens(node: ast.Call) -> bool:
    """Returns whether a call of an attribute opens a session without its own graph."""
    assert isinstance(node.func, ast.Attribute)
    if any(keyword.arg == "graph" for keyword in node.keywords):
        return False
    of = node.func.value
    name = of.id if isinstance(of, ast.Name) else ""
    if name == "self":
        return node.func.attr in _TEST_SESSIONS
    return bool(name) and node.func.attr in _SESSIONS
