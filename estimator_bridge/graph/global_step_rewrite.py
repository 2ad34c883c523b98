"""Replaces the branch through which TensorFlow's hooks read the global step.

The branch returns the variable's value if it has one, else its initial value. Summaries read it in
each step, where the variable has a value, and a branch takes four percent of a small step.
"""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import existing_global_step_read

__all__ = ["rewritten_global_step_read"]

_BEHIND = ("AddV2", "Identity")  # the ops after the branch, which add zero to its result


def rewritten_global_step_read(graph: tf.Graph) -> dict[str, tf.compat.v1.NodeDef]:
    """Returns the nodes that replace a graph's, by name: a plain read for that branch.

    The plain read fails if the step has no value yet.
    """
    step_read = existing_global_step_read(graph)
    branch = step_read.op if step_read is not None else None
    while branch is not None and branch.type in _BEHIND:
        branch = branch.inputs[0].op
    if branch is None or branch.type != "If":  # other variables, and v1's control flow
        return {}
    condition = branch.inputs[0].op
    if condition.type != "VarIsInitializedOp" or condition.inputs[0] is not branch.inputs[1]:
        return {}
    node = tf.compat.v1.NodeDef(
        name=branch.name, op="ReadVariableOp", input=[condition.inputs[0].op.name]
    )
    node.attr["dtype"].type = branch.outputs[0].dtype.as_datatype_enum
    return {branch.name: node}
