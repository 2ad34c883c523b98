"""The values of an exported model's variables, for variables and savers of all kinds."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge.errors import CheckpointError
from estimator_bridge.export import ServingInputReceiver
from estimator_bridge.export.saved_model import export_saved_model
from estimator_bridge.graph import trace_graph
from estimator_bridge.model import EstimatorSpec, ModeKeys

v1 = tf.compat.v1


def receiver():
    x = v1.placeholder(tf.float32, [None], name="x")
    return ServingInputReceiver({"x": x}, {"x": x})


def export(base, build, checkpoint, **options):
    """Exports what `build` makes of x: y, or y and a scaffold."""

    def call_model(features, labels, mode):
        del labels
        y, scaffold = build(features["x"]), None
        if isinstance(y, tuple):
            y, scaffold = y
        return EstimatorSpec(mode, {"y": y}, scaffold=scaffold)

    receivers = {ModeKeys.PREDICT: receiver}
    return export_saved_model(str(base), call_model, receivers, checkpoint, **options).decode()


def served(path, *x):
    return tf.saved_model.load(path).signatures["serving_default"](x=tf.constant(x))["y"].numpy()


def saved(folder, make, saver=lambda variables: v1.train.Saver()):
    """Writes a checkpoint of the variables that `make` makes, with the global step."""
    with trace_graph(), v1.Session() as session:
        variables = make()
        v1.train.create_global_step()
        session.run(v1.global_variables_initializer())
        return saver(variables).save(session, str(folder / "model.ckpt"))


def table(values=(0.0, 0.0, 0.0)):
    return v1.get_variable(
        "table",
        initializer=tf.constant(values, shape=[3, 1]),
        partitioner=v1.fixed_size_partitioner(2),
    )


def test_partitioned_variables(tmp_path):
    checkpoint = saved(tmp_path, lambda: table([1.0, 2.0, 4.0]))
    path = export(
        tmp_path / "e",
        lambda x: v1.nn.embedding_lookup(table(), tf.cast(x, tf.int32), partition_strategy="div"),
        checkpoint,
    )
    assert served(path, 2.0, 0.0).tolist() == [[4.0], [1.0]]
    # Written as one, so a model that is cut otherwise, or not at all, can take it over.
    assert tf.train.load_variable(path + "/variables/variables", "table").shape == (3, 1)


def test_partitioned_variables_of_another_size_are_an_error(tmp_path):
    checkpoint = saved(tmp_path, lambda: v1.get_variable("table", [4, 1]))
    with pytest.raises(CheckpointError, match=r"table is float32 \(3, 1\) in the model"):
        export(tmp_path / "e", lambda x: x + tf.reduce_sum(table()), checkpoint)


def test_keras_layers(tmp_path):
    """Layers of tf_keras name and own their variables themselves; a saver finds them all."""

    def build(x):
        layers = [tf.keras.layers.Dense(2, name="a"), tf.keras.layers.LayerNormalization(name="b")]
        y = tf.expand_dims(x, 1)
        for layer in layers:
            y = layer(y)
        return y

    checkpoint = saved(tmp_path, lambda: build(v1.placeholder(tf.float32, [None])))
    path = export(tmp_path / "e", build, checkpoint)
    kernel = tf.train.load_variable(checkpoint, "a/kernel")
    hidden = np.float32([[3.0]]) @ kernel
    expected = (hidden - hidden.mean()) / np.sqrt(hidden.var() + 1e-3)
    np.testing.assert_allclose(served(path, 3.0), expected, rtol=1e-5)


def test_a_saver_that_is_built_later(tmp_path):
    checkpoint = saved(tmp_path, lambda: v1.get_variable("w", initializer=3.0))

    def build(x):
        w = v1.get_variable("w", initializer=0.0)
        return w * x, v1.train.Scaffold(saver=v1.train.Saver(defer_build=True))

    assert served(export(tmp_path / "e", build, checkpoint), 2.0).tolist() == [6.0]


def test_an_object_based_checkpoint(tmp_path):
    """A variable that it lacks keeps its initial value."""
    with trace_graph(), v1.Session() as session:
        w = v1.get_variable("w", initializer=3.0)
        session.run(v1.global_variables_initializer())
        checkpoint = tf.train.Checkpoint(weight=w).save(str(tmp_path / "c"))

    def build(x):
        w = v1.get_variable("w", initializer=0.0)
        b = v1.get_variable("b", initializer=0.5)
        return w * x + b, v1.train.Scaffold(saver=tf.train.Checkpoint(weight=w))

    assert served(export(tmp_path / "e", build, checkpoint), 2.0).tolist() == [6.5]


@pytest.fixture
def _variables_of_tf1():
    v1.disable_resource_variables()
    yield
    v1.enable_resource_variables()


@pytest.mark.usefixtures("_variables_of_tf1")
def test_a_program_with_tf1s_variables_exports_such(tmp_path):
    """There, a variable's name is that of its value, which programs read and feed by it."""
    checkpoint = saved(tmp_path, lambda: v1.get_variable("w", initializer=3.0))
    path = export(tmp_path / "e", lambda x: v1.get_variable("w", initializer=0.0) * x, checkpoint)
    with tf.Graph().as_default(), v1.Session() as session:
        v1.saved_model.load(session, ["serve"], path)
        assert session.run("w:0") == 3.0
    assert served(path, 2.0).tolist() == [6.0]


@pytest.mark.parametrize("strip", [True, False])
def test_default_attributes_are_left_out_on_demand(strip, tmp_path):
    """Another release of TensorFlow may not know them."""
    path = export(tmp_path, lambda x: tf.matmul(x[None], x[None], transpose_b=True), None,
                  strip_default_attrs=strip, as_text=True)  # fmt: skip
    with open(path + "/saved_model.pbtxt", encoding="utf-8") as file:
        (matmul,) = (node for node in file.read().split("node {") if 'op: "MatMul"' in node)
    assert '"transpose_b"' in matmul
    assert ('"transpose_a"' in matmul) != strip


def test_the_seed_is_the_graphs(tmp_path):
    def build(x):
        assert tf.compat.v1.get_default_graph().seed == 7
        return x + v1.random_normal([1])

    paths = [export(tmp_path, build, None, seed=7) for _ in range(2)]
    first, second = (served(path, 0.0) for path in paths)
    assert first == second
