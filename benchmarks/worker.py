"""The process that is measured: python -m benchmarks.worker PROGRAM WAY [OPTIONS AS JSON]."""

from __future__ import annotations

import importlib
import json
import os
import sys

__all__ = ["main"]


def main() -> None:
    """Hands the program its way and the orders."""
    from benchmarks.orders import Orders

    orders = Orders()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    program, way = sys.argv[1:3]
    options = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    importlib.import_module(f"benchmarks.programs.{program}").serve(way, orders, **options)


if __name__ == "__main__":
    main()
