"""Which dialect each file of a program has, and whether the program's top level has graphs.

A program is judged before it starts, by its main file and what that imports. Nothing can be read
off a tool that runs other files (pytest, cProfile, a launcher). There each file is judged when it
is run, and the first one that tells decides for modules in doubt.
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
    """Decides for one process.

    Args:
      main: the dialect of modules in doubt; None while no file has told.
      forced: the dialect of all of the program's modules, whatever they look like.
      graphs: whether the program's top level gets graphs and sessions; those of TF1 always do.
      verbose: say on stderr what a file that is run has decided.
    """

    def __init__(
        self,
        main: Dialect | None,
        forced: Dialect | None = None,
        graphs: bool = False,
        verbose: bool = False,
    ):
        self.main, self.forced, self.verbose = forced or main, forced, verbose
        self.graphs = graphs or self.main is Dialect.TF1
        self._judges_each_file = self.main is None
        self._eager_file = ""

    def dialect_of(self, path: str) -> Dialect:
        """The dialect of one of the program's files."""
        if self.forced:
            return self.forced
        if self._judges_each_file:
            dialect = program_verdict(path, *_folders(path)).dialect
        else:
            dialect = module_verdict(path).dialect
        return dialect or self._in_doubt()

    def _in_doubt(self) -> Dialect:
        """What a module means whose program does not tell: what its importer means."""
        frame = sys._getframe() if self._judges_each_file else None
        while frame is not None:
            if are_of_program(frame.f_builtins):
                dialect = module_verdict(frame.f_code.co_filename).dialect
                if dialect:
                    return dialect
            frame = frame.f_back
        return self.main or Dialect.TF2

    def enter(self, path: str, as_main: bool = False) -> Dialect:
        """The dialect of a file that is about to run.

        Args:
          path: the file.
          as_main: it runs as a ``__main__`` that something else than the command has started.
        """
        if not self.forced and (as_main or (self._judges_each_file and mentions_tensorflow(path))):
            return self._judge(path, as_main)
        return self.dialect_of(path)

    def enter_text(self, text: bytes) -> Dialect | None:
        """The dialect of source that is executed as text; None where it does not tell."""
        verdict = judge(text)
        if self.forced or verdict.dialect is None:
            return self.forced
        signs = signs_of(text)
        reason = "" if signs.chosen or not signs.line else f"{signs.what} in line {signs.line}"
        self._heed(verdict, reason, "a text that is executed", text, as_main=False)
        return verdict.dialect

    def _judge(self, path: str, as_main: bool) -> Dialect:
        folders = _folders(path)
        verdict = program_verdict(path, *folders)
        reason = default_graph_reason(path, *folders)
        self._heed(verdict, reason, path, source_of(path), as_main)
        return verdict.dialect or self._in_doubt()

    def _heed(
        self, verdict: Verdict, graph_reason: str, path: str, source: bytes, as_main: bool
    ) -> None:
        """Lets what is about to run decide for modules in doubt and for the top level."""
        if verdict.dialect and (as_main or self.main is None):
            self.main = verdict.dialect
            self._tell(f"{os.path.basename(path)} is of {self.main.value} ({verdict.reason})")
        if (verdict.dialect or self.main) is Dialect.TF1:
            self._want_graphs(path, "as in every program of TF1")
        elif graph_reason:
            self._want_graphs(path, graph_reason)
        elif signs_of(source).chosen and not any(name in source for name in _OWN_GRAPHS):
            if self.graphs and not self._eager_file:
                _tell_of_both(path, "a file that ran before it")
            self._eager_file = self._eager_file or path

    def _want_graphs(self, path: str, reason: str) -> None:
        """Gives the top level graphs, from now on where TensorFlow is loaded already."""
        if self.graphs:
            return
        if self._eager_file:
            _tell_of_both(self._eager_file, path)
            return
        self.graphs = True
        self._tell(f"with TF1's graphs at the top level ({reason})")
        if "tensorflow" in sys.modules:
            from estimator_bridge.legacy.running.start import start_graphs

            start_graphs()

    def _tell(self, what: str) -> None:
        if self.verbose:
            print(f"estimator-bridge: {what}", file=sys.stderr)


def _tell_of_both(eager: str, graphs: str) -> None:
    print(
        f"estimator-bridge: {eager} runs operations eagerly, {graphs} counts on TensorFlow 1's "
        "graphs, and a process has one of the two: run them in processes of their own.",
        file=sys.stderr,
    )


def _folders(path: str) -> tuple[str, ...]:
    """Where the imports of a file that a tool runs are looked for."""
    searched = [os.path.abspath(folder) for folder in sys.path]
    return (
        os.path.dirname(os.path.abspath(path)),
        *(folder for folder in searched if not is_installed(os.path.join(folder, "any.py"))),
    )
