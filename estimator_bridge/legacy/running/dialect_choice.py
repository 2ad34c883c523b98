"""Chooses the dialect of each file of a program, and whether its top level has graphs.

A program is judged before it starts, by its main file and the imports of that file. A tool that
runs other files (pytest, cProfile, a launcher) says nothing about them. Each file is then judged
when it runs, and the first conclusive one decides for modules in doubt.
"""

from __future__ import annotations

import os
import sys

from estimator_bridge.legacy.running.default_graph import signs_of
from estimator_bridge.legacy.running.dialects import Dialect, Verdict, judge
from estimator_bridge.legacy.running.importing import are_of_program
from estimator_bridge.legacy.running.sources import (
    default_graph_reason,
    is_installed,
    mentions_tensorflow,
    module_verdict,
    program_verdict,
    source_of,
)

__all__ = ["DialectChoice"]

_OWN_GRAPHS = (b"disable_v2_behavior", b"disable_eager_execution")


class DialectChoice:
    """Makes the choices for one process.

    Args:
      main: the dialect of modules in doubt; None until a file decides it.
      dialect: the dialect of all of the program's modules, whatever their source.
      graphs: whether the program's top level has graphs and sessions; TF1 programs always do.
      verbose: whether to report the decisions on stderr.
    """

    def __init__(
        self,
        main: Dialect | None,
        dialect: Dialect | None = None,
        graphs: bool = False,
        verbose: bool = False,
    ):
        self.main, self.request, self.verbose = dialect or main, dialect, verbose
        self.graphs = graphs or self.main is Dialect.TF1
        self._judges_each_file = self.main is None
        self._eager_file = ""

    def dialect_of(self, path: str) -> Dialect:
        """Returns the dialect of one of the program's files."""
        if self.request:
            return self.request
        if self._judges_each_file:
            dialect = program_verdict(path, *_folders(path)).dialect
        else:
            dialect = module_verdict(path).dialect
        return dialect or self._in_doubt()

    def _in_doubt(self) -> Dialect:
        """Returns the dialect of a module whose program is in doubt: that of its importer."""
        frame = sys._getframe() if self._judges_each_file else None
        while frame is not None:
            if are_of_program(frame.f_builtins):
                dialect = module_verdict(frame.f_code.co_filename).dialect
                if dialect:
                    return dialect
            frame = frame.f_back
        return self.main or Dialect.TF2

    def enter(self, path: str, as_main: bool = False) -> Dialect:
        """Returns the dialect of a file that is about to run.

        Args:
          path: the file.
          as_main: whether it runs as a ``__main__`` that this command did not start.
        """
        if not self.request and (as_main or (self._judges_each_file and mentions_tensorflow(path))):
            return self._judge(path, as_main)
        return self.dialect_of(path)

    def enter_text(self, text: bytes) -> Dialect | None:
        """Returns the dialect of source that is executed as text; None if it is in doubt."""
        verdict = judge(text)
        if self.request or verdict.dialect is None:
            return self.request
        signs = signs_of(text)
        reason = "" if signs.is_explicit or not signs.line else f"{signs.what} in line {signs.line}"
        self._follow(verdict, reason, "an executed text", text, as_main=False)
        return verdict.dialect

    def _judge(self, path: str, as_main: bool) -> Dialect:
        folders = _folders(path)
        verdict = program_verdict(path, *folders)
        reason = default_graph_reason(path, *folders)
        self._follow(verdict, reason, path, source_of(path), as_main)
        return verdict.dialect or self._in_doubt()

    def _follow(
        self, verdict: Verdict, graph_reason: str, path: str, source: bytes, as_main: bool
    ) -> None:
        """Lets a file that is about to run decide for modules in doubt and for the top level."""
        if verdict.dialect and (as_main or self.main is None):
            self.main = verdict.dialect
            name = os.path.basename(path)
            self._tell(f"{name} is written for {self.main.value} ({verdict.reason})")
        if (verdict.dialect or self.main) is Dialect.TF1:
            self._want_graphs(path, "as in every TF1 program")
        elif graph_reason:
            self._want_graphs(path, graph_reason)
        elif signs_of(source).is_explicit and not any(name in source for name in _OWN_GRAPHS):
            if self.graphs and not self._eager_file:
                _tell_of_both(path, "an earlier file")
            self._eager_file = self._eager_file or path

    def _want_graphs(self, path: str, reason: str) -> None:
        """Gives the top level graphs, immediately if TensorFlow is loaded already."""
        if self.graphs:
            return
        if self._eager_file:
            _tell_of_both(self._eager_file, path)
            return
        self.graphs = True
        self._tell(f"with TF1's graphs at the top level ({reason})")
        if "tensorflow" in sys.modules:
            from estimator_bridge.legacy.running.tensorflow_setup import start_graphs

            start_graphs(self.main is Dialect.TF1)

    def _tell(self, what: str) -> None:
        if self.verbose:
            print(f"estimator-bridge: {what}", file=sys.stderr)


def _tell_of_both(eager: str, graphs: str) -> None:
    print(
        f"estimator-bridge: {eager} runs operations eagerly, {graphs} relies on TensorFlow 1's "
        "graphs, and a process can only do one: run them in separate processes.",
        file=sys.stderr,
    )


def _folders(path: str) -> tuple[str, ...]:
    """Returns the folders to search for imports of a file that a tool runs."""
    folders = [os.path.abspath(folder) for folder in sys.path]
    return (
        os.path.dirname(os.path.abspath(path)),
        *(folder for folder in folders if not is_installed(os.path.join(folder, "any.py"))),
    )
