"""Probes of the names that only tf.contrib made public."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import (
    BetaWithSoftplusConcentration,
    Bijector,
    BoundedTensorSpec,
    EagerVariableStore,
    ExponentialWithSoftplusRate,
    GammaWithSoftplusConcentrationRate,
    IdentityBijector,
    LaplaceWithSoftplusScale,
    NormalWithSoftplusScale,
    RecordInput,
    StudentTWithAbsDfSoftplusScale,
    all_reduce_graphs,
    constant_value_as_shape,
    distribution_functions,
    distribution_parameters,
    eager_modes,
    graph_parents,
    load_and_remap_matrix_initializer,
    load_embedding_initializer,
    op_callbacks,
    registers_divergence,
    stripped_op_list_for_graph,
    test_modes,
    v1_initializers,
)
from estimator_bridge.tensorflow_private.layers import (
    has_automatic_name,
    layer_name_counts,
    layer_scope,
    place_layer,
    rename_layer,
    use_resource_variables,
    variable_scope_counts,
)
from estimator_bridge.tensorflow_private.names import eager_mode
from tooling.tensorflow_probes.registry import check, new_graph, probe

v1 = tf.compat.v1


@probe("BoundedTensorSpec", "RecordInput", "EagerVariableStore")
def _classes() -> None:
    spec = BoundedTensorSpec([2], tf.float32, 0.0, 1.0)
    check(float(spec.maximum) == 1.0, "a bounded specification has no maximum")
    with new_graph():
        check(RecordInput("*").get_yield_op() is not None, "RecordInput yields nothing")
    with eager_mode(), EagerVariableStore().as_default():
        variable = v1.get_variable("kept", [2])
        check(variable is not None, "an EagerVariableStore keeps nothing")


@probe("all_reduce_graphs")
def _all_reduce() -> None:
    with tf.Graph().as_default():
        tensors = [tf.constant([1.0, 2.0])] * 2
        devices = [["/cpu:0"]]
        sums = all_reduce_graphs.build_shuffle_all_reduce(tensors, devices[0], tf.add_n)
        check([each.shape.as_list() for each in sums] == [[2], [2]], "shapes are lost")


@probe("registers_divergence")
def _divergence() -> None:
    kind = type("Kind", (v1.distributions.Exponential,), {})
    registers_divergence(kind)(lambda p, q, name=None: tf.constant(3.0))
    with eager_mode():
        divergence = v1.distributions.kl_divergence(kind(1.0), kind(2.0))
        check(float(divergence) == 3.0, "a registered divergence is not found")


@probe("graph_parents")
def _parents() -> None:
    with tf.Graph().as_default():
        rate = tf.constant(1.0)
        parents = graph_parents(v1.distributions.Exponential(rate))
        check(len(parents) >= 1, "a distribution does not know its parameters")


@probe("distribution_parameters")
def _parameters() -> None:
    with eager_mode():
        matrix = distribution_parameters.fill_triangular(tf.constant([1.0, 2.0, 3.0]))
        check(matrix.numpy().tolist() == [[3.0, 0.0], [2.0, 1.0]], "triangles are filled otherwise")
    for name in ("fill_triangular_inverse", "matrix_diag_transform", "reduce_weighted_logsumexp",
                 "softplus_inverse", "tridiag"):  # fmt: skip
        check(hasattr(distribution_parameters, name), f"{name} is gone")


@probe("Bijector", "IdentityBijector", "constant_value_as_shape", "distribution_functions")
def _bijectors() -> None:
    identity = IdentityBijector()
    check(isinstance(identity, Bijector), "the identity is no bijector")
    with new_graph():
        x = tf.constant([1.0, 2.0])
        check(identity.forward(x) is x, "the identity changes its argument")
        shape = constant_value_as_shape(tf.constant([2, -1]))
        check(shape.as_list() == [2, None], "a tensor's shape is read otherwise")
    with eager_mode():
        value = distribution_functions.erfinv(tf.constant(0.0)).numpy()
        check(abs(float(value)) < 1e-6, "the inverse of the error function is another")


@probe(
    "BetaWithSoftplusConcentration", "ExponentialWithSoftplusRate",
    "GammaWithSoftplusConcentrationRate", "LaplaceWithSoftplusScale", "NormalWithSoftplusScale",
    "StudentTWithAbsDfSoftplusScale",
)  # fmt: skip
def _softplus_distributions() -> None:
    with eager_mode():
        distribution = NormalWithSoftplusScale(0.0, 0.0)
        softplus = float(tf.nn.softplus(0.0).numpy())
        check(abs(float(distribution.scale.numpy()) - softplus) < 1e-6, "the scale is no softplus")
    for kind in (
        BetaWithSoftplusConcentration,
        ExponentialWithSoftplusRate,
        GammaWithSoftplusConcentrationRate,
        LaplaceWithSoftplusScale,
        StudentTWithAbsDfSoftplusScale,
    ):
        check(isinstance(kind, type), f"{kind} is no class")


@probe("eager_modes", "test_modes", "op_callbacks")
def _modes() -> None:
    for name in ("ASYNC", "DEVICE_PLACEMENT_EXPLICIT", "DEVICE_PLACEMENT_SILENT",
                 "DEVICE_PLACEMENT_WARN", "SYNC", "async_clear_error", "async_wait",
                 "execution_mode", "set_execution_mode", "set_server_def"):  # fmt: skip
        check(hasattr(eager_modes, name), f"eager.{name} is gone")
    for name in ("run_all_in_graph_and_eager_modes", "run_in_graph_and_eager_modes"):
        check(hasattr(test_modes, name), f"{name} is gone")
    op_types: list[str] = []

    def see(op_type: str, *details: Any, **more: Any) -> None:
        del details, more
        op_types.append(op_type)

    with eager_mode():
        op_callbacks.add_op_callback(see)
        try:
            tf.square(tf.constant(2.0))
        finally:
            op_callbacks.remove_op_callback(see)
        tf.square(tf.constant(2.0))
    check(op_types == ["Square"], f"a callback sees {op_types}")


@probe("stripped_op_list_for_graph")
def _definitions() -> None:
    with new_graph() as graph:
        tf.square(tf.constant(2.0))
        op_list = stripped_op_list_for_graph(graph.as_graph_def())
    check([each.name for each in op_list.op] == ["Const", "Square"], "it lists something else")


@probe("v1_initializers")
def _initializers() -> None:
    for rank, name in enumerate(("1d", "2d", "3d")):
        initializer = getattr(v1_initializers, f"convolutional_orthogonal_{name}")
        shape = [1] * (rank + 1) + [2, 2]
        with eager_mode():
            kernel = np.reshape(initializer()(shape, tf.float32), [2, 2])
        check(np.allclose(kernel @ kernel.T, np.eye(2), atol=1e-5), f"{name} is not orthogonal")
    check(hasattr(v1_initializers, "convolutional_delta_orthogonal"), "delta is gone")


@probe("load_and_remap_matrix_initializer", "load_embedding_initializer")
def _remapping() -> None:
    initializer = load_and_remap_matrix_initializer("model.ckpt", "w", 2, 2)
    other = load_embedding_initializer("model.ckpt", "w", 2, 2, "old", "new")
    check(callable(initializer) and callable(other), "they make no initializers")


@probe("has_automatic_name", "layer_name_counts", "layer_scope", "place_layer", "rename_layer",
       "use_resource_variables", "variable_scope_counts")  # fmt: skip
def _layers() -> None:
    with new_graph():
        layer, named_layer = v1.layers.Dense(1), v1.layers.Dense(1, name="own")
        check(layer_scope(layer) is None, "a new layer has a scope")
        kinds = [has_automatic_name(each) for each in (v1.layers.Dense(1), named_layer)]
        check(kinds == [True, False], "a layer's name does not tell where it comes from")
        rename_layer(layer, layer_name_counts(), {"dense"}, "scope")
        check(layer.name == "dense_1", f"a layer is renamed to {layer.name}")
        use_resource_variables(layer)
        with v1.variable_scope("there") as scope:
            place_layer(layer, scope)
        layer(tf.zeros([1, 1]))
        check(layer.weights[0].name == "there/kernel:0", "a layer makes variables elsewhere")
        for name in ("_gather_saveables_for_checkpoint", "_init_set_name", "_set_scope"):
            check(hasattr(layer, name), f"{name} is gone, which networks replace")
        check("there" in variable_scope_counts(), "an opened scope is not counted")
