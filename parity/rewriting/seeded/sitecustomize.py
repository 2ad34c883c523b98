"""Gives every RunConfig of a process a seed where the program gives none, and NumPy too.

Python loads this file by itself when its folder is on PYTHONPATH. Two runs of one program then have
the same data, initial weights, dropout and shuffles, so that their numbers can be compared. Input
that is read or distorted in parallel, in an order that differs from run to run, is made in order.
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


def _read_in_order(module: Any) -> None:
    original = module.parallel_interleave

    @functools.wraps(original)
    def parallel_interleave(map_func: Any, cycle_length: int, *args: Any, **kwargs: Any) -> Any:
        if len(args) > 1:
            args = (args[0], False, *args[2:])
        else:
            kwargs["sloppy"] = False
        return original(map_func, cycle_length, *args, **kwargs)

    module.parallel_interleave = parallel_interleave


def _distort_in_order(module: Any) -> None:
    make = module.map_and_batch

    @functools.wraps(make)
    def map_and_batch(
        map_func: Any, batch_size: Any, num_parallel_batches: Any = None,
        drop_remainder: bool = False, num_parallel_calls: Any = None,
    ) -> Any:  # fmt: skip
        del num_parallel_batches, num_parallel_calls
        return make(map_func, batch_size, drop_remainder=drop_remainder, num_parallel_calls=1)

    module.map_and_batch = map_and_batch


_EXPERIMENTAL = "tensorflow.python.data.experimental.ops"
_SEEDED = {
    f"{_EXPERIMENTAL}.batching": _distort_in_order,
    f"{_EXPERIMENTAL}.interleave_ops": _read_in_order,
    "estimator_bridge.model.run_config": _seed_config,
    "numpy.random": lambda module: module.seed(0),
}
random.seed(0)
sys.meta_path.insert(0, _Seeding())
