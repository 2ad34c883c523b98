"""Wide and deep with feature columns; examples in TFRecord files; the input_fn makes a table."""

from __future__ import annotations

import os

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22
CITIES = ["Bergen", "Cadiz", "Gdansk"]
CLASSES = ["no", "yes"]


def columns():
    age = tf.feature_column.numeric_column("age", normalizer_fn=lambda x: (x - 40.0) / 20.0)
    buckets = tf.feature_column.bucketized_column(
        tf.feature_column.numeric_column("age"), [25.0, 45.0]
    )
    city = tf.feature_column.categorical_column_with_vocabulary_list(
        "city", CITIES, num_oov_buckets=1
    )
    both = tf.feature_column.crossed_column([buckets, "city"], 7)
    deep = [age, tf.feature_column.indicator_column(city)]
    deep.append(
        tf.feature_column.embedding_column(
            both, 2, initializer=tf.truncated_normal_initializer(stddev=0.3, seed=1)
        )
    )
    return [buckets, city], deep


def records(count, seed):
    """Returns serialized examples: a city, sometimes unknown, an age and the label."""
    random = np.random.RandomState(seed)
    examples = []
    for age in random.uniform(18, 70, size=[count]).astype(np.float32):
        city = random.randint(0, len(CITIES) + 1)
        answer = CLASSES[int(age / 20 + city + random.normal() > 3.5)]
        name = ([*CITIES, "Ulm"])[city]
        feature = {
            "age": tf.train.Feature(float_list=tf.train.FloatList(value=[age])),
            "city": tf.train.Feature(bytes_list=tf.train.BytesList(value=[name.encode()])),
            "answer": tf.train.Feature(bytes_list=tf.train.BytesList(value=[answer.encode()])),
        }
        features = tf.train.Features(feature=feature)
        examples.append(tf.train.Example(features=features).SerializeToString())
    return examples


def spec():
    wide, deep = columns()
    return tf.feature_column.make_parse_example_spec(wide + deep)


def batches(params, name, repeat):
    features = {**spec(), "answer": tf.io.FixedLenFeature([], tf.string)}
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
            CLASSES, list(range(len(CLASSES))), value_dtype=tf.int64
        ),
        default_value=-1,
    )
    data = tf.data.TFRecordDataset(os.path.join(params["folder"], name))
    data = (data.repeat() if repeat else data).batch(params["batch_size"])
    data = data.map(lambda text: tf.io.parse_example(text, features))
    iterator = data.make_initializable_iterator()
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    features = iterator.get_next()
    return features, table.lookup(features.pop("answer"))


def train_input(params):
    return batches(params, "train.tfrecord", repeat=True)


def eval_input(params):
    return batches(params, "test.tfrecord", repeat=False)


def predict_input(params):
    return eval_input(params)[0]


SERVED = {"examples": records(3, seed=3)}


def serving_input():
    return tf.estimator.export.build_parsing_serving_input_receiver_fn(spec())()


def model_fn(features, labels, mode, params):
    wide, deep = columns()
    x = tf.feature_column.input_layer(features, deep)
    x = tf.layers.dense(
        x, 5, activation=tf.nn.elu, kernel_initializer=tf.glorot_uniform_initializer(seed=2)
    )
    logits = tf.layers.dense(x, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=3))
    logits += tf.feature_column.linear_model(features, wide, units=2)
    scores = tf.nn.softmax(logits)
    if mode == tf.estimator.ModeKeys.PREDICT:
        names = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(
                list(range(len(CLASSES))), CLASSES, key_dtype=tf.int64
            ),
            default_value="?",
        )
        answer = names.lookup(tf.argmax(logits, axis=-1))
        classes = tf.tile(tf.constant([CLASSES]), [tf.shape(logits)[0], 1])
        return tf.estimator.EstimatorSpec(
            mode,
            predictions={"answer": answer, "scores": scores},
            export_outputs={
                "serving_default": tf.estimator.export.ClassificationOutput(scores, classes)
            },
        )
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1))
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    step = tf.train.get_global_step()
    train_wide = tf.train.FtrlOptimizer(0.05)
    train_deep = tf.train.AdagradOptimizer(0.05)
    on_wide = train_wide.compute_gradients(loss, tf.trainable_variables("linear_model"))
    others = [v for v in tf.trainable_variables() if "linear_model" not in v.op.name]
    on_deep = train_deep.compute_gradients(loss, others)
    with tf.control_dependencies([tf.convert_to_tensor(g) for g, _ in on_wide + on_deep]):
        train_op = tf.group(
            train_wide.apply_gradients(on_wide),
            train_deep.apply_gradients(on_deep, global_step=step),
        )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    folder = f"{model_dir}_examples"
    os.makedirs(folder, exist_ok=True)
    for name, count, seed in (("train", TRAIN_EXAMPLES, 1), ("test", TEST_EXAMPLES, 2)):
        with tf.io.TFRecordWriter(os.path.join(folder, f"{name}.tfrecord")) as writer:
            for record in records(count, seed):
                writer.write(record)
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    params = {"batch_size": 6, "folder": folder}
    return tf.estimator.Estimator(model_fn, config=config, params=params)
