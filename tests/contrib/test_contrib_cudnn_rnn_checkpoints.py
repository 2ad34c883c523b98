"""Checkpoints of opaque vectors: a Saver's and an Estimator's, with a program's own saveable."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge_contrib import cudnn_rnn, rnn
from estimator_bridge_contrib.cudnn_rnn import cudnn_rnn_ops as ops

v1 = tf.compat.v1
X = np.random.default_rng(0).normal(size=(8, 5, 4)).astype(np.float32)  # [batch, time, size]
Y = np.arange(8, dtype=np.float32)
# By class: its cells, and a second saveable's name.
CELLS = {
    "CudnnLSTM": cudnn_rnn.CudnnCompatibleLSTMCell,
    "CudnnGRU": cudnn_rnn.CudnnCompatibleGRUCell,
    "CudnnRNNTanh": rnn.BasicRNNCell,
    "CudnnRNNRelu": lambda units: rnn.BasicRNNCell(units, tf.nn.relu),
}


class Shifted(cudnn_rnn.CudnnParamsFormatConverterLSTM):
    """Takes 1 off the forget bias, which an LSTMBlockCell adds; as Magenta does."""

    def _cudnn_to_tf_biases(self, *cu_biases):
        (bias,) = super()._cudnn_to_tf_biases(*cu_biases)
        i, c, f, o = tf.split(bias, 4)
        return (tf.concat([i, c, f - 1.0, o], 0),)

    def _tf_to_cudnn_biases(self, *tf_biases):
        (bias,) = tf_biases
        i, c, f, o = tf.split(bias, 4)
        return super()._tf_to_cudnn_biases(tf.concat([i, c, f + 1.0, o], 0))


class Renamed(cudnn_rnn.CudnnLSTMSaveable):
    _format_converter_cls = Shifted

    def _tf_canonical_name_prefix(self, layer, is_fwd=True):
        return f"multi_rnn_cell/cell_{layer}/lstm_cell"


def renaming(x, training=True):
    layer = cudnn_rnn.CudnnLSTM(2, 6, name="rnn")
    layer._saveable_cls = Renamed
    return layer, layer(tf.transpose(x, [1, 0, 2]), training=training)[0]


def model_fn(features, labels, mode):
    layer, outputs = renaming(features["x"], mode == "train")
    sums = tf.reduce_sum(outputs, [0, 2])
    predictions = {"sums": sums, "kernel": tf.tile(layer.kernel[None], [tf.shape(sums)[0], 1])}
    if mode == eb.ModeKeys.PREDICT:
        return eb.EstimatorSpec(mode, predictions)
    loss = tf.reduce_mean((sums - labels) ** 2)
    train = v1.train.AdamOptimizer(0.01).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, predictions, loss, train)


def batches(labels=True):
    def of():
        rows = ({"x": X}, Y) if labels else {"x": X}
        return tf.data.Dataset.from_tensor_slices(rows).batch(4)

    return of


def predicted(estimator):
    rows = list(estimator.predict(batches(labels=False)))
    return np.array([row["sums"] for row in rows]), rows[0]["kernel"]


def by_block_cells(folder):
    """Predicts from a checkpoint with the cells whose names it has."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant(X)
        with v1.variable_scope("rnn"):
            cell = rnn.MultiRNNCell([rnn.LSTMBlockCell(6) for _ in range(2)])
            with v1.variable_scope("multi_rnn_cell") as scope:
                pass
            outputs, state = [], cell.zero_state(8, tf.float32)
            for step in range(5):
                with v1.variable_scope(scope, reuse=step > 0, auxiliary_name_scope=False):
                    output, state = cell.call(x[:, step], state)
                outputs.append(output)
        v1.train.Saver().restore(session, tf.train.latest_checkpoint(folder))
        return session.run(tf.add_n([tf.reduce_sum(each, 1) for each in outputs]))


def test_an_estimator_saves_and_restores_a_programs_own_saveable(tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(batches(), steps=2)
    again = eb.Estimator(model_fn, str(tmp_path))
    again.train(batches(), max_steps=4)
    shapes = dict(tf.train.list_variables(str(tmp_path)))
    assert {name for name in shapes if name.startswith("rnn/")} == {
        *(
            f"rnn/multi_rnn_cell/cell_{number}/lstm_cell/{part}"
            for number in (0, 1)
            for part in ("kernel", "bias")
        ),
        *(f"rnn/opaque_kernel{slot}" for slot in ("", "/Adam", "/Adam_1")),
    }
    assert shapes["rnn/multi_rnn_cell/cell_0/lstm_cell/kernel"] == [10, 24]
    sums, kernel = predicted(again)
    np.testing.assert_allclose(
        kernel, tf.train.load_variable(str(tmp_path), "rnn/opaque_kernel"), atol=1e-6
    )
    np.testing.assert_allclose(sums, by_block_cells(str(tmp_path)), atol=1e-4)


def test_a_programs_saveable_restores_what_cells_saved(tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(batches(), steps=1)
    checkpoint = tf.train.latest_checkpoint(str(tmp_path))
    with tf.Graph().as_default(), v1.Session() as session:
        layer, _ = renaming(tf.constant(X))
        session.run(v1.global_variables_initializer())
        v1.train.Saver([layer.saveable]).restore(session, checkpoint)
        got = session.run(layer.kernel)
    np.testing.assert_allclose(
        got[:24], tf.train.load_variable(checkpoint, "rnn/opaque_kernel")[:24]
    )
    with tf.Graph().as_default(), v1.Session() as session:
        layer, outputs = renaming(tf.constant(X))
        v1.train.Saver([layer.saveable]).restore(session, checkpoint)
        sums = session.run(tf.reduce_sum(outputs, [0, 2]))
    np.testing.assert_allclose(sums, predicted(estimator)[0], atol=1e-5)


@pytest.mark.parametrize("name", CELLS)
def test_a_saver_writes_the_variables_of_cells(name, tmp_path):
    """1.15's own tests, with the names of 1.15.5: two networks, and a restored one."""
    saved = getattr(cudnn_rnn, f"{name}Saveable")
    ways = {"direction": "bidirectional"}
    cells, states = 2 * 2, [tf.zeros] * (2 if name == "CudnnLSTM" else 1)
    with tf.Graph().as_default(), v1.Session() as session:
        network = getattr(ops, name)(2, 6, 4, **ways)
        x = tf.constant(X.transpose(1, 0, 2))
        start = tf.random.uniform([network.params_size()], -1, 1, seed=1)
        params = v1.get_variable("opaque", initializer=start, validate_shape=False)
        other = v1.get_variable("other", initializer=start * 2, validate_shape=False)
        for variable, scope in ((params, None), (other, "second")):
            saveable = saved(
                variable, 2, 6, 4, scope=scope, name=f"{variable.op.name}_saveable", **ways
            )
            v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, saveable)
        outputs = network(x, *(each([cells, 8, 6]) for each in states), params)[0]
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver()
        path = saver.save(session, str(tmp_path / "model"))
        before, values = session.run([outputs, params])
        session.run([each.assign(tf.zeros_like(each)) for each in (params, other)])
        v1.train.Saver(v1.get_collection(v1.GraphKeys.SAVEABLE_OBJECTS)).restore(session, path)
        after, restored = session.run([outputs, other])
    np.testing.assert_allclose(after, before, atol=1e-5)
    assert not np.allclose(restored, values)

    with tf.Graph().as_default(), v1.Session() as session:
        both = [[CELLS[name](6) for _ in range(2)] for _ in range(2)]
        outputs = rnn.stack_bidirectional_dynamic_rnn(
            *both, tf.constant(X.transpose(1, 0, 2)), dtype=tf.float32, time_major=True
        )[0]
        v1.train.Saver().restore(session, path)
        by_cells = session.run(outputs)
    np.testing.assert_allclose(by_cells, before, atol=1e-5)


def test_a_layer_with_a_programs_saveable_equals_the_plain_layer():
    """From the same initializers, but for the forget bias, which is the checkpoint's alone."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant(X)
        with v1.variable_scope("main"):
            layer, outputs = renaming(x)
        plain = cudnn_rnn.CudnnLSTM(2, 6, name="plain")
        expected, _ = plain(tf.transpose(x, [1, 0, 2]))
        session.run(v1.global_variables_initializer())
        convert = cudnn_rnn.CudnnParamsFormatConverterLSTM(2, 6, 4)
        kernels = [each for each in plain.variables if "kernel" in each.name]
        biases = [each for each in plain.variables if "bias" in each.name]
        session.run(layer.kernel.assign(convert.tf_canonical_to_opaque(kernels + biases)))
        got, reference = session.run([outputs, expected])
        np.testing.assert_allclose(got, reference, atol=1e-5)
        assert [each.op.name for each in layer.trainable_variables] == ["main/rnn/opaque_kernel"]
        assert isinstance(layer.saveable, Renamed)
        with pytest.raises(RuntimeError, match="Cudnn saveable already created"):
            layer._create_saveable()
        with pytest.raises(NotImplementedError, match="plain has no saveable"):
            _ = plain.saveable
        with v1.variable_scope("main", reuse=True):
            again, _ = renaming(x)
        assert again.saveable is None
        names = [each.name for each in v1.get_collection(v1.GraphKeys.SAVEABLE_OBJECTS)]
        assert names == ["main/rnn/opaque_kernel_saveable"]


def test_naming_the_plain_saveable_changes_nothing():
    with tf.Graph().as_default():
        layer = cudnn_rnn.CudnnGRU(1, 6)
        layer._saveable_cls = cudnn_rnn.CudnnGRUSaveable
        layer(tf.zeros([5, 3, 4]))
        assert len(layer.trainable_variables) == 6
        assert not v1.get_collection(v1.GraphKeys.SAVEABLE_OBJECTS)
