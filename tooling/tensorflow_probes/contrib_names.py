"""Probes of the names that only tf.contrib made public."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge import tensorflow_private as private
from tooling.tensorflow_probes.registry import check, new_graph, probe

v1 = tf.compat.v1


@probe("BoundedTensorSpec", "RecordInput", "EagerVariableStore")
def _classes() -> None:
    spec = private.BoundedTensorSpec([2], tf.float32, 0.0, 1.0)
    check(float(spec.maximum) == 1.0, "a bounded specification has no maximum")
    with new_graph():
        check(private.RecordInput("*").get_yield_op() is not None, "RecordInput yields nothing")
    with private.eager_mode(), private.EagerVariableStore().as_default():
        made = v1.get_variable("kept", [2])
        check(made is not None, "an EagerVariableStore keeps nothing")


@probe("all_reduce_graphs")
def _all_reduce() -> None:
    with tf.Graph().as_default():
        tensors = [tf.constant([1.0, 2.0])] * 2
        devices = [["/cpu:0"]]
        made = private.all_reduce_graphs.build_shuffle_all_reduce(tensors, devices[0], tf.add_n)
        check([each.shape.as_list() for each in made] == [[2], [2]], "shapes are lost")


@probe("registers_divergence")
def _divergence() -> None:
    kind = type("Kind", (v1.distributions.Exponential,), {})
    private.registers_divergence(kind)(lambda p, q, name=None: tf.constant(3.0))
    with private.eager_mode():
        found = v1.distributions.kl_divergence(kind(1.0), kind(2.0))
        check(float(found) == 3.0, "a registered divergence is not found")


@probe("graph_parents")
def _parents() -> None:
    with tf.Graph().as_default():
        rate = tf.constant(1.0)
        found = private.graph_parents(v1.distributions.Exponential(rate))
        check(len(found) >= 1, "a distribution does not know its parameters")


@probe("distribution_parameters")
def _parameters() -> None:
    with private.eager_mode():
        made = private.distribution_parameters.fill_triangular(tf.constant([1.0, 2.0, 3.0]))
        check(made.numpy().tolist() == [[3.0, 0.0], [2.0, 1.0]], "triangles are filled otherwise")
    for name in ("fill_triangular_inverse", "matrix_diag_transform", "reduce_weighted_logsumexp",
                 "softplus_inverse", "tridiag"):  # fmt: skip
        check(hasattr(private.distribution_parameters, name), f"{name} is gone")


@probe("Bijector", "IdentityBijector", "constant_value_as_shape", "distribution_functions")
def _bijectors() -> None:
    identity = private.IdentityBijector()
    check(isinstance(identity, private.Bijector), "the identity is no bijector")
    with new_graph():
        x = tf.constant([1.0, 2.0])
        check(identity.forward(x) is x, "the identity changes its argument")
        shape = private.constant_value_as_shape(tf.constant([2, -1]))
        check(shape.as_list() == [2, None], "a tensor's shape is read otherwise")
    with private.eager_mode():
        found = private.distribution_functions.erfinv(tf.constant(0.0)).numpy()
        check(abs(float(found)) < 1e-6, "the inverse of the error function is another")


@probe(
    "BetaWithSoftplusConcentration", "ExponentialWithSoftplusRate",
    "GammaWithSoftplusConcentrationRate", "LaplaceWithSoftplusScale", "NormalWithSoftplusScale",
    "StudentTWithAbsDfSoftplusScale",
)  # fmt: skip
def _softplus_distributions() -> None:
    with private.eager_mode():
        made = private.NormalWithSoftplusScale(0.0, 0.0)
        softplus = float(tf.nn.softplus(0.0).numpy())
        check(abs(float(made.scale.numpy()) - softplus) < 1e-6, "the scale is no softplus")
    for name in ("BetaWithSoftplusConcentration", "ExponentialWithSoftplusRate",
                 "GammaWithSoftplusConcentrationRate", "LaplaceWithSoftplusScale",
                 "StudentTWithAbsDfSoftplusScale"):  # fmt: skip
        check(callable(getattr(private, name)), f"{name} is no class")


@probe("eager_modes", "test_modes", "op_callbacks")
def _modes() -> None:
    for name in ("ASYNC", "DEVICE_PLACEMENT_EXPLICIT", "DEVICE_PLACEMENT_SILENT",
                 "DEVICE_PLACEMENT_WARN", "SYNC", "async_clear_error", "async_wait",
                 "execution_mode", "set_execution_mode", "set_server_def"):  # fmt: skip
        check(hasattr(private.eager_modes, name), f"eager.{name} is gone")
    for name in ("run_all_in_graph_and_eager_modes", "run_in_graph_and_eager_modes"):
        check(hasattr(private.test_modes, name), f"{name} is gone")
    seen: list[str] = []

    def see(op_type: str, *details: Any, **more: Any) -> None:
        del details, more
        seen.append(op_type)

    with private.eager_mode():
        private.op_callbacks.add_op_callback(see)
        try:
            tf.square(tf.constant(2.0))
        finally:
            private.op_callbacks.remove_op_callback(see)
        tf.square(tf.constant(2.0))
    check(seen == ["Square"], f"a callback sees {seen}")


@probe("stripped_op_list_for_graph")
def _definitions() -> None:
    with new_graph() as graph:
        tf.square(tf.constant(2.0))
        found = private.stripped_op_list_for_graph(graph.as_graph_def())
    check([each.name for each in found.op] == ["Const", "Square"], "it lists something else")


@probe("v1_initializers")
def _initializers() -> None:
    for rank, name in enumerate(("1d", "2d", "3d")):
        made = getattr(private.v1_initializers, f"convolutional_orthogonal_{name}")
        shape = [1] * (rank + 1) + [2, 2]
        with private.eager_mode():
            kernel = np.reshape(made()(shape, tf.float32), [2, 2])
        check(np.allclose(kernel @ kernel.T, np.eye(2), atol=1e-5), f"{name} is not orthogonal")
    check(hasattr(private.v1_initializers, "convolutional_delta_orthogonal"), "delta is gone")


@probe("load_and_remap_matrix_initializer", "load_embedding_initializer")
def _remapping() -> None:
    made = private.load_and_remap_matrix_initializer("model.ckpt", "w", 2, 2)
    other = private.load_embedding_initializer("model.ckpt", "w", 2, 2, "old", "new")
    check(callable(made) and callable(other), "they make no initializers")


@probe("has_automatic_name", "layer_name_counts", "layer_scope", "place_layer", "rename_layer",
       "use_resource_variables", "variable_scope_counts")  # fmt: skip
def _layers() -> None:
    with new_graph():
        layer, named = v1.layers.Dense(1), v1.layers.Dense(1, name="own")
        check(private.layer_scope(layer) is None, "a new layer has a scope")
        kinds = [private.has_automatic_name(each) for each in (v1.layers.Dense(1), named)]
        check(kinds == [True, False], "a layer's name does not tell where it comes from")
        private.rename_layer(layer, private.layer_name_counts(), {"dense"}, "scope")
        check(layer.name == "dense_1", f"a layer is renamed to {layer.name}")
        private.use_resource_variables(layer)
        with v1.variable_scope("there") as scope:
            private.place_layer(layer, scope)
        layer(tf.zeros([1, 1]))
        check(layer.weights[0].name == "there/kernel:0", "a layer makes variables elsewhere")
        for name in ("_gather_saveables_for_checkpoint", "_init_set_name", "_set_scope"):
            check(hasattr(layer, name), f"{name} is gone, which networks replace")
        check("there" in private.variable_scope_counts(), "an opened scope is not counted")
