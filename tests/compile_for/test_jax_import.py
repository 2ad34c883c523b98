"""TensorFlow Lite finds no jax in a program that is compiled; the program itself does."""

from __future__ import annotations

import os
import subprocess
import sys

import documents

_PROGRAM = """
from estimator_bridge.compile_for.jax_import import keep_jax_out
keep_jax_out()
keep_jax_out()
import sys
import tensorflow.lite.python.util as lite
print(lite.jit, "jax" in sys.modules)
import jax
print(jax.jit, sum(type(finder).__name__ == "_NoJax" for finder in sys.meta_path))
"""
_UTIL = """
try:
    from jax import jit
except ImportError:
    jit = None
"""


def test_only_tensorflow_lite_finds_no_jax(tmp_path):
    lite = tmp_path / "tensorflow" / "lite" / "python"
    lite.mkdir(parents=True)
    for package in (lite, lite.parent, lite.parent.parent):
        (package / "__init__.py").write_text("")
    (lite / "util.py").write_text(_UTIL)
    (tmp_path / "jax.py").write_text("jit = 'of jax'\n")
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(documents.ROOT)))},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.splitlines() == ["None False", "of jax 1"]
