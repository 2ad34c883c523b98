"""Captures the values a saver writes at the end of a step, and writes them while steps run.

The graph is cut before the save operations. Their inputs (variables, slices of variables, a table's
keys) are computed between two steps. On a CPU this copies nothing at first: TensorFlow copies a
variable only when a step changes it while something else holds it. Another thread then calls the
save operations one by one. A single function would block one of the threads that run the steps for
the whole write; with only one such thread, training would stop meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.overwriting import CheckpointingSession
from estimator_bridge.checkpoint.saver_operations import (
    MERGE,
    NAME_INPUTS,
    SAVE,
    other_types,
    saver_operations,
)
from estimator_bridge.graph import host_device
from estimator_bridge.tensorflow_private.names import SessionInterface, eager_mode

__all__ = ["SaverSnapshot", "why_not_beside_steps"]

_Saver = tf.compat.v1.train.Saver


def why_not_beside_steps(session: Any, saver: Any) -> str | None:
    """Returns why a saver cannot write while steps run; None if it can.

    Args:
      session: the session that runs the steps.
      saver: the saver, already built.
    """
    if not isinstance(session, CheckpointingSession):
        return f"the steps run in a {type(session).__name__}, not in an estimator's train()"
    if not isinstance(saver, _Saver) or type(saver).save is not _Saver.save:
        return f"{type(saver).__name__} overrides save()"
    operations = _operations(session.graph, saver)
    others = other_types(operations)
    if others:
        return f"the saver has an operation of type {others[0]}"
    if not any(op.type == SAVE for op in operations):
        return "the saver has no variables"
    return None


class SaverSnapshot(SessionInterface):
    """A session for a saver to write from in any thread, with the values of one moment.

    Args:
      session: the training session, between two steps.
      saver: a saver for which `why_not_beside_steps` returns None.
    """

    def __init__(self, session: CheckpointingSession, saver: Any):
        self._session, self._graph = session, session.graph
        definition = saver.saver_def
        self._fetch, self._file = definition.save_tensor_name, definition.filename_tensor_name
        operations = _operations(session.graph, saver)
        self._saves = [op for op in operations if op.type == SAVE]
        self._merges = [op for op in operations if op.type == MERGE]
        tensors = [tensor for op in self._saves for tensor in op.inputs[NAME_INPUTS:]]
        refs = list(dict.fromkeys(tensor.name for tensor in tensors))
        with eager_mode(), tf.device(host_device()):
            values = [tf.identity(value) for value in session.evaluate(refs)]
        self._values = dict(zip(refs, values))
        name_tensors = [tensor for op in self._saves for tensor in op.inputs[:NAME_INPUTS]]
        for merge in self._merges:
            name_tensors += [*_part_names(merge), *merge.inputs[1:]]
        self._names = list(dict.fromkeys(tensor.name for tensor in name_tensors))
        self._naming = session.function(self._names, [self._file])

    @property
    def graph(self) -> tf.Graph:
        """The graph, for the checkpoint's .meta file."""
        return self._graph

    @property
    def sess_str(self) -> str:
        """The session's target: always this process."""
        return ""

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Writes the checkpoint for the saver; nothing else can be run."""
        del options, run_metadata
        if fetches != self._fetch or list(feed_dict or ()) != [self._file]:
            raise NotImplementedError(
                f"A saver that writes while steps run runs only {self._fetch!r}, got {fetches!r}."
            )
        (prefix,) = (tf.compat.as_str(value) for value in (feed_dict or {}).values())
        operation = self._graph.as_graph_element(self._fetch).op
        if self._session.has_saved(prefix, operation, self._values_of):
            return tf.compat.as_bytes(prefix)
        return self._session.save(prefix, self._write)

    def _values_of(self, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        return [self._values[tensor.name] for tensor in tensors]

    def _write(self, path: str) -> bytes:
        name_values = dict(zip(self._names, self._naming({self._file: path}, 0)))
        values = {**self._values, **name_values}
        with eager_mode(), tf.device(host_device()):
            for operation in self._saves:
                prefix, names, slices, *tensors = _inputs(operation, values)
                tf.raw_ops.SaveV2(
                    prefix=prefix, tensor_names=names, shape_and_slices=slices, tensors=tensors
                )
            for operation in self._merges:
                parts = [tf.reshape(values[tensor.name], [-1]) for tensor in _part_names(operation)]
                tf.raw_ops.MergeV2Checkpoints(
                    checkpoint_prefixes=tf.concat(parts, 0),
                    destination_prefix=values[operation.inputs[1].name],
                    delete_old_dirs=operation.get_attr("delete_old_dirs"),
                    allow_missing_files=operation.get_attr("allow_missing_files"),
                )
        return tf.compat.as_bytes(path)


def _inputs(operation: tf.Operation, values: dict[str, tf.Tensor]) -> list[tf.Tensor]:
    return [values[tensor.name] for tensor in operation.inputs]


def _part_names(merge: tf.Operation) -> Sequence[tf.Tensor]:
    """Returns the names of the parts that an operation merges.

    The list of them waits for the parts to be written, so a function of it would write them.
    """
    names = merge.inputs[0]
    return names.op.inputs if names.op.type == "Pack" else [names]


def _operations(graph: tf.Graph, saver: Any) -> Sequence[tf.Operation]:
    definition = getattr(saver, "saver_def", None)
    if definition is None or not definition.save_tensor_name:
        return []
    return saver_operations(graph.as_graph_element(definition.save_tensor_name).op)
