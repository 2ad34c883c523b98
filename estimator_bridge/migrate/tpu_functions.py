"""Finds the functions of a module that run on a TPU's cores, and those that make their input."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from typing import Union
from weakref import WeakKeyDictionary

from estimator_bridge.migrate.module import Module

__all__ = ["Function", "TpuFunctions", "functions_of", "tpu_functions", "without_nested"]

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ROOTS = ("tf1.", "tf2.", "estimator_bridge.", "tensorflow_estimator.")
_OF_A_TPU = ("TPUEstimator", "TPUEstimatorSpec", "CrossShardOptimizer")
# Variables and arguments with these names hold code that runs on the host.
_HOSTS = re.compile(r"host_call|eval_metrics?$|metric_fn|metrics_fn|scaffold|input_fn|hook", re.I)


class TpuFunctions:
    """The functions that a module defines for TPUEstimator.

    Args:
      module: the module.

    Attributes:
      is_used: whether the module names TPUEstimator, its spec, or CrossShardOptimizer.
    """

    def __init__(self, module: Module):
        self._module = module
        self._functions = functions_of(module)
        self._by_name: dict[str, list[Function]] = {}
        for function in self._functions:
            self._by_name.setdefault(function.name, []).append(function)
        uses = [
            use.node
            for use in module.scopes.references
            if use.target.endswith(_OF_A_TPU) and module.name(use.target).startswith(_ROOTS)
        ]
        self.is_used = bool(uses)
        self._specs = [node for node in uses if self._module.name_of(node).endswith("Spec")]

    @functools.cached_property
    def on_cores(self) -> list[Function]:
        """The functions that build operations for a TPU's cores.

        These are the functions that create a TPUEstimatorSpec, those passed as `model_fn`, and the
        module's own functions that these use, except those for the host: of `host_call`,
        `eval_metrics` and `scaffold_fn`.
        """
        functions: list[Function] = []
        waiting = [f for node in self._specs if (f := self._around(node)) is not None]
        if self.is_used:
            for argument in self._module.nodes(ast.keyword):
                if argument.arg == "model_fn" and isinstance(argument.value, ast.Name):
                    waiting += self._by_name.get(argument.value.id, [])
        while waiting:
            function = waiting.pop()
            if function in functions:
                continue
            functions.append(function)
            for node in without_nested(function):
                if isinstance(node, ast.Name) and not self.is_for_host(node):
                    waiting += self._by_name.get(node.id, [])
        return sorted(functions, key=lambda function: function.lineno)

    def calls_on_cores(self) -> Iterator[tuple[ast.Call, str]]:
        """Yields calls in such functions and the called names, without those for host or CPU."""
        for function in self.on_cores:
            for node in without_nested(function):
                if isinstance(node, ast.Call):
                    name = self._module.name_of(node.func)
                    if name and not self.is_for_host(node) and not self._is_guarded(node):
                        yield node, name

    @functools.cached_property
    def inputs(self) -> list[Function]:
        """The functions that make batches of size ``params["batch_size"]``, or should.

        Their names contain `input_fn`, and they have an argument `params`; in a module that does
        not name TPUEstimator, only those that look up that size.
        """
        return [
            function
            for function in self._functions
            if "input_fn" in function.name
            and any(argument.arg == "params" for argument in function.args.args)
            and (self.is_used or self.asks_for_batch_size(function))
        ]

    def asks_for_batch_size(self, function: Function) -> bool:
        """Returns whether a function looks up the batch size in its params."""
        return any(map(_is_batch_size, ast.walk(function)))

    def _around(self, node: ast.AST) -> Function | None:
        while node in self._module.parents:
            node = self._module.parents[node]
            if isinstance(node, _FUNCTIONS):
                return node
        return None

    def enclosing(self, function: Function) -> list[Function]:
        """Returns a function and the functions around it, innermost first."""
        functions: list[Function] = []
        around: Function | None = function
        while around is not None:
            functions.append(around)
            around = self._around(around)
        return functions

    def is_for_host(self, node: ast.AST) -> bool:
        """Returns whether an expression is part of a host call, metrics or a scaffold."""
        while node in self._module.parents:
            node = self._module.parents[node]
            if isinstance(node, ast.keyword) and _HOSTS.search(node.arg or ""):
                return True
            if isinstance(node, ast.Assign):
                names = [n for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
                return any(_HOSTS.search(name.id) for name in names)
            if isinstance(node, ast.stmt):
                return False
        return False

    def _is_guarded(self, node: ast.AST) -> bool:
        """Returns whether a node is below a test for a TPU."""
        while node in self._module.parents:
            node = self._module.parents[node]
            if isinstance(node, (ast.If, ast.IfExp)) and "tpu" in ast.dump(node.test).lower():
                return True
        return False


def _is_batch_size(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "batch_size":
        return isinstance(node.value, ast.Name) and node.value.id == "params"
    return isinstance(node, ast.Constant) and node.value == "batch_size"


_CACHE: WeakKeyDictionary[Module, TpuFunctions] = WeakKeyDictionary()


def tpu_functions(module: Module) -> TpuFunctions:
    """Returns the TPU functions of a module, from a cache."""
    if module not in _CACHE:
        _CACHE[module] = TpuFunctions(module)
    return _CACHE[module]


def functions_of(module: Module) -> list[Function]:
    """Returns the functions of a module, without lambdas."""
    return [*module.nodes(ast.FunctionDef), *module.nodes(ast.AsyncFunctionDef)]


def without_nested(function: Function | ast.Module) -> Iterator[ast.AST]:
    """Yields the nodes of a function's body, with those of lambdas but not of nested functions."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            continue
        yield node
        waiting += ast.iter_child_nodes(node)
