"""Programs with tf.contrib.quantize: on cores and replicas, and on to a model of TFLite."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

MODEL = """
import json
import numpy as np
import tensorflow as tf

layers = tf.contrib.layers
random = np.random.RandomState(0)
IMAGES = random.uniform(-1, 1, size=(64, 6, 6, 2)).astype(np.float32)
LABELS = (IMAGES.mean((1, 2, 3)) > 0).astype(np.int64)


def network(images, training):
    norm = dict(is_training=training, scale=True, decay=0.9)
    options = dict(normalizer_fn=layers.batch_norm, normalizer_params=norm)
    net = layers.conv2d(images, 4, 3, scope="conv", activation_fn=tf.nn.relu6, **options)
    net = layers.separable_conv2d(net, None, 3, 1, scope="depth", **options)
    net = layers.conv2d(net, 2, 6, padding="VALID", activation_fn=None, scope="logits")
    return tf.reshape(net, [-1, 2])
"""

TPU = (
    MODEL
    + """
def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    logits = network(features, training)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = None
    if training:
        tf.contrib.quantize.create_training_graph(quant_delay=2)
        optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.minimize(loss, tf.train.get_global_step())
    else:
        tf.contrib.quantize.create_eval_graph()
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    # The second core's images are twice as large.
    images = np.where(np.arange(64)[:, None, None, None] % 8 < 4, IMAGES, 2 * IMAGES)
    data = tf.data.Dataset.from_tensor_slices((images, LABELS)).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)


config = tf.contrib.tpu.RunConfig(tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=5))
estimator = tf.contrib.tpu.TPUEstimator(
    model_fn, config=config, use_tpu=True, train_batch_size=8, eval_batch_size=8)
estimator.train(input_fn, steps=10)
print(json.dumps({
    "loss": float(estimator.evaluate(input_fn, steps=4)["loss"]),
    "steps": int(estimator.get_variable_value("fake_quantization_step")),
    "local": float(estimator.get_variable_value("conv/act_quant/conv/act_quant/max/local_step")),
    "range": [
        float(estimator.get_variable_value("depth/act_quant/" + end)) for end in ("min", "max")
    ],
}))
"""
)

# On the first replica the largest output is 1, on the second it is 3.
RANGES = """
import json
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params):
    start = tf.constant_initializer(np.eye(2))
    outputs = tf.contrib.layers.fully_connected(
        features, 2, biases_initializer=None, weights_initializer=start, scope="layer")
    loss = tf.reduce_mean(outputs)
    tf.contrib.quantize.create_training_graph(quant_delay=5)
    optimizer = tf.train.GradientDescentOptimizer(0.0)
    if params["on_tpu"]:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    if params["on_tpu"]:
        return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    features = np.array([[1, 0], [0, 1], [3, 0], [0, 3]], np.float32)
    data = tf.data.Dataset.from_tensor_slices((features, features)).repeat()
    return data.batch(params.get("batch_size", 2), drop_remainder=True)


on_tpu = ON_TPU
if on_tpu:
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn, config=tf.contrib.tpu.RunConfig(), train_batch_size=4, params={"on_tpu": True})
else:
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    config = tf.estimator.RunConfig(train_distribute=strategy)
    estimator = tf.estimator.Estimator(model_fn, config=config, params={"on_tpu": False})
estimator.train(input_fn, steps=3)
print(json.dumps({
    name: float(estimator.get_variable_value(name))
    for name in ("fake_quantization_step", "layer/weights_quant/max", "layer/act_quant/max",
                 "layer/act_quant/layer/act_quant/max/local_step")
}))
"""

TFLITE = (
    MODEL
    + """
import tempfile

folder = tempfile.mkdtemp()
with tf.Graph().as_default():
    tf.set_random_seed(1)
    loss = tf.losses.sparse_softmax_cross_entropy(LABELS, network(tf.constant(IMAGES), True))
    tf.contrib.quantize.create_training_graph(quant_delay=5)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(60):
            session.run(step)
        checkpoint = tf.train.Saver().save(session, folder + "/model")

with tf.Graph().as_default() as graph:
    images = tf.placeholder(tf.float32, [1, 6, 6, 2], name="images")
    seen = tf.fake_quant_with_min_max_args(images, min=-1, max=1)
    logits = tf.identity(network(seen, False), name="outputs")
    tf.contrib.quantize.create_eval_graph()
    with tf.Session() as session:
        tf.train.Saver().restore(session, checkpoint)
        frozen = tf.graph_util.convert_variables_to_constants(
            session, graph.as_graph_def(), ["outputs"])
        expected = np.concatenate([session.run(logits, {images: each[None]}) for each in IMAGES])
with open(folder + "/frozen.pb", "wb") as file:
    file.write(frozen.SerializeToString())

converter = tf.lite.TFLiteConverter.from_frozen_graph(
    folder + "/frozen.pb", ["images"], ["outputs"])
converter.inference_type = tf.uint8
converter.quantized_input_stats = {"images": (127.5, 127.5)}
interpreter = tf.lite.Interpreter(model_content=converter.convert())
interpreter.allocate_tensors()
(source,), (target,) = interpreter.get_input_details(), interpreter.get_output_details()
scale, zero = source["quantization"]
outputs = []
for each in IMAGES:
    numbers = np.clip(np.round(each[None] / scale + zero), 0, 255).astype(np.uint8)
    interpreter.set_tensor(source["index"], numbers)
    interpreter.invoke()
    outputs.append(interpreter.get_tensor(target["index"]))
scale, zero = target["quantization"]
outputs = (np.concatenate(outputs).astype(np.float32) - zero) * scale
floats = [each["name"] for each in interpreter.get_tensor_details() if each["dtype"] == np.float32]
print(json.dumps({
    "floats": floats,
    "weights": [each["name"] for each in interpreter.get_tensor_details()
                if len(each["shape"]) == 4 and each["dtype"] == np.uint8],
    "step": float(np.ptp(expected) / 255),
    "error": float(np.abs(outputs - expected).max()),
    "right": float((outputs.argmax(1) == LABELS).mean()),
}))
"""
)


def run(folder, source, *options):
    (folder / "program.py").write_text(textwrap.dedent(source))
    done = subprocess.run(
        [
            *[sys.executable, "-m", "estimator_bridge", "run", "--tf1", *options],
            "program.py",
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("cores", ["1", "2"])
def test_a_tpu_estimator_trains_a_quantized_graph(tmp_path, cores):
    seen = run(tmp_path, TPU, "--cores", cores)
    assert seen["steps"] == seen["local"] == 10
    assert seen["loss"] < 0.75
    low, high = seen["range"]
    assert low == 0 and 1 < high < 10


@pytest.mark.parametrize(
    ("on_tpu", "largest"), [(False, 2), (True, 1)], ids=["the mean", "the first core's"]
)
def test_replicas_keep_ranges(tmp_path, on_tpu, largest):
    seen = run(tmp_path, RANGES.replace("ON_TPU", str(on_tpu)), "--cores", "2")
    assert list(seen.values()) == pytest.approx([3, 1, largest, 3], rel=1e-4)


def test_an_evaluated_graph_becomes_an_integer_model(tmp_path):
    seen = run(tmp_path, TFLITE)
    assert seen["error"] < 1.5 * seen["step"]  # of quantized values
    assert seen["right"] == 1
    assert len(seen["weights"]) >= 3 and not seen["floats"]
