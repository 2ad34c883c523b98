"""A checkpoint's variables are told apart: weights, and what training alone needs."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import estimator_bridge as eb
from estimator_bridge import weights
from estimator_bridge.commands.cli import main
from estimator_bridge.weights import Kind

v1 = tf.compat.v1
WEIGHTS = {
    "hidden/kernel": (4, 3),
    "hidden/bias": (3,),
    "norm/gamma": (3,),
    "norm/beta": (3,),
    "norm/moving_mean": (3,),
    "norm/moving_variance": (3,),
    "out/kernel": (3, 2),
    "out/bias": (2,),
}


def keras_layers(features, training):
    net = tf_keras.layers.Dense(3, name="hidden")(features)
    net = tf_keras.layers.BatchNormalization(name="norm")(net, training=training)
    return tf_keras.layers.Dense(2, name="out")(net)


def tf_layers(features, training):
    net = v1.layers.dense(features, 3, name="hidden")
    net = v1.layers.batch_normalization(net, training=training, name="norm")
    return v1.layers.dense(net, 2, name="out")


def loss(labels, outputs):
    return v1.losses.sparse_softmax_cross_entropy(labels, outputs)


def examples():
    x = np.random.RandomState(0).rand(32, 4).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, np.int64(x.sum(axis=1) > 2)))


def trained(folder, optimizer, layers=tf_layers):
    model = eb.Model(inference=layers, loss=loss, optimizer=optimizer)
    estimator = eb.Estimator(model.model_fn, str(folder))
    estimator.train(eb.data.input_fn(examples, True, 16), max_steps=2)
    return estimator


def by_kind(path, kind):
    return {v.name: v.shape for v in weights.list_weights(str(path)) if v.kind is kind}


@pytest.mark.parametrize(
    ("optimizer", "layers", "slots", "others"),
    [
        (lambda: v1.train.AdamOptimizer(0.1), tf_layers, 12, {"beta1_power", "beta2_power"}),
        (lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.9), tf_layers, 12, set()),
        (lambda: v1.train.GradientDescentOptimizer(0.1), tf_layers, 0, set()),
        (lambda: tf_keras.optimizers.Adam(0.1), keras_layers, 12, {"iteration", "learning_rate"}),
        (
            lambda: tf_keras.optimizers.legacy.Adam(0.1),
            keras_layers,
            12,
            {"Adam/beta_1", "Adam/beta_2", "Adam/decay", "Adam/learning_rate"},
        ),
    ],
)
def test_what_an_optimizer_keeps_is_no_weight(tmp_path, optimizer, layers, slots, others):
    trained(tmp_path, optimizer, layers)
    assert by_kind(tmp_path, Kind.WEIGHT) == WEIGHTS
    assert len(by_kind(tmp_path, Kind.SLOT)) == slots
    assert set(by_kind(tmp_path, Kind.OPTIMIZER)) == others
    assert set(by_kind(tmp_path, Kind.STEP)) == {"global_step"}


def saved(folder, **shapes):
    """Saves variables of these names, with "." for "/", as a v1 saver does."""
    with tf.Graph().as_default(), v1.Session() as session:
        for name, shape in shapes.items():
            v1.get_variable(name.replace(".", "/"), shape, initializer=v1.ones_initializer())
        session.run(v1.global_variables_initializer())
        return v1.train.Saver().save(session, str(folder / "model.ckpt"), global_step=1)


def test_what_only_looks_like_a_slot_is_a_weight(tmp_path):
    names = {
        "generator.w": [2], "w": [2], "v.other": [2], "block.kernel": [3], "block.kernel.m": [2],
        "scale": [],
    }  # fmt: skip
    path = saved(tmp_path, **names)
    assert set(by_kind(path, Kind.WEIGHT)) == {name.replace(".", "/") for name in names}


def test_averages_are_kept_apart_from_slots(tmp_path):
    path = saved(tmp_path, **{
        "w": [2], "w.ExponentialMovingAverage": [2], "w.adam_m": [2], "average.w": [2],
    })  # fmt: skip
    assert set(by_kind(path, Kind.AVERAGE)) == {"w/ExponentialMovingAverage", "average/w"}
    assert set(by_kind(path, Kind.SLOT)) == {"w/adam_m"}


def test_a_checkpoint_of_objects_has_paths_as_names(tmp_path):
    model = tf_keras.Sequential([tf_keras.layers.Dense(2, name="out", input_shape=[3])])
    model.compile(tf_keras.optimizers.legacy.SGD(0.1, momentum=0.9), "mse")
    model.fit(np.ones([4, 3]), np.ones([4, 2]), verbose=0)
    path = tf.train.Checkpoint(model=model).save(str(tmp_path / "ckpt"))
    weights = by_kind(path, Kind.WEIGHT)
    assert weights["model/layer_with_weights-0/kernel"] == (3, 2)
    assert len(by_kind(path, Kind.SLOT)) == 2
    assert set(by_kind(path, Kind.OTHER)) == {"_CHECKPOINTABLE_OBJECT_GRAPH"}


def test_a_saved_model_and_a_checkpoint_can_be_named(tmp_path):
    module = tf.Module()
    module.kernel = tf.Variable([1.0, 2.0])
    tf.saved_model.save(module, str(tmp_path / "saved"))
    assert by_kind(tmp_path / "saved", Kind.WEIGHT) == {"kernel": (2,)}
    path = saved(tmp_path, w=[2])
    assert weights.find_checkpoint(path) == weights.find_checkpoint(str(tmp_path)) == path


def test_the_command_lists_them(tmp_path, capsys):
    saved(tmp_path, **{"w": [2, 3], "w.Momentum": [2, 3], "b": [3], "global_step": []})
    assert main(["weights", "list", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[1:5]] == [
        ["b", "float32", "[3]", "weight"],
        ["global_step", "float32", "[]", "step"],
        ["w", "float32", "[2,", "3]", "weight"],
        ["w/Momentum", "float32", "[2,", "3]", "slot"],
    ]
    assert lines[5] == "2 weights of 9 numbers, 4 variables"


def test_folders_without_a_checkpoint(tmp_path, capsys):
    assert main(["weights", "list", str(tmp_path)]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith(
        f"estimator-bridge weights: Couldn't find a checkpoint in the folder {tmp_path}"
    )
    path = saved(tmp_path, w=[200])
    data = tmp_path / "model.ckpt-1.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:100])
    assert main(["weights", "list", path]) == 1
    assert f"The checkpoint {path} is damaged" in capsys.readouterr().err
    assert main(["weights", "list", str(tmp_path / "nowhere")]) == 1
    assert "There is no whole checkpoint" in capsys.readouterr().err
