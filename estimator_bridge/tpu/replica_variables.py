"""The variables of replicas that share one graph.

As on a TPU, each core works on its own copy. At the start of a run, each copy has the program's
values. The program sees the values of the first core, whose copy is the program's variable itself;
so it also sees them during the run.
"""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.op_kinds import READS
from estimator_bridge.tensorflow_private.graphs import replace_input

__all__ = ["ReplicaVariables"]

# Operations that a variable creates itself, below its own name. They belong to the program, not to
# a replica.
_OWN = ("Assign", "Read/ReadVariableOp", "IsInitialized/VarIsInitializedOp")


class ReplicaVariables:
    """Gives each replica its own copy of the variables that it changes.

    Args:
      graph: the program's graph.
    """

    def __init__(self, graph: tf.Graph):
        self._graph = graph
        self._uses: list[dict[tf.Tensor, list[tuple[tf.Operation, int]]]] = []
        self._changes: set[Any] = set()
        self._variables: dict[str, list[Any]] = collections.defaultdict(list)

    @contextlib.contextmanager
    def replica(self, number: int) -> Iterator[None]:
        """A context to build a replica in. All replicas use the variables of the first one."""
        uses: dict[str, int] = collections.Counter()

        def creator(next_creator: Any, **kwargs: Any) -> Any:
            # get_variable finds a variable by its name; an optimizer's beta1_power has none.
            name = str(kwargs.get("name"))
            variables = self._variables[name]
            if number and uses[name] < len(variables):
                uses[name] += 1
                return variables[uses[name] - 1]
            variable = next_creator(**kwargs)
            if not number:
                variables.append(variable)
            return variable

        with tf.variable_creator_scope(creator):
            yield

    def note(self, operations: Sequence[tf.Operation]) -> None:
        """Records the accesses of the last replica to variables.

        Args:
          operations: the operations of the last replica.
        """
        uses: dict[Any, list[tuple[tf.Operation, int]]] = collections.defaultdict(list)
        for op in operations:
            for index, handle in enumerate(op.inputs):
                if handle.op.type != "VarHandleOp" or _is_own(op, handle):
                    continue
                uses[handle.ref()].append((op, index))
                if op.type not in READS:
                    self._changes.add(handle.ref())
        self._uses.append(uses)

    def separate(self, before: Sequence[tf.Operation]) -> None:
        """Gives all replicas but the first their own copies, which each run initializes again.

        Args:
          before: operations that must also run before a replica uses a changed variable.
        """
        copies: dict[tuple[int, Any], tf.Tensor] = {}
        accesses = list(before)
        shared = [key for key in self._changes if sum(key in uses for uses in self._uses) > 1]
        with tf.control_dependencies(None), self._graph.device(None):
            for key in shared:
                handle = key.deref()
                dtype = tf.as_dtype(handle.op.get_attr("dtype"))
                shape = tf.TensorShape(handle.op.get_attr("shape"))
                value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)
                for number, uses in enumerate(self._uses):
                    if number and key in uses:
                        name = self._graph.unique_name(f"{handle.op.name}/of_replica_{number}")
                        copy = tf.raw_ops.VarHandleOp(
                            dtype=dtype, shape=shape, shared_name=name, container="", name=name
                        )
                        copies[number, key] = copy
                        accesses.append(tf.raw_ops.AssignVariableOp(resource=copy, value=value))
            with tf.control_dependencies(accesses):
                for key in shared:
                    for number, uses in enumerate(self._uses):
                        if key not in uses:
                            continue
                        # The handle itself waits for nothing; its copy waits for these accesses.
                        ready = tf.identity(copies.get((number, key), key.deref()))
                        for op, index in uses[key]:
                            replace_input(op, index, ready)


def _is_own(op: tf.Operation, handle: tf.Tensor) -> bool:
    return any(op.name == f"{handle.op.name}/{name}" for name in _OWN)
