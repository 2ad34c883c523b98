"""What a saver is to write, taken at the end of a step, and written while steps go on.

The graph is cut before the operations that save. What they take (variables, slices of them, a
table's keys) is computed between two steps, and fed to them in another thread. On a CPU a value is
no copy at first: TensorFlow copies a variable that somebody else holds when a step changes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.overwriting import SAVING, CheckpointingSession
from estimator_bridge.graph import host_device
from estimator_bridge.tensorflow_private import SessionInterface, eager_mode

__all__ = ["SaverSnapshot", "why_not_beside_steps"]

_Saver = tf.compat.v1.train.Saver
_SAVE = SAVING[-1]  # whose first three inputs say where and under which names


def why_not_beside_steps(session: Any, saver: Any) -> str | None:
    """Says why a saver cannot write while steps run; None if it can.

    Args:
      session: that the steps run in.
      saver: built.
    """
    if not isinstance(session, CheckpointingSession):
        return f"the steps run in a {type(session).__name__}, not in an estimator's train()"
    if not isinstance(saver, _Saver) or type(saver).save is not _Saver.save:
        return f"{type(saver).__name__} has a save() of its own"
    if not any(True for _ in _saving_operations(session.graph, saver)):
        return "the saver has no SaveV2 operation"
    return None


class SaverSnapshot(SessionInterface):
    """A session that a saver writes from, in any thread: it has the values of one moment.

    Args:
      session: of the graph, between two steps.
      saver: of the graph, for which `why_not_beside_steps` finds nothing.
    """

    def __init__(self, session: CheckpointingSession, saver: Any):
        self._session, self._graph = session, session.graph
        inputs = [
            tensor.name
            for operation in _saving_operations(session.graph, saver)
            for tensor in operation.inputs[3:]
        ]
        refs = list(dict.fromkeys(inputs))
        with eager_mode(), tf.device(host_device()):
            values = [tf.identity(value) for value in session.evaluate(refs)]
        self._values = dict(zip(refs, values))
        self._fetch = _element(session.graph, saver.saver_def.save_tensor_name).name
        self._file = saver.saver_def.filename_tensor_name
        self._function = session.function([self._fetch], [self._file, *refs])

    @property
    def graph(self) -> tf.Graph:
        """The graph, for the checkpoint's .meta."""
        return self._graph

    @property
    def sess_str(self) -> str:
        """The target: always this process."""
        return ""

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Writes the checkpoint, as the saver asks for; nothing else can be run."""
        del options, run_metadata
        if fetches != self._fetch or list(feed_dict or ()) != [self._file]:
            raise NotImplementedError(
                f"A saver that writes beside the steps runs {self._fetch!r} alone; got {fetches!r}."
            )
        (prefix,) = (feed_dict or {}).values()

        def write(path: str) -> bytes:
            (saved,) = self._function({self._file: path, **self._values}, 0)
            return saved.numpy()

        return self._session.save(tf.compat.as_str(prefix), write)


def _saving_operations(graph: tf.Graph, saver: Any) -> Iterator[tf.Operation]:
    """The operations of a saver that write variables."""
    definition = getattr(saver, "saver_def", None)
    if definition is None or not definition.save_tensor_name:
        return
    seen: set[str] = set()
    waiting = [_element(graph, definition.save_tensor_name).op]
    while waiting:
        operation = waiting.pop()
        if operation.name in seen:
            continue
        seen.add(operation.name)
        if operation.type == _SAVE:
            yield operation
        else:
            waiting += [*operation.control_inputs, *(tensor.op for tensor in operation.inputs)]


def _element(graph: tf.Graph, name: str) -> tf.Tensor:
    return graph.as_graph_element(name, allow_tensor=True, allow_operation=False)
