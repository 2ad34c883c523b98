"""Each module of the library can be imported with the installed TensorFlow."""

from __future__ import annotations

import importlib.util
import pkgutil

import pytest

import estimator_bridge
import estimator_bridge_contrib

# Modules that load a package which is no requirement, or that start a program.
NEEDS = {
    "estimator_bridge.__main__": "a command line",
    "estimator_bridge.compile_for.compiler_main": "jax",
    "estimator_bridge_contrib.slim.package": "tf_slim",
}
# Packages that lead to estimator_bridge_contrib.
ALIASES = ("estimator_bridge.contrib.", "estimator_bridge.legacy.contrib.")
MODULES = [
    module.name
    for package in (estimator_bridge, estimator_bridge_contrib)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if module.name not in NEEDS and not module.name.startswith(ALIASES)
]


def test_every_module_can_be_imported():
    """Private names of TensorFlow move between releases; an import shows it."""
    assert len(MODULES) > 1000
    for name in MODULES:
        try:
            importlib.import_module(name)
        except Exception as error:
            pytest.fail(f"{name}: {type(error).__name__}: {error}")


def test_the_exceptions_exist():
    for name in NEEDS:
        assert importlib.util.find_spec(name), f"{name} is excluded and does not exist"
