"""Statistics of a graph's parameters, operations, time and memory."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = [
    "ALL_ADVICE",
    "FLOAT_OPS_OPTIONS",
    "PRINT_ALL_TIMING_MEMORY",
    "TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    "advise",
    "print_model_analysis",
]

_profiler = tf.compat.v1.profiler
_Options = _profiler.ProfileOptionBuilder

# The checkers of advise, each with its options.
ALL_ADVICE: dict[str, dict[str, Any]] = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}
# What print_model_analysis shows.
TRAINABLE_VARS_PARAMS_STAT_OPTIONS = _Options.trainable_variables_parameter()
FLOAT_OPS_OPTIONS = _Options.float_operation()
PRINT_ALL_TIMING_MEMORY = _Options.time_and_memory()


def print_model_analysis(
    graph: tf.Graph,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Any = 0,
) -> Any:
    """Prints statistics and returns them.

    Args:
      graph: the graph.
      run_meta: a RunMetadata of a step, for time, memory and shapes.
      op_log: an OpLogProto with more types of operations.
      tfprof_cmd: "scope", "graph", "op" or "code".
      tfprof_options: options, such as those of this module; 0 for those of trainable variables.

    Returns:
      A GraphNodeProto, or a MultiGraphNodeProto, with total_parameters and others.
    """
    options = tfprof_options or _Options(_Options.trainable_variables_parameter()).build()
    return _profiler.profile(graph, run_meta, op_log, tfprof_cmd, options)


def advise(graph: tf.Graph, run_meta: Any = None, tfprof_options: Any = None) -> Any:
    """Returns an AdviceProto on what slows a graph down.

    Args:
      graph: the graph.
      run_meta: a RunMetadata of a step.
      tfprof_options: options of the checkers, by name; by default all of them.
    """
    return _profiler.advise(graph, run_meta, *([tfprof_options] if tfprof_options else []))
