"""Limits tracebacks to the program's frames, and adds advice on well-known errors."""

from __future__ import annotations

import sys
from traceback import print_exception
from types import CodeType, FrameType, TracebackType

from estimator_bridge import errors
from estimator_bridge.legacy.running.error_advice import advice_on
from estimator_bridge.tf_contrib.package import LIBRARY_FOLDERS

__all__ = ["show_program_only", "without_our_frames"]

_MACHINERY = ("<frozen importlib", "<frozen runpy")


def show_program_only(whole: bool = False, has_cells: bool = False) -> None:
    """Makes Python show an error that ends the program as plain `python` would.

    Args:
      whole: whether to keep this library's frames too.
      has_cells: whether the program is a notebook. Its cells' lines are in Python's line cache,
        which the interpreter itself does not read before Python 3.13.
    """
    show = print_exception if has_cells else sys.excepthook
    launcher = _outermost(sys._getframe()).f_code

    def show_program(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        if not whole:
            _clean(error, set())
            error.__traceback__ = _below(launcher, error.__traceback__)
        show(kind, error, error.__traceback__)
        advice = advice_on(error)
        if advice:
            print(f"\nestimator-bridge: {advice}", file=sys.stderr)

    sys.excepthook = show_program


def _clean(error: BaseException | None, visited: set[int]) -> None:
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        error.__traceback__ = without_our_frames(error.__traceback__)
        if type(error).__module__ == errors.__name__:
            error.__cause__ = error.__context__ = None  # internals of this library
        _clean(error.__cause__, visited)
        error = error.__context__


def _outermost(frame: FrameType) -> FrameType:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


def _below(launcher: CodeType, traceback: TracebackType | None) -> TracebackType | None:
    """Leaves out the script `estimator-bridge` itself, by which this process began."""
    if traceback is not None and traceback.tb_frame.f_code is launcher:
        return traceback.tb_next
    return traceback


def without_our_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Returns a traceback without frames of this library and of Python's import machinery."""
    entries = []
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith((*LIBRARY_FOLDERS, *_MACHINERY)):
            entries.append(traceback)
        traceback = traceback.tb_next
    result = None
    for entry in reversed(entries):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result
