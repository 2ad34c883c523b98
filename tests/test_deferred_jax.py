"""Importing TensorFlow leaves JAX alone until somebody uses it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_JAX = """
print("JAX is imported")

def jit(function, **settings):
    return "compiled", function, settings
"""
_PROGRAM = """
import sys
{before}
import estimator_bridge
import tensorflow as tf
from tensorflow.lite.python import util
print("loaded", "jax" in sys.modules)
print([f for f in sys.meta_path if type(f).__module__ == "estimator_bridge.base.deferred_jax"])
print({asked})
import jax
print(hasattr(jax, "jit"), jax.__file__ is not None)
"""


@pytest.mark.parametrize(
    ("before", "asked", "lines"),
    [
        (
            "",
            "util._jit(7, static_argnums=1)",
            [
                *("loaded False", "[]", "JAX is imported"),
                *("('compiled', 7, {'static_argnums': 1})", "True True"),
            ],
        ),
        (
            "import jax",
            "util._jit is jax.jit",
            ["JAX is imported", "loaded True", "[]", "True", "True True"],
        ),
    ],
)
def test_jax_is_imported_when_it_is_used(tmp_path, before, asked, lines):
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").write_text(_JAX)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(before=before, asked=asked)],
        check=True, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert result.stdout.splitlines() == lines
