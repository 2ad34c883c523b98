"""tf.contrib.model_pruning beside NumPy, in Estimators, on two cores, and its files."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import estimator_bridge as eb
from estimator_bridge.errors import MissingImportError
from estimator_bridge_contrib import model_pruning
from estimator_bridge_contrib.model_pruning import (
    core_layers,
    pruning_utils,
    strip_pruning_vars,
)

v1 = tf.compat.v1
X = np.random.RandomState(0).normal(size=(16, 6)).astype(np.float32)
Y = X.sum(1)
PHASES = (Phase.explicit, Phase.generate)  # an example takes too long to look for a smaller one


def options(text=""):
    return model_pruning.get_pruning_hparams().parse(text)


def updated(weights, text="", **arguments):
    """Returns the mask and the threshold of weights after one update."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.train.get_or_create_global_step()
        start = tf.constant(np.asarray(weights, np.float32))
        model_pruning.apply_mask(v1.get_variable("kernel", initializer=start))
        update = model_pruning.Pruning(options(text), **arguments).mask_update_op()
        session.run(v1.global_variables_initializer())
        session.run(update)
        return session.run([*model_pruning.get_masks(), *model_pruning.get_thresholds()])


@settings(max_examples=15, deadline=None, phases=PHASES)
@given(
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.floats(0, 0.99),
    st.floats(0, 0.9),
    st.integers(0, 100),
)
def test_the_smallest_weights_are_masked(shape, sparsity, decay, seed):
    weights = np.random.RandomState(seed).normal(size=shape).astype(np.float32)
    count = int(np.round(np.float32(weights.size) * (1 - np.float32(sparsity))))
    if count == 0:  # 1.15.5 fails too
        with pytest.raises(tf.errors.InvalidArgumentError):
            updated(weights, sparsity=sparsity)
        return
    mask, threshold = updated(weights, f"threshold_decay={decay}", sparsity=sparsity)
    smallest = np.sort(np.abs(weights).ravel())[-count] * (1 - decay)
    np.testing.assert_allclose(threshold, smallest, rtol=1e-5)
    np.testing.assert_array_equal(mask, np.abs(weights) >= threshold)


@settings(max_examples=10, deadline=None, phases=PHASES)
@given(
    st.tuples(st.integers(2, 3), st.integers(2, 3)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.sampled_from(["AVG", "MAX"]),
    st.integers(0, 100),
)
def test_blocks_are_masked_as_a_whole(counts, block, pooling, seed):
    shape = tuple(np.multiply(counts, block))
    weights = np.random.RandomState(seed).normal(size=shape).astype(np.float32)
    text = f"block_height={block[0]},block_width={block[1]},block_pooling_function={pooling}"
    pool = np.mean if pooling == "AVG" else np.max
    rows, columns = (range(0, size, step) for size, step in zip(shape, block))
    parts = [(slice(i, i + block[0]), slice(j, j + block[1])) for i in rows for j in columns]
    pooled = np.array([pool(np.abs(weights[part])) for part in parts])
    count = int(np.round(len(parts) / 2))
    mask, threshold = updated(weights, text, sparsity=0.5)
    np.testing.assert_allclose(threshold, np.sort(pooled)[-count], rtol=1e-5)
    for part, size in zip(parts, pooled):
        if not np.isclose(size, threshold):
            assert np.all(mask[part] == (size > threshold))


@pytest.mark.parametrize("blocks", [(1, 1), (2, 3), (4, 1)])
def test_expanded_tensors_are_kronecker_products(blocks):
    tensor = tf.constant(X[:3, :2])
    expanded = pruning_utils.expand_tensor(tensor, blocks)
    product = pruning_utils.kronecker_product(tensor, tf.ones(blocks))
    np.testing.assert_array_equal(expanded, np.kron(X[:3, :2], np.ones(blocks)))
    np.testing.assert_array_equal(expanded, product)


def test_matrices_and_two_sizes_are_wanted():
    with pytest.raises(ValueError, match="rank 2"):
        pruning_utils.expand_tensor(tf.zeros([2]), [1, 1])
    with pytest.raises(ValueError, match="2 elements"):
        pruning_utils.expand_tensor(tf.zeros([2, 2]), [1])
    with pytest.raises(ValueError, match="rank 2"):
        pruning_utils.factorized_pool(tf.zeros([2]), [1, 1], "MAX", [1, 1], "SAME")


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_a_masked_convolution_is_one_of_the_masked_kernel(data_format):
    first = data_format == "channels_first"
    with tf.Graph().as_default():
        images = v1.placeholder(tf.float32, [2, 3, 8, 8] if first else [2, 8, 8, 3])
        layer = core_layers.MaskedConv2D(
            4, 3, strides=2, padding="SAME", data_format=data_format, activation=tf.nn.relu
        )
        outputs = layer(images)
        assert outputs.shape == ([2, 4, 4, 4])
        names = [each.op.name.rpartition("/")[2] for each in layer.variables]
    assert sorted(names) == ["bias", "kernel", "mask", "threshold"]


def test_a_masked_dense_layer_is_one_of_the_masked_kernel():
    with tf.Graph().as_default(), v1.Session() as session:
        layer = core_layers.MaskedFullyConnected(3, kernel_regularizer=tf.nn.l2_loss, name="own")
        outputs = layer(tf.constant(X))
        deeper = core_layers.MaskedFullyConnected(2, use_bias=False)(tf.ones([2, 5, 4]))
        session.run(v1.global_variables_initializer())
        mask = np.tile([[1.0, 0.0, 1.0]], [6, 1])
        layer.mask.load(mask, session)
        kernel, got, loss = session.run([layer.kernel, outputs, layer.losses[0]])
    np.testing.assert_allclose(got, X @ (kernel * mask), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(loss, np.sum(kernel**2) / 2, rtol=1e-5)
    assert deeper.shape == [2, 5, 2]
    assert layer.kernel.op.name == "own/kernel" and len(layer.trainable_weights) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: core_layers.MaskedConv2D(2, 3, padding="causal"), "padding must be one of"),
        (lambda: core_layers.MaskedConv2D(2, 3, data_format="NHWC"), "data_format must be one of"),
        (
            lambda: core_layers.MaskedConv2D(2, 3)(v1.placeholder(tf.float32, [1, 4, 4, None])),
            "channel dimension",
        ),
        (
            lambda: core_layers.MaskedFullyConnected(2)(v1.placeholder(tf.float32, [1, None])),
            "last dimension",
        ),
    ],
)
def test_layers_say_what_is_wrong(make, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        make()


class UpdateMasks(v1.train.SessionRunHook):
    """Updates the masks after each step."""

    def begin(self):
        """Adds the operation to the graph."""
        self._update = pruning_of("hook").conditional_mask_update_op()

    def after_run(self, run_context, run_values):
        """Runs it."""
        del run_values
        run_context.session.run(self._update)


def pruning_of(name, more=""):
    text = f"name={name},pruning_frequency=1,sparsity_function_end_step=8,target_sparsity=0.75"
    return model_pruning.Pruning(options(text + more))


def network(features, labels):
    net = model_pruning.masked_fully_connected(features, 4, scope="dense")
    cell = model_pruning.MaskedBasicLSTMCell(2)
    outputs, _ = v1.nn.dynamic_rnn(cell, tf.reshape(net, [-1, 2, 2]), dtype=tf.float32)
    return tf.reduce_mean(tf.square(tf.reduce_sum(outputs, [1, 2]) - labels))


def in_order(train, then):
    with tf.control_dependencies([train]):
        return then()


@pytest.mark.parametrize("by_hook", [False, True])
def test_an_estimator_prunes(tmp_path, by_hook):
    def model_fn(features, labels, mode):
        loss = network(features, labels)
        step = v1.train.get_global_step()
        train = v1.train.AdamOptimizer(0.01).minimize(loss, step)
        if not by_hook:
            pruning = pruning_of("op")
            train = in_order(train, pruning.conditional_mask_update_op)
            pruning.add_pruning_summaries()
        hooks = [UpdateMasks()] if by_hook else []
        return eb.EstimatorSpec(mode, loss=loss, train_op=train, training_hooks=hooks)

    estimator = eb.Estimator(model_fn, str(tmp_path))
    for steps in (7, 5):  # the second call reads the masks of the first
        estimator.train(lambda: tf.data.Dataset.from_tensors((X, Y)).repeat(), steps=steps)
    names = [name for name in estimator.get_variable_names() if name.endswith("/mask")]
    assert names == ["dense/mask", "rnn/masked_basic_lstm_cell/mask"]
    for name in names:
        assert np.mean(estimator.get_variable_value(name) == 0) == 0.75, name
    scope = "hook" if by_hook else "op"
    assert estimator.get_variable_value(f"{scope}/last_mask_update_step") in (11, 12)
    assert np.isfinite(estimator.evaluate(lambda: tf.data.Dataset.from_tensors((X, Y)))["loss"])


@pytest.mark.parametrize("more", ["", ",use_tpu=true,block_height=2,block_width=2"])
def test_two_cores_prune_as_one_machine(tmp_path, more):
    def model_fn(features, labels, mode, params):
        loss = network(features, labels)
        optimizer = v1.train.GradientDescentOptimizer(0.05)
        if params["use_tpu"]:
            optimizer = eb.tpu.CrossShardOptimizer(optimizer)
        train = optimizer.minimize(loss, v1.train.get_global_step())
        update = pruning_of("model_pruning", more).conditional_mask_update_op
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=in_order(train, update))

    def train(cores):
        config = eb.tpu.RunConfig(
            master=f"emulated:{cores or 1}",
            model_dir=str(tmp_path / str(cores)),
            tf_random_seed=3,
            tpu_config=eb.tpu.TPUConfig(iterations_per_loop=4),
        )
        estimator = eb.tpu.TPUEstimator(
            model_fn, config=config, train_batch_size=16, use_tpu=bool(cores)
        )

        def input_fn(params):
            data = tf.data.Dataset.from_tensor_slices((X, Y)).repeat()
            return data.batch(params["batch_size"], drop_remainder=True)

        estimator.train(input_fn, steps=12)
        return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}

    alone, two = train(0), train(2)
    assert alone.keys() == two.keys() and 0.6 < np.mean(alone["dense/mask"] == 0) < 0.8
    for name, value in alone.items():
        np.testing.assert_allclose(two[name], value, rtol=1e-4, atol=1e-6, err_msg=name)


def test_a_checkpoint_without_masks_is_written(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        images = v1.placeholder(tf.float32, [None, 8, 8, 3], name="images")
        net = model_pruning.masked_conv2d(images, 4, 3)
        v1.train.get_or_create_global_step()
        update = model_pruning.Pruning(sparsity=0.75).mask_update_op()
        scores = tf.reduce_sum(net, [1, 2], name="scores")
        session.run(v1.global_variables_initializer())
        session.run(update)
        pictures = np.random.RandomState(1).normal(size=(2, 8, 8, 3))
        expected = session.run(scores, {images: pictures})
        v1.train.Saver().save(session, str(tmp_path / "model"))
    folder = str(tmp_path)
    strip_pruning_vars.strip_pruning_vars(folder, "scores, images", folder, "stripped.pb")
    graph_def = v1.GraphDef.FromString((tmp_path / "stripped.pb").read_bytes())
    assert not [node.name for node in graph_def.node if node.name.endswith(("/mask", "threshold"))]
    with tf.Graph().as_default(), v1.Session() as session:
        tf.import_graph_def(graph_def, name="")
        got = session.run("scores:0", {"images:0": pictures})
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    with pytest.raises(ValueError, match="at least 1 output node"):
        strip_pruning_vars.strip_pruning_vars(folder, "", folder, "stripped.pb")


def test_train_updates_the_masks_after_each_step_of_slim(monkeypatch):
    seen = []

    def train(train_op, logdir, train_step_fn, **options):
        for step in range(2):
            seen.append(train_step_fn(Session(), train_op, step, {}))
        return logdir, options["number_of_steps"], options["log_every_n_steps"]

    class Session:
        """Writes down what is run."""

        def run(self, fetch):
            """Writes it down."""
            seen.append(fetch)

    def train_step(session, train_op, global_step, train_step_kwargs):
        session.run((train_op, global_step))
        return 0.5, False

    learning = types.SimpleNamespace(train=train, train_step=train_step)
    monkeypatch.setitem(sys.modules, "tf_slim", types.ModuleType("tf_slim"))
    monkeypatch.setitem(sys.modules, "tf_slim.learning", learning)
    got = model_pruning.train("train", "folder", "update", number_of_steps=2)
    assert got == ("folder", 2, 1)
    assert seen == [("train", 0), "update", (0.5, False), ("train", 1), "update", (0.5, False)]


def test_train_without_slim_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "tf_slim", None)
    monkeypatch.setitem(sys.modules, "tf_slim.learning", None)
    with pytest.raises(MissingImportError, match="pip install tf-slim; or put"):
        model_pruning.train("train", None, "update")
