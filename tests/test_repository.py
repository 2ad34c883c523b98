"""What setup.py says is true, and tf.contrib loads nothing but its own part of the library."""

import importlib
import importlib.util
import itertools
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import setuptools

from estimator_bridge import compatibility
from tooling.house.tree import Tree

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def metadata():
    captured = {}
    patched = pytest.MonkeyPatch()
    with patched.context() as patch:
        patch.setattr(setuptools, "setup", lambda **given: captured.update(given))
        patch.chdir(ROOT)
        runpy.run_path(str(ROOT / "setup.py"))
    return captured


def test_setup_names_every_package_of_the_library_and_no_other(metadata):
    folders = {path.parent for path in Tree(ROOT).modules("estimator_bridge")}
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


CONTRIB_MAY_LOAD = {
    "any_files", "contrib", "errors", "lazy_namespace", "missing_names", "own_files",
    "tensorflow_private",
}  # fmt: skip
# What `import estimator_bridge` itself loads.
AT_THE_FRONT = {
    "compatibility", "gc_tuning", "lazy_namespace", "legacy_keras", "public_names",
    "tpu_presence", "tpu_wheels", "version",
}  # fmt: skip
LOADS_CONTRIB = """
import sys
from estimator_bridge.contrib import NAMESPACES
if {with_tensorflow}:
    for namespace in NAMESPACES.values():
        module = namespace.load()
        for name in namespace.names:
            getattr(module, name)
print(*(name.split(".")[1] for name in sys.modules if name.startswith("estimator_bridge.")))
print("tensorflow" in sys.modules)
"""


@pytest.mark.parametrize("with_tensorflow", [False, True])
def test_contrib_alone_loads_no_other_room(with_tensorflow):
    program = LOADS_CONTRIB.format(with_tensorflow=with_tensorflow)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True,
        timeout=600,
    )  # fmt: skip
    rooms_loaded, tensorflow_loaded = done.stdout.splitlines()[-2:]
    assert set(rooms_loaded.split()) <= CONTRIB_MAY_LOAD | AT_THE_FRONT
    assert tensorflow_loaded == str(with_tensorflow)
