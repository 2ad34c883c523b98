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


def main() -> None:
    """Runs the program with its way and the orders."""
    from benchmarks.orders import Orders

    orders = Orders()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    program, way = sys.argv[1:3]
    for name in _HIDDEN:
        if way != "jax":  # which requires SciPy
            sys.modules[name] = None  # type: ignore[assignment]  # as if it were not installed
    options = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    importlib.import_module(f"benchmarks.programs.{program}").serve(way, orders, **options)


if __name__ == "__main__":
    main()
