"""Short error reports in notebooks: the user's line and the message; `%tb` shows everything."""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from estimator_bridge.graph.user_line import is_library_file, shown_path
from estimator_bridge.runtime.local_clusters import in_notebook
from estimator_bridge.tf_contrib.package import LIBRARY_FOLDERS

__all__ = ["shorten_notebook_errors"]

_LINES_BEFORE, _LINES_AFTER = 3, 1  # around the user's line
_FIRST_LINES, _LAST_LINES = 3, 8  # of a long message: TensorFlow's reason is often at its end
_CALLERS = 3
_RED, _PLAIN = "\x1b[31m", "\x1b[0m"


def shorten_notebook_errors() -> None:
    """Makes a notebook show an error of this library from the user's line on, in 25 lines at most.

    `%tb` shows it whole. A handler of exceptions that the user gave IPython stays.
    """
    if in_notebook():
        shell = sys.modules["IPython"].get_ipython()
        if not shell.custom_exceptions:
            shell.set_custom_exc((Exception,), _show)


def _show(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    # IPython lets an exception render its own traceback, by an attribute that it may have.
    if _is_of_library(traceback) and not hasattr(error, "_render_traceback_"):
        with contextlib.suppress(AttributeError):  # a class with slots
            error._render_traceback_ = _rendering(error)  # type: ignore[attr-defined]
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)


def _is_of_library(traceback: TracebackType | None) -> bool:
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.startswith(LIBRARY_FOLDERS):
            return True
        traceback = traceback.tb_next
    return False


def _rendering(error: BaseException) -> Callable[[], list[str]]:
    has_been_shown = False

    def render() -> list[str]:
        nonlocal has_been_shown
        entries = list(_user_entries(error.__traceback__))
        if has_been_shown or not entries:
            table = sys.modules["IPython"].get_ipython().InteractiveTB
            return list(table.structured_traceback(type(error), error, error.__traceback__))
        has_been_shown = True
        return _short_report(error, entries)

    return render


def _user_entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    shell = os.path.join(os.path.dirname(sys.modules["IPython"].__file__ or ""), "")
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not is_library_file(file) and not file.startswith(shell):
            yield traceback
        traceback = traceback.tb_next


def _short_report(error: BaseException, entries: list[TracebackType]) -> list[str]:
    """Returns the innermost of the user's lines with those around it, the message, the callers."""
    *callers, innermost = entries
    kind = type(error).__name__
    lines = [f"{_RED}{kind}{_PLAIN}  (%tb shows the whole traceback)"]
    lines += [f"{_place(innermost)}, in {innermost.tb_frame.f_code.co_name}", *_code(innermost)]
    lines += ["", *_shorten(f"{_RED}{kind}{_PLAIN}: {error}".split("\n"))]
    for caller in callers[-_CALLERS:]:
        code = linecache.getline(caller.tb_frame.f_code.co_filename, caller.tb_lineno).strip()
        lines.append(f"called from {_place(caller)}: {code}")
    return lines


def _place(entry: TracebackType) -> str:
    """Returns "Cell In[4], line 3", or the file and the line."""
    file = entry.tb_frame.f_code.co_filename
    compiler = getattr(sys.modules["IPython"].get_ipython(), "compile", None)
    names = getattr(compiler, "format_code_name", lambda name: None)(file)
    return f"{' '.join(names) if names else shown_path(file)}, line {entry.tb_lineno}"


def _code(entry: TracebackType) -> Iterator[str]:
    file, number = entry.tb_frame.f_code.co_filename, entry.tb_lineno
    first = max(number - _LINES_BEFORE, 1)
    for each in range(first, number + _LINES_AFTER + 1):
        code = linecache.getline(file, each).rstrip()
        if code or each == number:
            yield f"{'----> ' if each == number else '      '}{each} {code}"


def _shorten(lines: list[str]) -> list[str]:
    if len(lines) <= _FIRST_LINES + 1 + _LAST_LINES:
        return lines
    return [*lines[:_FIRST_LINES], "...", *lines[-_LAST_LINES:]]
