"""Exports of a TPUEstimator: a model for one replica, which needs no TPU and no TPUEstimator."""

import enum

import numpy as np
import pytest
from engine import run_program

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)
TRAIN, EVAL, PREDICT = eb.ModeKeys.TRAIN, eb.ModeKeys.EVAL, eb.ModeKeys.PREDICT


def input_fn(params):
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, X[:, :1] ** 2))
    return data.repeat(20).batch(params["batch_size"], drop_remainder=True)


def network(features, training):
    y = v1.layers.dense(features["x"], 4, tf.nn.relu)
    y = v1.layers.batch_normalization(y, training=training)
    return v1.layers.dense(v1.layers.dropout(y, 0.1, training=training), 1)


def errors(labels, y):
    return {"error": v1.metrics.mean_absolute_error(labels, y)}


def model_fn(features, labels, mode, params):
    y = network(features, mode == TRAIN)
    if mode == PREDICT:
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"y": y})
    loss = tf.reduce_mean((y - labels) ** 2)
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.1))
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(
        mode,
        loss=loss,
        train_op=train_op,
        host_call=(lambda loss: v1.summary.scalar("loss", loss[0]), [loss[None]]),
        eval_metrics=(errors, [labels, y]),
    )


def make(model_dir, fn=model_fn, use_tpu=True, tpu_config=None, **options):
    config = eb.tpu.RunConfig(
        master="emulated:2", model_dir=str(model_dir), tpu_config=tpu_config, tf_random_seed=1
    )
    return eb.tpu.TPUEstimator(
        fn, config=config, use_tpu=use_tpu, train_batch_size=8, eval_batch_size=8,
        predict_batch_size=8, **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return make(tmp_path_factory.mktemp("model")).train(input_fn, steps=5)


serving = eb.export.build_raw_serving_input_receiver_fn({"x": X})


def supervised():
    return eb.export.build_supervised_input_receiver_fn_from_input_fn(
        input_fn, params={"batch_size": 8}
    )


PLAIN_PROCESS = """
import sys
import numpy as np
import tensorflow as tf

served = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
for count in (1, 8):
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)[:count]
    values = served(x=tf.constant(x))["y"].numpy().ravel()
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    meta = tf.compat.v1.saved_model.load(session, ["serve"], sys.argv[1])
    signature = meta.signature_def["serving_default"]
    of_session = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: x})
np.testing.assert_array_equal(of_session.ravel(), values)
assert "estimator_bridge" not in sys.modules
assert len(tf.config.list_logical_devices("CPU")) == 1
print(values.tolist())
"""


def test_a_plain_process_gets_the_same_numbers(trained, tmp_path):
    path = trained.export_saved_model(tmp_path, serving).decode()
    (line,) = run_program(PLAIN_PROCESS, [path])
    expected = [
        p["y"].item()
        for p in trained.predict(
            lambda params: tf.data.Dataset.from_tensor_slices({"x": X}).batch(8)
        )
    ]
    np.testing.assert_allclose(eval(line), expected, rtol=0, atol=1e-6)


def with_tensorflows_own_sums(features, labels, mode):
    y = v1.tpu.cross_replica_sum(v1.layers.dense(features["x"], 1))
    loss = None if labels is None else tf.reduce_mean((y - labels) ** 2)
    optimizer = v1.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
    step = v1.train.get_global_step()
    return eb.tpu.TPUEstimatorSpec(
        mode,
        predictions={"y": y},
        loss=loss,
        train_op=None if loss is None else optimizer.minimize(loss, step),
    )


@pytest.mark.parametrize("as_text", [False, True])
def test_sums_of_one_replica_run_on_any_device(tmp_path, as_text):
    estimator = make(tmp_path / "model", with_tensorflows_own_sums, use_tpu=False)
    estimator.train(input_fn, steps=1)
    receivers = {TRAIN: supervised(), EVAL: supervised(), PREDICT: serving}
    path = estimator.experimental_export_all_saved_models(
        tmp_path / "export", receivers, as_text=as_text
    ).decode()
    kernel, bias = (estimator.get_variable_value(f"dense/{name}") for name in ("kernel", "bias"))
    served = tf.saved_model.load(path, ["serve"]).signatures["serving_default"]
    np.testing.assert_allclose(served(x=tf.constant(X))["y"], X @ kernel + bias, atol=1e-6)
    with tf.Graph().as_default() as graph, v1.Session() as session:
        signature = v1.saved_model.load(session, ["train"], path).signature_def["train"]
        feeds = {signature.inputs["x"].name: X, signature.inputs["label"].name: X[:, :1] ** 2}
        (train_op,) = graph.get_collection("saved_model_train_op")
        before = session.run(signature.outputs["loss"].name, feeds)
        session.run(train_op, feeds)
        assert session.run(signature.outputs["loss"].name, feeds) < before


def test_all_modes(trained, tmp_path):
    receivers = {TRAIN: supervised(), EVAL: supervised(), PREDICT: serving}
    path = trained.experimental_export_all_saved_models(tmp_path, receivers).decode()
    labels = X[:, :1] ** 2
    with tf.Graph().as_default(), v1.Session() as session:
        signature = v1.saved_model.load(session, ["eval"], path).signature_def["eval"]
        feeds = {signature.inputs["x"].name: X, signature.inputs["label"].name: labels}
        session.run(signature.outputs["metrics/error/update_op"].name, feeds)
        error = session.run(signature.outputs["metrics/error/value"].name)
    expected = trained.evaluate(input_fn, steps=1)["error"]
    assert error == pytest.approx(expected, rel=1e-5)
    with tf.Graph().as_default() as graph, v1.Session() as session:
        signature = v1.saved_model.load(session, ["train"], path).signature_def["train"]
        feeds = {signature.inputs["x"].name: X, signature.inputs["label"].name: labels}
        (train_op,) = graph.get_collection("saved_model_train_op")
        losses = []
        for _ in range(60):
            losses.append(session.run(signature.outputs["loss"].name, feeds))
            session.run(train_op, feeds)
    assert np.mean(losses[-5:]) < np.mean(losses[:5])


@pytest.mark.parametrize("use_tpu", [True, False])
def test_model_fn_is_told_that_there_is_no_tpu_and_no_batch_size(use_tpu, trained, tmp_path):
    seen = {}

    def observing(features, labels, mode, params):
        seen[mode] = dict(params), eb.model.cross_shard.number_of_shards()
        return model_fn(features, labels, mode, params)

    estimator = make(trained.model_dir, observing, use_tpu, params={"mine": 3})
    receivers = {TRAIN: supervised(), EVAL: supervised(), PREDICT: serving}
    estimator.experimental_export_all_saved_models(tmp_path, receivers)
    assert seen == dict.fromkeys((TRAIN, EVAL, PREDICT), ({"mine": 3, "use_tpu": False}, None))


def test_the_scaffold_of_scaffold_fn_is_used(trained, tmp_path):
    def with_scaffold(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        bonus = v1.get_local_variable("bonus", [], initializer=v1.zeros_initializer())
        return spec._replace(
            predictions={"y": spec.predictions["y"] + bonus},
            export_outputs=None,
            scaffold_fn=lambda: v1.train.Scaffold(local_init_op=bonus.assign(100.0)),
        )

    plain = trained.export_saved_model(tmp_path, serving).decode()
    other = make(trained.model_dir, with_scaffold).export_saved_model(tmp_path, serving).decode()
    plain, other = (
        tf.saved_model.load(path).signatures["serving_default"](x=tf.constant(X))["y"].numpy()
        for path in (plain, other)
    )
    np.testing.assert_allclose(other - plain, 100.0, atol=1e-4)


class Version(enum.Enum):
    V2 = 2


@pytest.mark.parametrize(
    "options",
    [
        {"export_to_tpu": False},
        {"export_to_cpu": False},
        {"export_saved_model_api_version": 1},
        {"export_saved_model_api_version": Version.V2},
        {"tpu_config": eb.tpu.TPUConfig(
            eval_training_input_configuration=eb.tpu.InputPipelineConfig.SLICED,
            per_host_input_for_training=eb.tpu.InputPipelineConfig.PER_HOST_V2,
        )},
    ],
)  # fmt: skip
def test_one_format_is_written_whatever_was_asked_for(options, trained, tmp_path):
    path = make(trained.model_dir, **options).export_saved_model(tmp_path, serving).decode()
    assert list(tf.saved_model.load(path).signatures) == ["serving_default"]


def test_what_makes_no_sense_is_refused(trained, tmp_path):
    neither = make(trained.model_dir, export_to_tpu=False, export_to_cpu=False)
    with pytest.raises(ValueError, match="One of export_to_cpu and export_to_tpu must be true"):
        neither.export_saved_model(tmp_path, serving)
    with pytest.raises(ValueError, match="api_version should be 1 or 2; got 3"):
        make(trained.model_dir, export_saved_model_api_version=3)
