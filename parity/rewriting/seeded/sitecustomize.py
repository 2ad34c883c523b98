"""Gives every RunConfig of a process a seed where the program gives none, and NumPy too.

Python loads this file by itself when its folder is on PYTHONPATH. Two runs of one program then have
the same data, initial weights, dropout and shuffles, so that their numbers can be compared.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import random
import sys
from typing import Any


class _Seeding(importlib.abc.MetaPathFinder):
    """Finds modules as usual, and seeds what some of them hold once they are loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Called by Python for each import."""
        if name not in _SEEDED:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        assert spec is not None and spec.loader is not None
        execute = spec.loader.exec_module

        def execute_and_seed(module: Any) -> None:
            execute(module)
            _SEEDED[name](module)

        spec.loader.exec_module = execute_and_seed  # type: ignore[method-assign]
        return spec


def _seed_config(module: Any) -> None:
    config = module.RunConfig
    make = config.__init__

    @functools.wraps(make)  # estimators look at its arguments
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) < 2 and kwargs.get("tf_random_seed") is None:
            kwargs["tf_random_seed"] = 1
        make(self, *args, **kwargs)

    config.__init__ = __init__


_SEEDED = {
    "estimator_bridge.model.run_config": _seed_config,
    "numpy.random": lambda module: module.seed(0),
}
random.seed(0)
sys.meta_path.insert(0, _Seeding())
