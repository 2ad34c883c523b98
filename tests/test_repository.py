"""What setup.py says is true."""

import importlib
import importlib.util
import itertools
import re
import runpy
from pathlib import Path

import pytest
import setuptools

from estimator_bridge.base import compatibility
from tooling.house.layers import LIBRARY
from tooling.house.tree import Tree

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def metadata():
    captured = {}
    patched = pytest.MonkeyPatch()
    with patched.context() as patch:
        patch.setattr(setuptools, "setup", lambda **keywords: captured.update(keywords))
        patch.chdir(ROOT)
        runpy.run_path(str(ROOT / "setup.py"))
    return captured


def test_setup_names_every_package_of_the_library_and_no_other(metadata):
    folders = {path.parent for path in Tree(ROOT).modules(*LIBRARY)}
    assert set(metadata["packages"]) == {".".join(folder.parts) for folder in folders}


def test_setup_and_package_have_one_version(metadata):
    version = importlib.import_module("estimator_bridge").__version__
    assert metadata["version"] == version
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)


def test_console_script_leads_to_a_function(metadata):
    (script,) = metadata["entry_points"]["console_scripts"]
    name, target = script.split("=")
    module, function = target.split(":")
    assert name == "estimator-bridge"
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("name", ["tensorflow", "tf-keras"])
def test_setup_requires_the_versions_that_the_check_supports(metadata, name):
    oldest = "{}.{}".format(*compatibility.OLDEST_TENSORFLOW)
    untested = "{}.{}".format(*compatibility.FIRST_UNTESTED_TENSORFLOW)
    assert f"{name}>={oldest},<{untested}" in metadata["install_requires"]


def test_tensorflow_is_required_under_one_name(metadata):
    required = [
        *metadata["install_requires"],
        *itertools.chain(*metadata["extras_require"].values()),
    ]
    assert sum(re.match(r"tensorflow(?!-hub)", name) is not None for name in required) == 1
