"""What test files of TF 1.15 expect of Python, NumPy and TensorFlow's test helpers of that time.

Nothing here replaces a name that a test judges.
"""

from __future__ import annotations

import ast
import functools
from typing import Any

__all__ = ["install", "with_todays_spellings"]


def with_todays_spellings(source: str, path: str) -> ast.Module:
    """Parses a test file; its calls that NumPy 2 refuses are replaced.

    NumPy 2 has no ``tostring()``, and ``int()`` takes no array of one element any more.
    """
    return ast.fix_missing_locations(_Spellings().visit(ast.parse(source, path)))


class _Spellings(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "tostring" and not node.args:
            called.attr = "tobytes"
        elif isinstance(called, ast.Name) and called.id == "int" and len(node.args) == 1:
            numbers = ast.parse("__import__('numpy').asarray", mode="eval").body
            given = node.args[0]
            item = ast.Attribute(ast.Call(numbers, [given], []), "item", ast.Load())
            is_array = ast.Call(
                ast.Name("hasattr", ast.Load()), [given, ast.Constant("__array__")], []
            )
            node.args[0] = ast.IfExp(is_array, ast.Call(item, [], []), given)
        return node


def install() -> None:
    """Lets TensorFlow's test helpers accept the arguments of 1.15."""
    from tensorflow.python.framework import test_util

    from parity.harness import tensorflow_shims

    tensorflow_shims.install()
    now = test_util.run_in_graph_and_eager_modes

    @functools.wraps(now)
    def run_in_graph_and_eager_modes(func: Any = None, *args: Any, **options: Any) -> Any:
        options.pop("reset_test", None)  # today every test is reset between the two modes
        return now(func, *args, **options)

    test_util.run_in_graph_and_eager_modes = run_in_graph_and_eager_modes
