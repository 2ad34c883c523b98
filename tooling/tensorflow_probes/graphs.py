"""Probes of the operations of graphs."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.conversion import leave_unconverted
from estimator_bridge.tensorflow_private.graphs import (
    branches_in_name_scopes,
    clear_device,
    constants_made_otherwise,
    control_flow_context,
    import_below_control_edges,
    last_loss_reduction,
    loop_ends,
    loss_is_scaled,
    make_operations_otherwise,
    operations_made_otherwise,
    replace_control_inputs,
    replace_input,
    set_gradient,
)
from estimator_bridge.tensorflow_private.xla import xla_op_types
from tooling.tensorflow_probes.registry import check, graph_types, names_of, new_graph, probe

v1 = tf.compat.v1
_train = v1.train


@probe("Maker", "graph_operations", "operations_made_otherwise")
def _made_otherwise() -> None:
    def make(inputs: Any, name: Any, attrs: Any) -> tf.Operation:
        del name, attrs
        return tf.raw_ops.Neg(x=inputs[0]).op

    with new_graph() as graph, operations_made_otherwise({"Square": make}):
        tf.square(tf.constant(2.0))
        check(graph_types(graph) == ["Const", "Neg"], f"{graph_types(graph)}")


@probe("make_operations_otherwise")
def _make_for_good() -> None:
    make_operations_otherwise({})
    check(hasattr(tf.Graph._create_op_internal, "__wrapped__"), "operations are not seen")


@probe("constants_made_otherwise")
def _constants() -> None:
    def make(value: Any, name: str | None) -> tf.Tensor | None:
        del name
        return tf.raw_ops.Placeholder(dtype=tf.float64) if isinstance(value, np.ndarray) else None

    array = np.zeros([2])
    with new_graph() as graph, constants_made_otherwise(make):
        tf.constant(array)
        tf.convert_to_tensor(array)
        tf.constant(1.0)
        tf.constant(array, tf.int32)
        tf.constant(array, shape=[2, 1])
    types = graph_types(graph)
    check(types == ["Placeholder"] * 2 + ["Const"] * 3, f"{types}")


@probe("leave_unconverted")
def _conversion() -> None:
    leave_unconverted("tooling.tensorflow_probes")
    filenames = []

    layer: Any = v1.layers.Layer

    class Watched(layer):
        def call(self, inputs: Any) -> Any:
            filenames.append(sys._getframe(0).f_code.co_filename)
            return inputs

    with new_graph():
        Watched()(tf.zeros([1]))
    check(filenames == [__file__], f"converted: {filenames}")


@probe("import_below_control_edges")
def _import_below() -> None:
    definition = tf.Graph().as_graph_def()
    with new_graph() as graph:
        x = tf.constant(1.0)
        with graph.control_dependencies([x.op]), import_below_control_edges():
            tf.graph_util.import_graph_def(definition, {}, [])
        check(graph_types(graph) == ["Const"], "more than the graph")


@probe("branches_in_name_scopes")
def _branches() -> None:
    names: list[str] = []

    def branch() -> tf.Tensor:
        names.append(tf.constant(1.0, name="made").name)
        return tf.constant(2.0)

    with new_graph(), branches_in_name_scopes(), v1.name_scope("outer"):
        v1.enable_control_flow_v2()
        tf.cond(tf.constant(True), branch, branch)
    check(names[0].startswith("outer/"), f"a branch's operation is called {names[0]}")


@probe("clear_device", "replace_input", "control_flow_context")
def _changes_of_operations() -> None:
    with new_graph() as graph, v1.Session() as session:
        with tf.device("/CPU:0"):
            x = tf.identity(tf.constant(1.0))
        clear_device(x.op)
        check(x.device == "", "the device stays")
        replace_input(x.op, 0, tf.constant(5.0))
        check(session.run(x) == 5, "the input stays")
        check(control_flow_context(graph) is None, "there is a context")


@probe("set_gradient")
def _gradient_of_an_operation() -> None:
    name = "EstimatorBridgeProbe"

    @tf.RegisterGradient(name)
    def gradient(op: tf.Operation, of_output: tf.Tensor) -> tf.Tensor:
        del op
        return 7.0 * of_output

    with new_graph(), v1.Session() as session:
        x = tf.constant(1.0)
        y = tf.square(x)
        set_gradient(y.op, name)
        check(session.run(v1.gradients(y, x)) == [7.0], "the operation keeps its gradient")


@probe("replace_control_inputs", "loop_ends")
def _edges() -> None:
    with new_graph() as graph:
        first, second = tf.constant(1.0), tf.constant(2.0)
        replace_control_inputs(second.op, [first.op])
        check(second.op.control_inputs == [first.op], "the awaited operation is not there")
        replace_control_inputs(second.op, [])
        check(not second.op.control_inputs, "the awaited operation stays")
        v2 = v1.control_flow_v2_enabled()
        v1.disable_control_flow_v2()
        try:
            v1.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
        finally:
            if v2:
                v1.enable_control_flow_v2()
        ((enters, exits),) = loop_ends(graph.get_operations())
        check({op.type for op in enters} == {"Enter"}, f"a loop is entered by {enters}")
        check({op.type for op in exits} == {"Exit"}, f"a loop is left by {exits}")


@probe("loss_is_scaled", "last_loss_reduction")
def _losses() -> None:
    with new_graph() as graph:
        v1.losses.mean_squared_error(tf.zeros([2]), tf.zeros([2]))
        check(last_loss_reduction(graph) == "weighted_sum_by_nonzero_weights", "reduction")
        check(not loss_is_scaled(graph), "scaled without a strategy")
    names = names_of(_train.Optimizer)
    check("_is_loss_scaled_by_optimizer" in names, "optimizers note scaled losses elsewhere")


@probe("xla_op_types")
def _xla_types() -> None:
    check({"MatMul", "Conv2D"} <= set(xla_op_types()), "MatMul and Conv2D are not listed")
