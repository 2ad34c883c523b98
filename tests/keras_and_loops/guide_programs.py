"""The programs of the TPU guides, on scikit-learn's digits: model.fit in scope, and a custom loop.

They use the calls of the guides and nothing of this library.
"""

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

TRAIN = 1440


def load(split):
    """Returns images, float32 [count, 8, 8, 1] from 0 to 1, and labels, int64 [count]."""
    digits = load_digits()
    part = slice(None, TRAIN) if split == "train" else slice(TRAIN, None)
    images = (digits.images[part, ..., None] / 16).astype(np.float32)
    return images, digits.target[part].astype(np.int64)


def dataset(batch_size, training):
    data = tf.data.Dataset.from_tensor_slices(load("train" if training else "test"))
    if training:
        data = data.shuffle(TRAIN, seed=3).repeat()
    return data.batch(batch_size, drop_remainder=training)


def make_model():
    regularizer = tf.keras.regularizers.L2(1e-5)
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(
                32, 3, activation="relu", input_shape=(8, 8, 1), kernel_regularizer=regularizer
            ),
            tf.keras.layers.Conv2D(32, 3, activation="relu", kernel_regularizer=regularizer),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, activation="relu", kernel_regularizer=regularizer),
            tf.keras.layers.Dense(10, kernel_regularizer=regularizer),
        ]
    )


def fit(strategy, epochs=2, batch_size=80, steps_per_execution=9):
    """model.fit in the strategy's scope; returns the test accuracy."""
    with strategy.scope():
        model = make_model()
        model.compile(
            optimizer=tf.keras.optimizers.Adam(3e-3),
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["sparse_categorical_accuracy"],
            steps_per_execution=steps_per_execution,
        )
    history = model.fit(
        dataset(batch_size, training=True),
        epochs=epochs,
        steps_per_epoch=TRAIN // batch_size,
        validation_data=dataset(batch_size, training=False),
        verbose=0,
    )
    return history.history["val_sparse_categorical_accuracy"][-1]


def custom_loop(strategy, epochs=2, batch_size=80):
    """A loop of strategy.run; returns the test accuracy."""
    with strategy.scope():
        model = make_model()
        optimizer = tf.keras.optimizers.Adam(3e-3)
        training_loss = tf.keras.metrics.Mean("training_loss", dtype=tf.float32)
        training_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(
            "training_accuracy", dtype=tf.float32
        )
        test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy("test_accuracy")
    per_replica = batch_size // strategy.num_replicas_in_sync
    batches = strategy.distribute_datasets_from_function(
        lambda _: dataset(per_replica, training=True)
    )

    @tf.function
    def train(iterator, steps):
        def step(inputs):
            images, labels = inputs
            with tf.GradientTape() as tape:
                logits = model(images, training=True)
                each = tf.keras.losses.sparse_categorical_crossentropy(
                    labels, logits, from_logits=True
                )
                loss = tf.nn.compute_average_loss(each)
                loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(list(zip(gradients, model.trainable_variables)))
            training_loss.update_state(loss * strategy.num_replicas_in_sync)
            training_accuracy.update_state(labels, logits)

        for _ in tf.range(steps):
            strategy.run(step, args=(next(iterator),))

    @tf.function
    def evaluate(inputs):
        def step(images, labels):
            test_accuracy.update_state(labels, model(images, training=False))

        strategy.run(step, args=inputs)

    iterator = iter(batches)
    for _ in range(epochs):
        training_loss.reset_state()
        training_accuracy.reset_state()
        train(iterator, tf.convert_to_tensor(TRAIN // batch_size))
    assert np.isfinite(training_loss.result().numpy())
    assert training_accuracy.result() > 0.8

    ordered = dataset(batch_size, training=False)
    for inputs in strategy.experimental_distribute_dataset(ordered):
        evaluate(inputs)
    return float(test_accuracy.result())
