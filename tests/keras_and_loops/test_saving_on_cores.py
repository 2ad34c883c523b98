"""Saving and loading Keras models on emulated cores, through the localhost device."""

import four_lines
import guide_programs
import numpy as np
import pytest
import tensorflow as tf


@pytest.fixture(scope="module")
def strategy():
    return four_lines.start("emulated:2")


@pytest.fixture(scope="module")
def data():
    images, labels = guide_programs.load("train")
    return images[:80], labels[:80]


def fitted(strategy, data, **fit):
    with strategy.scope():
        model = guide_programs.make_model()
        model.compile(
            "adam",
            tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    model.fit(*data, batch_size=20, verbose=0, **fit)
    return model


def test_each_format_loads_with_the_same_predictions_and_trains_on(strategy, data, tmp_path):
    model = fitted(strategy, data)
    expected = model.predict(data[0], batch_size=20, verbose=0)
    device = "/job:localhost"
    path = str(tmp_path / "saved_model")
    model.save(path, options=tf.saved_model.SaveOptions(experimental_io_device=device))
    with strategy.scope():
        options = tf.saved_model.LoadOptions(experimental_io_device=device)
        loaded = [tf.keras.models.load_model(path, options=options)]
    for ending in ("keras", "h5"):
        model.save(str(tmp_path / f"model.{ending}"))
        with strategy.scope():
            loaded.append(tf.keras.models.load_model(str(tmp_path / f"model.{ending}")))
    begun = []
    for each in loaded:
        got = each.predict(data[0], batch_size=20, verbose=0)
        np.testing.assert_allclose(got, expected, atol=1e-5)
        before = int(each.optimizer.iterations.numpy())
        each.fit(*data, batch_size=20, verbose=0)
        assert int(each.optimizer.iterations.numpy()) == before + 4
        begun.append(before)
    assert begun == [0, 4, 4]  # tf-keras keeps no optimizer's steps in a SavedModel


def test_callbacks_and_weights(strategy, data, tmp_path):
    rates, path = [], str(tmp_path / "{epoch}.ckpt")
    options = tf.train.CheckpointOptions(experimental_io_device="/job:localhost")
    model = fitted(
        strategy,
        data,
        epochs=3,
        validation_data=data,
        callbacks=[
            tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True, options=options),
            tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "best.keras"), save_best_only=True),
            tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.01 / (1 + epoch)),
            tf.keras.callbacks.LambdaCallback(
                on_epoch_end=lambda epoch, logs: rates.append(float(logs["lr"]))
            ),
            tf.keras.callbacks.EarlyStopping(patience=3),
        ],
    )
    np.testing.assert_allclose(rates, [0.01, 0.005, 0.01 / 3], rtol=1e-6)
    assert (tmp_path / "best.keras").exists() and (tmp_path / "3.ckpt.index").exists()
    saved = model.get_weights()
    with strategy.scope():
        model.load_weights(str(tmp_path / "1.ckpt"))
        assert not np.allclose(saved[0], model.get_weights()[0])
        model.load_weights(str(tmp_path / "3.ckpt"))
    for a, b in zip(saved, model.get_weights()):
        np.testing.assert_array_equal(a, b)


def test_a_checkpoint_of_cores_loads_on_one_device(strategy, data, tmp_path):
    model = fitted(strategy, data)
    with strategy.scope():
        path = tf.train.Checkpoint(model=model).save(str(tmp_path / "all"))
    alone = guide_programs.make_model()
    tf.train.Checkpoint(model=alone).restore(path).expect_partial()
    for a, b in zip(model.get_weights(), alone.get_weights()):
        np.testing.assert_array_equal(a, b)
