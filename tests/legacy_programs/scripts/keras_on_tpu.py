"""Keras on a TPU as in 2018: two inputs, a shared layer, functions as loss, metric and input."""

import os

import numpy as np
import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_bool("use_tpu", False, "Whether to use a TPU.")
flags.DEFINE_string("model_dir", None, "Where the model is saved.")

layers = tf.keras.layers


def build_model():
    seeded = tf.keras.initializers.RandomUniform
    words = tf.keras.Input(shape=(4,), dtype="int32", name="words")
    other = tf.keras.Input(shape=(4,), dtype="int32", name="other")
    embedding = layers.Embedding(12, 6, embeddings_initializer=seeded(-1, 1, seed=1))
    encoder = layers.SimpleRNN(
        5,
        unroll=True,
        kernel_initializer=seeded(-1, 1, seed=2),
        recurrent_initializer=seeded(-1, 1, seed=3),
    )
    both = layers.concatenate([encoder(embedding(words)), encoder(embedding(other))])
    outputs = layers.Dense(1, activation=tf.nn.sigmoid, kernel_initializer=seeded(-1, 1, seed=4))
    return tf.keras.Model(inputs=[words, other], outputs=outputs(both))


def near(labels, predictions):
    return tf.reduce_mean(tf.cast(tf.abs(labels - predictions) < 0.4, tf.float32), axis=-1)


def log_loss(labels, predictions):
    right = labels * predictions + (1 - labels) * (1 - predictions)
    return -tf.reduce_mean(tf.log(right + 1e-7), axis=-1)


def make_data(count):
    random = np.random.RandomState(5)
    words, other = random.randint(0, 12, [2, count, 4])
    labels = (words.sum(1) > other.sum(1)).astype(np.float32)[:, None]
    return [words, other], labels


def dataset_fn():
    (words, other), labels = make_data(48)
    dataset = tf.data.Dataset.from_tensor_slices(((words, other), labels))
    return dataset.repeat().batch(16, drop_remainder=True)


def show(name, numbers):
    print(name, " ".join("%.5f" % number for number in numbers))


def main(_):
    model = build_model()
    if FLAGS.use_tpu:
        resolver = tf.contrib.cluster_resolver.TPUClusterResolver("any")
        strategy = tf.contrib.tpu.TPUDistributionStrategy(resolver)
        model = tf.contrib.tpu.keras_to_tpu_model(model, strategy=strategy)
    optimizer = tf.train.AdamOptimizer(learning_rate=0.05)
    model.compile(optimizer, log_loss, metrics=[near, "accuracy"])
    x, y = make_data(48)

    np.random.seed(6)
    weights = np.linspace(0.5, 1.5, 48)
    history = model.fit(
        x,
        y,
        batch_size=20,
        epochs=2,
        verbose=0,
        sample_weight=weights,
        validation_data=(x, y),
        class_weight={0: 1.0, 1: 2.0},
        shuffle=False,
    )
    for name in sorted(history.history):
        show(name, history.history[name])

    data = (dataset_fn,) if FLAGS.use_tpu else make_epochs()
    validation = dataset_fn if FLAGS.use_tpu else make_epochs()[0]
    history = model.fit(
        *data,
        epochs=2,
        steps_per_epoch=3,
        verbose=0,
        validation_data=validation,
        validation_steps=3,
    )
    show("function", history.history["loss"] + history.history["val_loss"])

    def generate():
        while True:
            for i in range(0, 48, 12):
                yield [part[i : i + 12] for part in x], y[i : i + 12]

    path = os.path.join(FLAGS.model_dir, "best.h5")
    saver = tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
    board = tf.keras.callbacks.TensorBoard(FLAGS.model_dir)
    seen = []
    count = tf.keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: seen.append(batch))
    model.fit_generator(
        generate(), steps_per_epoch=4, epochs=1, verbose=0, callbacks=[saver, board, count]
    )
    print("batches", seen)
    show("on_batch", model.train_on_batch([part[:7] for part in x], y[:7]))
    evaluated = model.evaluate(x, y, batch_size=10, verbose=0)
    show("evaluated", evaluated)
    show("test_on_batch", model.test_on_batch(x, y))
    show("generator", model.evaluate_generator(generate(), steps=4))
    predicted = model.predict(x, batch_size=9)
    show("predicted", predicted[:5, 0])
    show("on_batch_predicted", model.predict_on_batch([part[:3] for part in x])[:, 0])

    cpu_model = model.sync_to_cpu() if FLAGS.use_tpu else model
    print("same", np.allclose(cpu_model.predict(x), predicted, atol=1e-5))
    model.save(os.path.join(FLAGS.model_dir, "model.hd5"))
    again = tf.keras.models.load_model(os.path.join(FLAGS.model_dir, "model.hd5"), compile=False)
    print("saved", np.allclose(again.predict(x), predicted, atol=1e-5))
    model.load_weights(path)
    print("before_last_batch", not np.allclose(model.predict(x), predicted, atol=1e-5))
    model.set_weights([0 * weight for weight in model.get_weights()])
    print("zero", np.allclose(model.predict(x), 0.5))


def make_epochs():
    dataset = dataset_fn()
    return (dataset,)


if __name__ == "__main__":
    tf.app.run()
