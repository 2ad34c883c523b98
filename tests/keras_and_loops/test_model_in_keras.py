"""One `eb.Model` as an estimator, as a compiled Keras model, and in a custom loop."""

import four_lines
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import estimator_bridge as eb

v1 = tf.compat.v1
RNG = np.random.RandomState(0)
X = RNG.randn(96, 6).astype(np.float32)
Y = (X @ RNG.randn(6, 3)).argmax(1)
BATCH, STEPS = 16, 12


def inference(features):
    net = tf_keras.layers.Dense(
        8, "relu", kernel_initializer=FROM_NUMBERS, kernel_regularizer=tf_keras.regularizers.L2(0.1)
    )(features["x"])
    return tf_keras.layers.Dense(3, kernel_initializer=FROM_NUMBERS)(net)


def FROM_NUMBERS(shape, dtype=None, **kwargs):
    count = np.prod(shape)
    return tf.constant(np.sin(np.arange(count)).reshape(shape) / 2, dtype or tf.float32)


def loss(labels, outputs):
    return v1.losses.sparse_softmax_cross_entropy(labels, outputs)


def metrics(labels, outputs):
    top = tf_keras.metrics.SparseTopKCategoricalAccuracy(2)
    top.update_state(labels, outputs)
    return {"accuracy": v1.metrics.accuracy(labels, tf.argmax(outputs, -1)), "top": top}


def predictions(outputs):
    return {"class": tf.argmax(outputs, -1), "probabilities": tf.nn.softmax(outputs)}


def v1_adam(params):
    rate = v1.train.cosine_decay(params["rate"], v1.train.get_or_create_global_step(), STEPS)
    return v1.train.AdamOptimizer(rate)


def keras_momentum(params):
    return tf_keras.optimizers.SGD(params["rate"], momentum=0.9)


def dataset(repeat=True):
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(BATCH, drop_remainder=repeat)
    return data.repeat() if repeat else data


def model_of(optimizer):
    return eb.Model(inference, loss, metrics, predictions, optimizer)


def as_estimator(model, params):
    estimator = eb.Estimator(model.model_fn, params=params)
    estimator.train(dataset, steps=STEPS)
    return estimator.evaluate(lambda: dataset(repeat=False)), estimator


@pytest.mark.parametrize(("optimizer", "cores"), [(v1_adam, 1), (v1_adam, 8), (keras_momentum, 2)])
def test_fit_and_a_loop_give_the_estimators_numbers(optimizer, cores):
    model, params = model_of(optimizer), {"rate": 0.1}
    expected, estimator = as_estimator(model, params)
    strategy = four_lines.start(f"emulated:{cores}")
    data = dataset()
    with strategy.scope():
        fitted = model.keras_model(data, params, steps_per_execution=4)
        looped = model.keras_model(data.element_spec, params)
    history = fitted.fit(
        data,
        steps_per_epoch=STEPS // 2,
        epochs=2,
        validation_data=dataset(repeat=False),
        verbose=0,
    )

    @tf.function
    def train(iterator, steps):
        loss = tf.constant(0.0)
        for _ in tf.range(steps):
            losses = strategy.run(looped.replica_step, args=next(iterator))
            loss = strategy.reduce("MEAN", losses, axis=None)
        return loss

    last = train(iter(strategy.experimental_distribute_dataset(data)), tf.constant(STEPS))
    assert np.isfinite(last.numpy())
    for keras in (fitted, looped):
        got = keras.evaluate(dataset(repeat=False), return_dict=True)
        for name in ("loss", "accuracy", "top"):
            np.testing.assert_allclose(got[name], expected[name], rtol=2e-3, err_msg=name)
        assert int(keras.optimizer.iterations.numpy()) == STEPS
    np.testing.assert_allclose(history.history["val_accuracy"][-1], expected["accuracy"])
    predictions = fitted.predict(dataset(repeat=False), verbose=0)
    rows = list(estimator.predict(lambda: dataset(repeat=False)))
    np.testing.assert_allclose(
        predictions["probabilities"], [row["probabilities"] for row in rows], atol=2e-3
    )
    assert predictions["class"].shape == (96,)


def test_a_checkpoint_resumes_with_the_optimizers_slots(tmp_path):
    strategy, data = four_lines.start("emulated:2"), dataset(repeat=False)

    def trained(restored=None, batches=data):
        with strategy.scope():
            keras = model_of(v1_adam).keras_model(data, {"rate": 0.1})
            checkpoint = tf.train.Checkpoint(model=keras, optimizer=keras.optimizer)
            if restored:
                checkpoint.restore(restored)
        keras.fit(batches, epochs=1, verbose=0)
        return keras, checkpoint

    straight, _ = trained()
    _, half = trained(batches=data.take(3))
    resumed, _ = trained(half.save(str(tmp_path / "half")), data.skip(3))
    assert int(resumed.optimizer.iterations.numpy()) == 6
    for a, b in zip(straight.get_weights(), resumed.get_weights()):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_modes_share_their_variables():
    def modes(features, training):
        net = tf_keras.layers.Dense(8, "relu")(features)
        if training:
            net = tf_keras.layers.Dropout(0.5)(net)
        net = tf_keras.layers.BatchNormalization()(net, training=training)
        return tf_keras.layers.Dense(3)(net)

    model = eb.Model(modes, loss, optimizer=lambda: v1.train.GradientDescentOptimizer(0.1))
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH)
    with four_lines.start("emulated:2").scope():
        keras = model.keras_model(data)
    assert len(keras.trainable_variables) == 6 and len(keras.non_trainable_variables) >= 2
    before = keras.predict(X, verbose=0)["outputs"]
    keras.fit(data, epochs=8, verbose=0)
    assert np.abs(keras.predict(X, verbose=0)["outputs"] - before).max() > 0.1
    moving = [v for v in keras.non_trainable_variables if "moving_mean" in v.name]
    assert np.abs(moving[0].numpy()).max() > 0
    np.testing.assert_allclose(
        keras.inference_model.predict(X, verbose=0), keras.predict(X, verbose=0)["outputs"],
        rtol=1e-5,
    )  # fmt: skip


@pytest.mark.parametrize("last", [24, 21, 3])
def test_a_short_last_batch_counts_each_example_once(last):
    """TensorFlow would leave cores without examples, where a convolution fails."""
    model = eb.Model(
        convolutions, loss, metrics, lambda outputs: {"class": tf.argmax(outputs, -1)}, v1_adam
    )
    images, labels = np.repeat(X, 4, axis=1)[:, :16].reshape(-1, 4, 4, 1), Y
    count = 64 + last
    data = tf.data.Dataset.from_tensor_slices((images[:count], labels[:count])).batch(64)
    with four_lines.start().scope():
        keras = model.keras_model(data, {"rate": 0.1})
    got = keras.evaluate(data, return_dict=True)
    predicted = keras.predict(data)["class"]
    assert predicted.shape == (count,)
    np.testing.assert_allclose(got["accuracy"], np.mean(predicted == labels[:count]), rtol=1e-6)
    outputs = keras.inference_model(images[:count])
    np.testing.assert_array_equal(predicted, np.argmax(outputs, -1))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels[:count], outputs)
    np.testing.assert_allclose(got["loss"], np.mean(losses), rtol=1e-5)


def convolutions(features):
    net = tf_keras.layers.Conv2D(16, 3, padding="same", activation="relu")(features)
    net = tf_keras.layers.Conv2D(32, 3, padding="same", activation="relu")(net)
    return tf_keras.layers.Dense(3)(tf_keras.layers.Flatten()(net))


def test_weights_and_the_inference_model_are_saved(tmp_path):
    data, params = dataset(), {"rate": 0.1}
    model = model_of(v1_adam)
    keras = model.keras_model(data, params)
    keras.fit(data, steps_per_epoch=4, verbose=0)
    keras.save_weights(str(tmp_path / "weights"))
    again = model.keras_model(data, params)
    again.load_weights(str(tmp_path / "weights")).expect_partial()
    assert again.evaluate({"x": X}, Y, batch_size=BATCH) == keras.evaluate(
        {"x": X}, Y, batch_size=BATCH
    )
    keras.inference_model.save(str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    served = loaded.signatures["serving_default"](tf.constant(X[:2]))
    expected = keras.predict({"x": X[:2]}, verbose=0)["probabilities"]
    np.testing.assert_allclose(tf.nn.softmax(next(iter(served.values()))), expected, rtol=1e-5)


def test_what_a_keras_model_cannot_be_made_of():
    data, params = dataset(), {"rate": 0.1}
    with pytest.raises(ValueError, match="no loss, which a Keras model needs"):
        eb.Model(inference).keras_model(data)
    with pytest.raises(ValueError, match="no optimizer"):
        eb.Model(inference, loss).keras_model(data)
    with pytest.raises(ValueError, match="got metrics, but the Model's own"):
        model_of(v1_adam).keras_model(data, params, metrics=["accuracy"])
    with pytest.raises(ValueError, match="needs a dataset of"):
        model_of(v1_adam).keras_model(data.map(lambda x, y: x), params)
    with pytest.raises(ValueError, match="batches of dense tensors"):
        model_of(v1_adam).keras_model(data.unbatch(), params)
    with pytest.raises(ValueError, match="inference takes labels"):
        eb.Model(lambda features, labels: features, loss, optimizer=v1_adam).keras_model(
            data, params
        )
    crossed = eb.Model(
        inference,
        loss,
        optimizer=lambda: eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer()),
    )
    with pytest.raises(TypeError, match="must not be a CrossShardOptimizer"):
        crossed.keras_model(data)
    with pytest.raises(TypeError, match="or a tf_keras optimizer, got"):
        eb.Model(inference, loss, optimizer=lambda: "adam").keras_model(data)
    keras = model_of(v1_adam).keras_model(data, params)
    with pytest.raises(ValueError, match="has no sample weights"):
        keras.evaluate({"x": X}, Y, sample_weight=np.ones(96))
    with pytest.raises(ValueError, match="no examples"):
        keras.evaluate(dataset(repeat=False).take(0))
    with pytest.raises(AttributeError, match="cannot be read or set"):
        keras.optimizer.learning_rate = 0.5

    def other_layers(features, training):
        net = tf_keras.layers.Dense(4)(features["x"])
        return net if training else tf_keras.layers.Dense(3)(net)

    with pytest.raises(ValueError, match="the same layers in the same order"):
        eb.Model(other_layers, loss, optimizer=v1_adam).keras_model(data, params)
