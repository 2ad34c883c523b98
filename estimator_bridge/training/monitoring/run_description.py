"""Describes a run beside its figures: when, on what, with what, and how to run it again."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge.base.redaction import redacted, redacted_arguments
from estimator_bridge.base.secret_names import is_secret_name
from estimator_bridge.base.version import __version__
from estimator_bridge.training.monitoring.line import duration
from estimator_bridge.training.program import Program

__all__ = ["command_of_process", "describe_run"]

_COMMAND = "estimator-bridge"
_MOST_CHARACTERS = 2000
_MOST_INPUTS = 20


def describe_run(
    program: Program, model_dir: str, device: str, seconds: float, examples: int | None
) -> Iterator[tuple[str, str]]:
    """Yields names and values for a report; what is unknown is left out.

    Args:
      program: the traced program.
      model_dir: the folder.
      device: the name of a replica's device.
      seconds: how long the training took until now.
      examples: the global batch size; None if it is unknown.
    """
    execution = program.execution
    strategy = execution.strategy
    replicas = strategy.num_replicas_in_sync
    yield "ended", time.strftime("%Y-%m-%d %H:%M:%S %z")
    yield "duration", duration(seconds)
    yield "command", command_of_process()
    yield "model_dir", model_dir
    yield "device", f"{replicas} x {device}" if replicas > 1 else device
    yield "strategy", f"{type(strategy).__name__}, {replicas} replica{'s' * (replicas > 1)}"
    yield "parameters", _parameters(program.graph)
    yield "batch of a replica", "; ".join(_inputs(program))
    if examples:
        yield "global batch size", str(examples)
    for name, value in program.source.params.items():
        yield f"params: {name}", _of_param(name, value)
    yield "RunConfig", _short(execution.config)
    yield "versions", f"estimator_bridge {__version__}, TensorFlow {tf.__version__}"


def _parameters(graph: tf.Graph) -> str:
    variables = graph.get_collection(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES)
    shapes = [variable.shape for variable in variables]
    if not all(shape.is_fully_defined() for shape in shapes):
        return f"{len(variables)} trainable variables"
    count = sum(math.prod(shape.as_list()) for shape in shapes)
    return f"{count:,} in {len(variables)} trainable variables"


def _inputs(program: Program) -> Iterator[str]:
    """Yields the features and labels of the traced batch: names, types and shapes."""
    entries = [
        *_flatten("features", program.batch.features),
        *_flatten("labels", program.batch.labels),
    ]
    for name, tensor in entries[:_MOST_INPUTS]:
        yield f"{name}: {tensor.dtype.name}{_shape(tensor)}"
    if len(entries) > _MOST_INPUTS:
        yield f"and {len(entries) - _MOST_INPUTS} more"


def _flatten(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _flatten(f"{name}[{key!r}]", each)
    elif isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            yield from _flatten(f"{name}[{number}]", each)
    elif hasattr(value, "dtype") and hasattr(value, "shape"):
        yield name, value


def _shape(tensor: Any) -> str:
    if tensor.shape.rank is None:
        return " of any shape"
    return f"[{', '.join('?' if size is None else str(size) for size in tensor.shape)}]"


def command_of_process() -> str:
    """Returns the command that starts this process again, with its secrets masked."""
    if os.path.basename(sys.argv[0]) == "ipykernel_launcher.py":
        return "a notebook"
    words = list(getattr(sys, "orig_argv", [sys.executable, *sys.argv]))
    if len(words) > 1 and os.path.basename(words[1]) == _COMMAND:  # the script that pip installs
        words = [_COMMAND, *words[2:]]
    else:
        words[0] = "python"
    return _shorten(redacted_arguments(words))


def _of_param(name: object, value: object) -> str:
    return "***" if is_secret_name(str(name), is_flag=True) else _short(value)


def _short(value: object) -> str:
    return _shorten(redacted(str(value)))


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
