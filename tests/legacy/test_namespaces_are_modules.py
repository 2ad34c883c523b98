"""Each namespace that stands in for a module of TensorFlow 1 or Estimator is like any module."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import subprocess
import sys
import types

import pytest

import estimator_bridge as eb
from estimator_bridge.base.lazy_namespace import LazyNamespace, loaded_names
from estimator_bridge.legacy.api_modules import api_module_v1, api_module_v2
from estimator_bridge.legacy.old_paths import OLD_MODULES
from estimator_bridge.legacy.tf1.contrib_paths import ROOT
from estimator_bridge.legacy.tf1.deep_paths import DEEP_MODULES, DEEP_PACKAGES
from estimator_bridge.legacy.tf1.module_proxy import ModuleProxy
from estimator_bridge_contrib.namespaces import NAMESPACES

# Runs in a process of its own: eb.install() changes the process's tensorflow.
_INSTALLED = """
import importlib, sys
import estimator_bridge as eb
eb.install()
from estimator_bridge.legacy.tf1.changes import tensorflow_1
from tests.legacy.test_namespaces_are_modules import check, proxies_from
modules = proxies_from(tensorflow_1(), []) if {is_tf1} else map(importlib.import_module, {names!r})
for module in modules:
    check(module)
"""


def check(module):
    """Asserts that the ways to list and to find a module's names agree."""
    listed = [name for name in dir(module) if name != "__builtins__"]
    names, members = vars(module), dict(inspect.getmembers(module))
    assert module.__dict__ is names is loaded_names(module)
    for name in listed:
        assert hasattr(module, name), f"{module.__name__}.{name}"
        value = getattr(module, name)
        assert value is names[name] is members[name] is getattr(module, name), name
    imported = {}
    exec("from a_module import *", {"__builtins__": _importing(module)}, imported)
    public = getattr(module, "__all__", [name for name in names if not name.startswith("_")])
    assert set(imported) == set(public)
    assert set(public) <= set(listed)
    assert not hasattr(module, "no_such_name")
    assert "no_such_name" not in names
    if isinstance(module, LazyNamespace):
        assert pickle.loads(pickle.dumps(module)) is copy.deepcopy(module) is module


def _importing(module):
    return {"__import__": lambda *unused_args: module}


def proxies_from(proxy, seen):
    """Adds a proxy, and one of each module that proxies below it present, to a list."""
    seen.append(proxy)
    for name, value in list(vars(proxy).items()):
        # TensorFlow's modules hold themselves as _current_module, and tf.compat.v2 as compat.v2.
        is_new = isinstance(value, ModuleProxy) and all(value._real is not p._real for p in seen)
        if not name.startswith("_") and is_new:
            proxies_from(value, seen)
    return seen


@pytest.mark.parametrize("module", [eb, eb.v1, api_module_v1(), api_module_v2()])
def test_names_of_this_library(module):
    check(module)


def test_namespaces_of_contrib_here():
    for namespace in NAMESPACES.values():
        check(namespace.load())


@pytest.mark.parametrize("kind", ["tf1", "contrib", "estimator"])
def test_installed_modules(kind):
    paths = {*DEEP_PACKAGES, *DEEP_MODULES, *(n for n in NAMESPACES if "." not in n)}
    below = sorted(path for path in paths if path.partition(".")[0] in NAMESPACES)
    of_contrib = [ROOT, *(f"{ROOT}.{name}" for name in below if not name.endswith("ops.arg_scope"))]
    names = of_contrib if kind == "contrib" else sorted(OLD_MODULES)
    done = subprocess.run(
        [sys.executable, "-c", _INSTALLED.format(names=names, is_tf1=kind == "tf1")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_name_is_loaded_when_it_is_used_and_not_before():
    module = importlib.import_module("estimator_bridge_contrib.sparsemax")
    for name in list(module.__all__):
        loaded_names(module).pop(name, None)
    assert "sparsemax" in dir(module)
    assert not {"sparsemax", "sparsemax_loss"} <= loaded_names(module).keys()
    assert isinstance(vars(module)["sparsemax"], (types.FunctionType, types.ModuleType))
