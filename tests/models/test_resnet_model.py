import math

import numpy as np
import pytest
import tensorflow as tf
from task_runs import TaskRun

import estimator_bridge as eb
from models.resnet.model import MODEL, inference, loss
from models.resnet.norm import batch_norm
from models.resnet.schedule import rate_at

v1 = tf.compat.v1

TRAINED = (
    "--model=resnet",
    "--tf_random_seed=1",
    "--train_steps=80",
    "--train_batch_size=128",
    "--eval_batch_size=360",
    "--learning_rate=0.3",
    "--warmup_steps=10",
    "--cross_replica_norm",
    "--ema_decay=0.9",
    "--iterations_per_loop=40",
)
PARAMS = {
    "depth": 8,
    "filters": 4,
    "classes": 10,
    "bfloat16": False,
    "cross_replica": False,
    "optimizer": "momentum",
    "schedule": "cosine",
    "label_smoothing": 0.1,
    "weight_decay": 1e-4,
    "ema_decay": 0.0,
    "steps_per_epoch": 10.0,
    "learning_rate": 0.1,
    "train_steps": 100,
    "warmup_steps": 0,
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def trained(data_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("resnet")
    run = TaskRun(*TRAINED, "--tpu=emulated:1", f"--data_dir={data_dir}", f"--model_dir={folder}")
    run.train()
    return run, folder, run.evaluate()


def test_it_reaches_its_quality_on_one_core(trained):
    _, _, result = trained
    assert result["accuracy"] > 0.9
    assert result["top_5_accuracy"] > 0.97


def test_it_reaches_its_quality_on_eight_cores(data_dir, tmp_path):
    """Each core gets 16 examples; batch norm's statistics are those of all 128."""
    run = TaskRun(*TRAINED, "--tpu=emulated:8", f"--data_dir={data_dir}", f"--model_dir={tmp_path}")
    run.train()
    assert run.evaluate()["accuracy"] > 0.9


def test_evaluation_uses_the_averages(trained):
    run, folder, result = trained
    shadow = "logits/kernel/ExponentialMovingAverage"
    average = run.estimator.get_variable_value(shadow)
    weights = run.estimator.get_variable_value("logits/kernel")
    assert np.abs(average - weights).max() > 1e-4
    flags = ("--tpu=emulated:1", "--ema_decay=0", f"--data_dir={run.flags.data_dir}")
    without = TaskRun(*TRAINED, *flags, f"--model_dir={folder}").evaluate()
    assert abs(without["loss"] - result["loss"]) > 1e-4


def test_the_host_writes_the_rate_and_the_epoch(trained):
    _, folder, _ = trained
    (path,) = folder.glob("*.host_call")
    scalars = {
        value.tag: float(tf.make_ndarray(value.tensor))
        for event in v1.train.summary_iterator(str(path))
        for value in event.summary.value
        if event.step == 40
    }
    assert scalars["epoch"] == pytest.approx(40 * 128 / 1437)
    assert scalars["learning_rate"] == pytest.approx(0.15 * (1 + math.cos(math.pi * 30 / 70)))
    assert scalars["cross_entropy_and_decay"] > 0


def test_a_checkpoint_of_another_depth_is_refused_before_training(trained):
    run, folder, _ = trained
    other = TaskRun(
        *TRAINED, "--depth=14", "--train_steps=200", "--tpu=emulated:1",
        f"--data_dir={run.flags.data_dir}", f"--model_dir={folder}",
    )  # fmt: skip
    with pytest.raises(eb.errors.CheckpointError) as refused:
        other.train()
    message = str(refused.value)
    assert "it belongs to another model" in message
    assert "stage1/block2/convolution1/batch_normalization/beta" in message


def features():
    random = np.random.RandomState(0)
    images = random.rand(16, 8, 8, 1).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((images, random.randint(0, 10, 16))).repeat()


def moving_means(folder, cores, across):
    config = eb.tpu.RunConfig(
        model_dir=str(folder),
        tf_random_seed=1,
        cluster=eb.tpu.TPUClusterResolver(f"emulated:{cores}"),
    )
    params = {**PARAMS, "cross_replica": across}
    estimator = eb.tpu.TPUEstimator(
        MODEL.tpu_model_fn, config=config, params=params, train_batch_size=16
    )
    estimator.train(eb.data.input_fn(features, training=True), steps=1)
    return estimator.get_variable_value("first/batch_normalization/moving_variance")


def test_statistics_across_replicas_are_those_of_the_global_batch(tmp_path):
    whole = moving_means(tmp_path / "1", 1, True)
    across = moving_means(tmp_path / "2", 2, True)
    own = moving_means(tmp_path / "own", 2, False)
    np.testing.assert_allclose(across, whole, rtol=1e-5)
    assert np.abs(own - whole).max() > 1e-5


def test_the_norm_is_that_of_tensorflow():
    random = np.random.RandomState(0)
    x = random.rand(4, 3, 3, 2).astype(np.float32)
    with tf.Graph().as_default(), v1.Session() as session:
        ours = batch_norm(tf.constant(x), True, False, "ours")
        theirs, _, _ = tf.raw_ops.FusedBatchNormV3(
            x=x, scale=[1.0, 1.0], offset=[0.0, 0.0], mean=[], variance=[], epsilon=1e-5,
            is_training=True,
        )[:3]  # fmt: skip
        session.run(v1.global_variables_initializer())
        np.testing.assert_allclose(*session.run([ours, theirs]), atol=1e-5)


@pytest.mark.parametrize(("depth", "size", "weights"), [(50, 64, 25_557_032), (20, 32, 272_474)])
def test_the_networks_are_those_of_the_paper(depth, size, weights):
    """The numbers of weights: 25.6 million and 0.27 million, with projections."""
    params = {**PARAMS, "depth": depth, "filters": 64 if depth == 50 else 16}
    params["classes"] = 1000 if depth == 50 else 10
    with tf.Graph().as_default():
        inference(tf.zeros([2, size, size, 3]), True, params)
        assert sum(v.shape.num_elements() for v in v1.trainable_variables()) == weights


def test_bfloat16_computes_with_float32_variables():
    with tf.Graph().as_default() as graph:
        logits = inference(tf.zeros([2, 8, 8, 1]), True, {**PARAMS, "bfloat16": True})
        convolutions = [op for op in graph.get_operations() if op.type == "Conv2D"]
        assert {op.outputs[0].dtype for op in convolutions} == {tf.bfloat16}
        assert {v.dtype.base_dtype for v in v1.global_variables()} == {tf.float32}
        assert logits.dtype == tf.float32


def test_smoothing_and_decay_are_of_training_alone():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("kernel", initializer=tf.constant([3.0, 4.0]))
        v1.get_variable("batch_normalization/gamma", initializer=tf.constant([100.0]))
        labels, logits = tf.constant([0]), tf.constant([[2.0] + [0.0] * 9])
        changed = {**PARAMS, "label_smoothing": 0.5, "weight_decay": 0.1}
        fetches = [loss(labels, logits, training, changed) for training in (True, False)]
        lars = loss(labels, logits, True, {**changed, "optimizer": "lars"})
        session.run(v1.global_variables_initializer())
        train, evaluated, with_lars = session.run([*fetches, lars])
    log_sum = math.log(math.exp(2) + 9)
    assert evaluated == pytest.approx(log_sum - 2, rel=1e-5)
    assert with_lars == pytest.approx(log_sum - 2 * (0.5 + 0.05), rel=1e-5)
    assert train == pytest.approx(with_lars + 0.1 * 25 / 2, rel=1e-5)


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        ("cosine", [0.02, 0.1, 0.05, 0.0]),
        ("steps", [0.02, 0.1, 0.01, 0.0001]),
        ("polynomial", [0.02, 0.1, 0.025, 0.0]),
    ],
)
def test_the_rate_rises_and_falls(schedule, rates):
    params = {"learning_rate": 0.1, "warmup_steps": 10, "train_steps": 110, "schedule": schedule}
    with tf.Graph().as_default(), v1.Session() as session:
        actual = [session.run(rate_at(tf.constant(step), params)) for step in (1, 10, 60, 110)]
    np.testing.assert_allclose(actual, rates, atol=1e-6)


def test_lars_trains(tmp_path):
    params = {**PARAMS, "optimizer": "lars", "schedule": "polynomial", "learning_rate": 2.0}
    config = eb.RunConfig(model_dir=str(tmp_path), tf_random_seed=1)
    estimator = eb.Estimator(MODEL.model_fn, config=config, params=params)
    input_fn = eb.data.input_fn(features, training=True, batch_size=16)
    first = estimator.train(input_fn, steps=1).evaluate(input_fn, steps=1)["loss"]
    assert estimator.train(input_fn, steps=30).evaluate(input_fn, steps=1)["loss"] < first
    names = estimator.get_variable_names()
    assert "logits/kernel/LARSOptimizer" in names
