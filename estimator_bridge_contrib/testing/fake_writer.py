"""A summary writer that keeps what it was given, for tests."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["FakeSummaryWriter"]

_v1 = tf.compat.v1
_usual: list[Any] = []  # FileWriterCache.get, while another one is installed


class FakeSummaryWriter:
    """Keeps summaries, graphs and logs in memory.

    Between ``install()`` and ``uninstall()``, ``tf.summary.FileWriterCache.get`` returns one for
    each folder, and hooks write to it.

    Args:
      logdir: the folder that is not written.
      graph: the graph.
    """

    _by_folder: dict[str, FakeSummaryWriter] = {}  # noqa: RUF012

    def __init__(self, logdir: str, graph: Any = None):
        self._logdir, self._graph = logdir, graph
        self._summaries: dict[int, list[Any]] = {}
        self._added_graphs: list[Any] = []
        self._added_meta_graphs: list[Any] = []
        self._added_session_logs: list[Any] = []
        self._added_run_metadata: dict[str, Any] = {}

    @classmethod
    def install(cls) -> None:
        """Replaces the writers of ``FileWriterCache``.

        Raises:
          ValueError: they are replaced already.
        """
        if _usual:
            raise ValueError("FakeSummaryWriter already installed. Call uninstall() first.")
        _usual.append(_v1.summary.FileWriterCache.get)
        cls._by_folder = {}
        _v1.summary.FileWriterCache.get = staticmethod(cls._get)

    @classmethod
    def uninstall(cls) -> None:
        """Restores the writers of ``FileWriterCache``.

        Raises:
          ValueError: they are not replaced.
        """
        if not _usual:
            raise ValueError("FakeSummaryWriter not installed. Call install() first.")
        _v1.summary.FileWriterCache.get = staticmethod(_usual.pop())

    @classmethod
    def _get(cls, logdir: str) -> FakeSummaryWriter:
        if logdir not in cls._by_folder:
            cls._by_folder[logdir] = cls(logdir, graph=_v1.get_default_graph())
        return cls._by_folder[logdir]

    @property
    def summaries(self) -> dict[int, list[Any]]:
        """The summaries by step."""
        return self._summaries

    def assert_summaries(
        self,
        test_case: Any,
        expected_logdir: str | None = None,
        expected_graph: Any = None,
        expected_summaries: Any = None,
        expected_added_graphs: Any = None,
        expected_added_meta_graphs: Any = None,
        expected_session_logs: Any = None,
    ) -> None:
        """Checks what was written.

        Args:
          test_case: the test.
          expected_logdir: the folder.
          expected_graph: the graph that the writer was made with.
          expected_summaries: by step, the values by tag; "global_step/sec" does not count.
          expected_added_graphs: the graphs.
          expected_added_meta_graphs: the MetaGraphDefs.
          expected_session_logs: the session logs.
        """
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertIs(expected_graph, self._graph)
        for step, expected in (expected_summaries or {}).items():
            test_case.assertIn(step, self._summaries)
            values = [value for each in self._summaries[step] for value in each.value]
            actual = {value.tag: value.simple_value for value in values}
            actual.pop("global_step/sec", None)
            test_case.assertEqual(expected, actual)
        written = (
            (expected_added_graphs, self._added_graphs),
            (expected_added_meta_graphs, self._added_meta_graphs),
            (expected_session_logs, self._added_session_logs),
        )
        for expected_items, actual_items in written:
            if expected_items is not None:
                test_case.assertEqual(expected_items, actual_items)

    def add_summary(self, summ: Any, current_global_step: int) -> None:
        """Keeps a Summary, or a serialized one."""
        summary = _v1.Summary.FromString(summ) if isinstance(summ, bytes) else summ
        self._summaries.setdefault(current_global_step, []).append(summary)

    def add_graph(self, graph: Any, global_step: int | None = None, graph_def: Any = None) -> None:
        """Keeps a graph.

        Raises:
          ValueError: the step is negative, or graph_def is given.
        """
        _check_step(global_step)
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}. Pass graph.")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def: Any, global_step: int | None = None) -> None:
        """Keeps a MetaGraphDef.

        Raises:
          ValueError: the step is negative.
        """
        _check_step(global_step)
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: Any, global_step: int | None = None) -> None:
        """Keeps a session log."""
        del global_step
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: int | None = None) -> None:
        """Keeps the metadata of a run.

        Raises:
          ValueError: the step is negative.
        """
        _check_step(global_step)
        self._added_run_metadata[tag] = run_metadata

    def flush(self) -> None:
        """Does nothing: nothing waits to be written."""

    def reopen(self) -> None:
        """Does nothing: there is no file."""

    def close(self) -> None:
        """Does nothing: there is no file."""


def _check_step(step: int | None) -> None:
    if step is not None and step < 0:
        raise ValueError(f"Invalid global_step {step}. It counts from 0.")
