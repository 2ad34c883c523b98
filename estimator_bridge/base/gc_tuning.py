"""Keeps Python's garbage collector from scanning live objects while a program starts.

Importing TensorFlow creates half a million objects that live as long as the process. The collector
scans all of them several times during the import, and once more while the first model is built:
together a fifth of the CPU time until the first step. Collection resumes at the latest with the
next full collection after that step. A program that has disabled the collector or frozen objects
itself is left alone.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

from estimator_bridge.base.deferred_jax import jax_left_until_used
from estimator_bridge.base.quiet_start import quietly, settle_devices

__all__ = ["gc_frozen_at_startup", "tune_tensorflow_import", "unfreeze_gc"]


_state = SimpleNamespace(
    was=False, holds=False
)  # whether `gc_frozen_at_startup` was entered, and froze


def tune_tensorflow_import() -> None:
    """Pauses the collector during a later import of TensorFlow, which is quiet and without JAX."""
    if "tensorflow" not in sys.modules and not any(isinstance(f, _Finder) for f in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


@contextlib.contextmanager
def gc_frozen_at_startup() -> Iterator[None]:
    """Hides existing objects from the collector, the first time in a process.

    ``unfreeze_gc`` makes them visible again before the end. Later calls do nothing: by then
    garbage, such as the graph of an earlier training, would pile up.
    """
    if not _state.was and gc.isenabled() and not gc.get_freeze_count():
        gc.freeze()
        _state.holds = True
    _state.was = True
    try:
        yield
    finally:
        unfreeze_gc()


def unfreeze_gc() -> None:
    """Ends ``gc_frozen_at_startup`` early, after the first steps."""
    if _state.holds:
        _state.holds = False
        gc.unfreeze()


@contextlib.contextmanager
def _pause_collection() -> Iterator[None]:
    """Disables collection within the context; its objects then count as old, not as new."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # otherwise the next collection would scan them all
            gc.freeze()
            gc.unfreeze()
        gc.enable()


class _Finder:
    """Precedes Python's finders until TensorFlow is loaded, and delegates to those after it.

    It skips finders before it: one inserted there later delegates to this one.
    """

    _is_asking = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns TensorFlow's spec with a loader that is quiet and pauses the collector."""
        if name != "tensorflow" or self._is_asking or self not in sys.meta_path:
            return None
        behind = sys.meta_path[sys.meta_path.index(self) + 1 :]
        specs = (f.find_spec(name, path, target) for f in behind if hasattr(f, "find_spec"))
        self._is_asking = True
        try:
            spec = next(filter(None, specs), None)
        finally:
            self._is_asking = False
        if spec is not None and spec.loader is not None:
            self._tune_load(spec.loader)
        return spec

    def _tune_load(self, loader: Any) -> None:
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # uncovers the class's method again
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            with quietly():
                with _pause_collection(), jax_left_until_used():
                    load(module)
                if hasattr(module, "config"):  # a stand-in of a test may lack it
                    settle_devices()

        loader.exec_module = exec_module
