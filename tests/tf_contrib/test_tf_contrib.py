"""tf.contrib's package is opened by name: at its earlier paths, and what is said without it."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from estimator_bridge.tf_contrib.package import LIBRARY_FOLDERS, is_of_library

ROOT = Path(__file__).resolve().parents[2]


def test_frames_and_modules_of_both_packages_are_the_librarys():
    """So a user's line, a traceback and a hook's class are told from the library's own."""
    for package in ("estimator_bridge", "estimator_bridge_contrib"):
        file = importlib.util.find_spec(package).origin
        assert file.startswith(LIBRARY_FOLDERS)
        assert is_of_library(package)
        assert is_of_library(f"{package}.learn")
    assert not str(ROOT / "estimator_bridge_of_mine.py").startswith(LIBRARY_FOLDERS)
    assert not is_of_library("estimator_bridge_of_mine")


@pytest.mark.parametrize("old", ["estimator_bridge.contrib", "estimator_bridge.legacy.contrib"])
def test_earlier_paths_lead_to_the_same_modules(old):
    package = importlib.import_module("estimator_bridge_contrib")
    assert importlib.import_module(old) is package
    for path in ("layers", "layers.utils", "rnn.core_rnn_cell", "learn.monitors", "tpu", "slim"):
        assert importlib.import_module(f"{old}.{path}") is importlib.import_module(
            f"estimator_bridge_contrib.{path}"
        )
    names: dict = {}
    exec(f"from {old} import training as a\nimport {old}.training.hparams as b", names)
    assert names["a"] is package.training
    assert names["b"].HParams is package.training.HParams
    with pytest.raises(ModuleNotFoundError, match=r"layers\.no_such"):
        importlib.import_module(f"{old}.layers.no_such")
    with pytest.raises(ImportError, match=r"tf\.contrib\.bigtable is not supported"):
        importlib.import_module(f"{old}.bigtable")


@pytest.mark.parametrize("old", [b"estimator_bridge.contrib", b"estimator_bridge.legacy.contrib"])
def test_a_pickle_with_an_earlier_path_gives_an_object_of_the_class(old):
    """A program of an earlier version wrote it."""
    hparams = importlib.import_module("estimator_bridge_contrib.training.hparams").HParams
    written = pickle.dumps(hparams, protocol=0)
    assert b"estimator_bridge_contrib.training" in written
    earlier = written.replace(b"estimator_bridge_contrib.training", old + b".training")
    assert pickle.loads(earlier) is hparams


WITHOUT = """
import sys

class Finder:
    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] == "estimator_bridge_contrib":
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)

sys.meta_path.insert(0, Finder())
import estimator_bridge as eb
from estimator_bridge.errors import MissingImportError

eb.install()
import tensorflow as tf
assert tf.estimator.Estimator is eb.Estimator
import tensorflow.contrib as contrib

def fails(action):
    try:
        action()
    except MissingImportError as error:
        text = str(error)
        assert "needs the package estimator_bridge_contrib, which is missing" in text, text
        version = eb.__version__
        assert f"pip install --force-reinstall --no-deps estimator-bridge=={version}" in text, text
        assert error.name == "estimator_bridge_contrib"
        return
    raise AssertionError("no error")

def run(source):
    fails(lambda: exec(source, {}))

run("import tensorflow.contrib.layers")
run("from tensorflow.contrib import layers")
run("from tensorflow.contrib.layers.python.layers import utils")
run("from tensorflow_estimator.contrib import estimator")
run("import estimator_bridge.contrib")
run("from estimator_bridge.contrib import slim")
run("from estimator_bridge.legacy.contrib.layers import conv2d")
fails(lambda: contrib.layers)
fails(lambda: contrib.no_such)

from estimator_bridge.commands import cli
assert cli.main(["run", "--list-supported"]) == 1
assert cli.main(["check", "PROGRAM"]) == 1
"""


def test_without_the_package_the_error_says_what_to_install(tmp_path):
    """Programs that do not use tf.contrib run, and `check` and `rewrite` know its names."""
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\nprint(tf.contrib.layers.flatten)\n")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.replace("PROGRAM", str(program))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "tf.contrib.layers.flatten" in done.stdout
    assert "needs the package estimator_bridge_contrib" in done.stderr  # of --list-supported
