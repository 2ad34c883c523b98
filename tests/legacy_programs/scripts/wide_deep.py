"""Wide and deep on a table of people, as the tutorial on the census had it."""

import argparse
import os
import sys

import tensorflow as tf

_COLUMNS = ["age", "education", "occupation", "hours_per_week", "income"]
_DEFAULTS = [[0], [""], [""], [0], [""]]

parser = argparse.ArgumentParser()
parser.add_argument("--model_dir", required=True)
parser.add_argument("--data", required=True)
parser.add_argument("--model_type", default="wide_deep", choices=["wide", "deep", "wide_deep"])
parser.add_argument("--epochs", type=int, default=2)


def build_model_columns():
    age = tf.feature_column.numeric_column("age")
    hours = tf.feature_column.numeric_column("hours_per_week")
    education = tf.feature_column.categorical_column_with_vocabulary_list(
        "education", ["Bachelors", "HS-grad", "Masters"]
    )
    occupation = tf.feature_column.categorical_column_with_hash_bucket(
        "occupation", hash_bucket_size=20
    )
    age_buckets = tf.feature_column.bucketized_column(age, boundaries=[25, 35, 50])
    base = [education, occupation, age_buckets]
    crossed = [
        tf.feature_column.crossed_column(["education", "occupation"], hash_bucket_size=30),
        tf.feature_column.crossed_column([age_buckets, "education"], hash_bucket_size=30),
    ]
    deep = [
        age,
        hours,
        tf.feature_column.indicator_column(education),
        tf.feature_column.embedding_column(occupation, dimension=4),
    ]
    return base + crossed, deep


def build_estimator(model_dir, model_type):
    wide, deep = build_model_columns()
    hidden = [8, 4]
    config = tf.estimator.RunConfig().replace(
        session_config=tf.ConfigProto(device_count={"GPU": 0}), tf_random_seed=3
    )
    if model_type == "wide":
        return tf.estimator.LinearClassifier(
            model_dir=model_dir, feature_columns=wide, config=config
        )
    if model_type == "deep":
        return tf.estimator.DNNClassifier(
            model_dir=model_dir, feature_columns=deep, hidden_units=hidden, config=config
        )
    return tf.estimator.DNNLinearCombinedClassifier(
        model_dir=model_dir,
        linear_feature_columns=wide,
        dnn_feature_columns=deep,
        dnn_hidden_units=hidden,
        config=config,
    )


def input_fn(path, epochs, batch_size):
    def parse_csv(value):
        columns = tf.decode_csv(value, record_defaults=_DEFAULTS)
        features = dict(zip(_COLUMNS, columns))
        labels = features.pop("income")
        return features, tf.equal(labels, ">50K")

    dataset = tf.data.TextLineDataset(path)
    dataset = dataset.map(parse_csv, num_parallel_calls=2)
    return dataset.repeat(epochs).batch(batch_size)


def export_model(model, export_dir):
    wide, deep = build_model_columns()
    spec = tf.feature_column.make_parse_example_spec(wide + deep)
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    return model.export_savedmodel(export_dir, receiver)


def main(_):
    model = build_estimator(FLAGS.model_dir, FLAGS.model_type)
    for _ in range(2):
        model.train(input_fn=lambda: input_fn(FLAGS.data, FLAGS.epochs, 8))
        results = model.evaluate(input_fn=lambda: input_fn(FLAGS.data, 1, 40))
        for key in sorted(results):
            print("%s: %.6f" % (key, results[key]))
    for prediction in model.predict(input_fn=lambda: input_fn(FLAGS.data, 1, 40)):
        print("rich %.6f" % prediction["logistic"][0])
    path = export_model(model, os.path.join(FLAGS.model_dir, "export"))
    print("exported", path.decode())


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    FLAGS, unparsed = parser.parse_known_args()
    tf.app.run(main=main, argv=[sys.argv[0], *unparsed])
