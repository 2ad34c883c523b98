"""The log of operations that the profiler reads."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["write_op_log"]


def write_op_log(
    graph: tf.Graph, log_dir: str, op_log: Any = None, run_meta: Any = None, add_trace: bool = True
) -> None:
    """Writes a log of a graph's operations, with the Python lines that made them.

    Args:
      graph: the graph.
      log_dir: the folder; the file is tfprof_log.
      op_log: an OpLogProto to add to.
      run_meta: a RunMetadata of a step, for shapes.
      add_trace: whether Python's lines are written.
    """
    tf.compat.v1.profiler.write_op_log(graph, log_dir, op_log, run_meta, add_trace)
