"""Stand-ins for parts of old Python, NumPy and TensorFlow that test files of TF 1.15 use.

Nothing here replaces a name that a test judges.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import os
import sys
import types
from typing import Any

from parity.contrib.files import ROOT

__all__ = ["install", "weak", "with_todays_spellings"]

_DATA = "learn/python/learn/datasets/data"


def with_todays_spellings(source: str, path: str) -> ast.Module:
    """Parses a test file; its calls that NumPy 2 refuses or computes otherwise are replaced.

    NumPy 2 has no ``tostring()``, no ``np.lib.pad`` and no ``newshape`` of ``np.reshape``, and
    ``int()`` takes no array of one element any more. A scalar that ``np.sqrt()`` returned had no
    say in the type of an array's product; now it makes that float64.
    """
    return ast.fix_missing_locations(_Spellings().visit(ast.parse(source, path)))


class _Spellings(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "tostring" and not node.args:
            function.attr = "tobytes"
        elif ast.unparse(function) in ("np.reshape", "numpy.reshape"):
            for keyword in node.keywords:
                keyword.arg = {"newshape": "shape"}.get(keyword.arg or "", keyword.arg)
        elif ast.unparse(function) == "np.lib.pad":
            node.func = ast.parse("np.pad", mode="eval").body
        elif ast.unparse(function) == "np.sqrt":
            weak = ast.parse("__import__('parity.contrib.shims', fromlist=['_']).weak")
            return ast.Call(weak.body[0].value, [node], [])  # type: ignore[attr-defined]
        elif isinstance(function, ast.Name) and function.id == "int" and len(node.args) == 1:
            numbers = ast.parse("__import__('numpy').asarray", mode="eval").body
            argument = node.args[0]
            item = ast.Attribute(ast.Call(numbers, [argument], []), "item", ast.Load())
            is_array = ast.Call(
                ast.Name("hasattr", ast.Load()), [argument, ast.Constant("__array__")], []
            )
            node.args[0] = ast.IfExp(is_array, ast.Call(item, [], []), argument)
        return node


def weak(value: Any) -> Any:
    """Returns a NumPy float64 scalar as Python's, which has no say in types; others unchanged."""
    return float(value) if isinstance(value, float) else value


def install(checkout: str) -> None:
    """Lets TensorFlow's test helpers accept the arguments of 1.15, and finds its files of data.

    Args:
      checkout: the work tree that holds ``tensorflow/contrib`` with the data sets' files.
    """
    from tensorflow.python import pywrap_tensorflow, pywrap_tfe
    from tensorflow.python.framework import test_util

    from parity.harness import tensorflow_shims

    tensorflow_shims.install()
    _find_data(os.path.join(checkout, ROOT, _DATA))
    _provide_transformed_distribution()
    _provide_fft_labels()
    pywrap_tensorflow.TF_PickUnusedPortOrDie = pywrap_tfe.TF_PickUnusedPortOrDie
    own_decorator = test_util.run_in_graph_and_eager_modes

    @functools.wraps(own_decorator)
    def run_in_graph_and_eager_modes(func: Any = None, *args: Any, **options: Any) -> Any:
        options.pop("reset_test", None)  # today every test is reset between the two modes
        return own_decorator(func, *args, **options)

    test_util.run_in_graph_and_eager_modes = run_in_graph_and_eager_modes


def _provide_transformed_distribution() -> None:
    """Provides the library's TransformedDistribution by the path of a file that TensorFlow left."""
    from tensorflow.python.ops import distributions

    from estimator_bridge_contrib.distributions.transformed import TransformedDistribution

    module = types.ModuleType(f"{distributions.__name__}.transformed_distribution")
    vars(module)["TransformedDistribution"] = TransformedDistribution
    sys.modules[module.__name__] = distributions.transformed_distribution = module


def _provide_fft_labels() -> None:
    """Provides a test helper that chose among kernels of Fourier transforms; now there is one."""
    from tensorflow.python import ops

    module = types.ModuleType(f"{ops.__name__}.spectral_ops_test_util")
    vars(module)["fft_kernel_label_map"] = contextlib.nullcontext
    sys.modules[module.__name__] = ops.spectral_ops_test_util = module


def _find_data(folder: str) -> None:
    """Lets load_iris and load_boston read the files that were beside their code."""
    from estimator_bridge_contrib.learn.datasets import base

    require_path = base._require_path
    base._require_path = lambda path, name: require_path(path or os.path.join(folder, name), name)
