"""Runs the measured process: python -m benchmarks.worker PROGRAM WAY [OPTIONS AS JSON]."""

from __future__ import annotations

import importlib
import json
import os
import sys

__all__ = ["main"]

# Keras imports these if they are installed, which takes longer than many a first step. No way
# requires them, and the two environments would differ in them.
_HIDDEN = ("PIL", "pandas", "scipy")
_JAX = "jax"  # which TensorFlow imports if it is there; the original's environments have none


def main() -> None:
    """Runs the program with its way and the orders."""
    from benchmarks.orders import Orders

    orders = Orders()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    program, way = sys.argv[1:3]
    options = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    is_on_jax = way == _JAX or str(options.get("runtime")).startswith(_JAX)
    for name in () if way == _JAX else _HIDDEN if is_on_jax else (*_HIDDEN, _JAX):
        sys.modules[name] = None  # type: ignore[assignment]  # as if it were not installed
    importlib.import_module(f"benchmarks.programs.{program}").serve(way, orders, **options)


if __name__ == "__main__":
    main()
