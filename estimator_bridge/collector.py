"""Python's garbage collector, kept from looking through what is no garbage while a program starts.

To import TensorFlow makes half a million objects that live as long as the process. The collector
looks through all of them several times during the import, and once more in the midst of the first
model: together a fifth of the CPU time until the first step. Nothing is collected later than at
the next full collection after that step, and a program that has turned the collector off, or froze
objects of its own, is left alone.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

__all__ = ["end_sparing", "spare_tensorflow_import", "spared"]


_state = SimpleNamespace(was=False, holds=False)  # whether `spared` was entered; and froze


def spare_tensorflow_import() -> None:
    """Has the collector pause while TensorFlow is imported, whoever imports it later."""
    if "tensorflow" not in sys.modules and not any(isinstance(f, _Finder) for f in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


@contextlib.contextmanager
def spared() -> Iterator[None]:
    """Takes what there is out of the collector's sight, the first time in a process.

    ``end_sparing`` gives it back before the end. Later times do nothing: what is garbage by then,
    such as the graph of an earlier training, must not have to wait, or it would pile up.
    """
    if not _state.was and gc.isenabled() and not gc.get_freeze_count():
        gc.freeze()
        _state.holds = True
    _state.was = True
    try:
        yield
    finally:
        end_sparing()


def end_sparing() -> None:
    """Ends ``spared`` early: the first steps are done."""
    if _state.holds:
        _state.holds = False
        gc.unfreeze()


@contextlib.contextmanager
def _paused() -> Iterator[None]:
    """No collection within; what is made within counts as old, not as new, afterwards."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # without this, the next collection would see all of it
            gc.freeze()
            gc.unfreeze()
        gc.enable()


class _Finder:
    """Stands in front of Python's finders until TensorFlow is loaded, and asks them for it.

    Only those behind it: who was put in front of it since asks this one.
    """

    _is_asking = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Their spec of TensorFlow, the loading of which pauses the collector."""
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
            self._pause_while_loaded(spec.loader)
        return spec

    def _pause_while_loaded(self, loader: Any) -> None:
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # the class's own is there again
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            with _paused():
                load(module)

        loader.exec_module = exec_module
