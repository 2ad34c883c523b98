import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from models.mnist.model import MODEL, inference, serving_input_receiver_fn

PARAMS = {"learning_rate": 1e-3, "train_steps": 100}
STEPS = 10
BATCH = 16


def examples():
    random = np.random.RandomState(0)
    images = random.rand(BATCH * STEPS, 8, 8, 1).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((images, random.randint(0, 10, len(images))))


def plain(model_dir):
    config = eb.RunConfig(model_dir=model_dir, tf_random_seed=1)
    return eb.Estimator(MODEL.model_fn, config=config, params=PARAMS)


def on_cores(model_dir, cores):
    config = eb.tpu.RunConfig(
        model_dir=model_dir,
        tf_random_seed=1,
        cluster=eb.tpu.TPUClusterResolver(f"emulated:{cores}"),
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=5),
    )
    return eb.tpu.TPUEstimator(
        MODEL.tpu_model_fn,
        config=config,
        params=PARAMS,
        train_batch_size=BATCH,
        eval_batch_size=BATCH,
        predict_batch_size=BATCH,
    )


def trained_weights(estimator):
    estimator.train(eb.data.input_fn(examples, training=True, batch_size=BATCH), max_steps=STEPS)
    return {
        name: estimator.get_variable_value(name)
        for name in estimator.get_variable_names()
        if name != "global_step"
    }


def test_both_adapters_train_to_the_same_weights_on_any_number_of_cores(tmp_path):
    alone = trained_weights(plain(str(tmp_path / "plain")))
    assert "convolution1/kernel" in alone
    for cores in (1, 8):
        weights = trained_weights(on_cores(str(tmp_path / str(cores)), cores))
        assert weights.keys() == alone.keys()
        for name, value in weights.items():
            np.testing.assert_allclose(value, alone[name], atol=1e-5, err_msg=name)


def test_predictions_are_a_class_and_a_probability_of_each(tmp_path):
    rows = list(
        on_cores(str(tmp_path), 8).predict(
            eb.data.input_fn(lambda: examples().take(11), training=False)
        )
    )
    assert len(rows) == 11
    for row in rows:
        assert row["probabilities"].shape == (10,)
        assert row["probabilities"].sum() == pytest.approx(1.0, abs=1e-5)
        assert row["class"] == row["probabilities"].argmax()


def test_it_is_ready_for_a_tpu():
    def input_fn(params, mode):
        is_training = mode == eb.ModeKeys.TRAIN
        return examples().batch(params["batch_size"], drop_remainder=is_training)

    report = eb.testing.check_model_fn(MODEL.tpu_model_fn, input_fn, PARAMS, train_batch_size=16)
    training = report.tpu[eb.ModeKeys.TRAIN]
    assert training.on_tpu["CrossReplicaSum"] == 8  # a gradient for each of four layers' two
    assert report.metrics[2]["accuracy"] == report.metrics[1]["accuracy"]
    assert report.predictions[2]["probabilities"].shape == (16, 10)


def test_large_images_are_halved_once_more():
    with tf.Graph().as_default():
        logits = inference(tf.zeros([2, 28, 28, 1]))
        dense = [v for v in tf.compat.v1.trainable_variables() if "dense/kernel" in v.name]
        assert logits.shape == (2, 10)
        assert [v.shape.as_list() for v in dense] == [[7 * 7 * 32, 128]]


def test_serving_takes_whole_bytes_and_gives_what_training_saw():
    with tf.Graph().as_default():
        receiver = serving_input_receiver_fn(2, 3)()
        (image,) = receiver.receiver_tensors.values()
        features = receiver.features
        with tf.compat.v1.Session() as session:
            pixels = session.run(features, {image: np.full((1, 2, 3), 51, np.uint8)})
    np.testing.assert_allclose(pixels, np.full((1, 2, 3, 1), 0.2), rtol=1e-6)
