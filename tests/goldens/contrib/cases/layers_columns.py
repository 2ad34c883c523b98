"""tf.contrib.layers: feature columns."""

import os
import tempfile

import tensorflow as tf

layers = tf.contrib.layers


def keys():
    return layers.sparse_column_with_keys("color", ["red", "green", "blue"])


def hashed(name="word", size=10, **options):
    return layers.sparse_column_with_hash_bucket(name, size, **options)


def vocabulary(**options):
    path = os.path.join(tempfile.mkdtemp(), "words")
    with open(path, "w") as file:
        file.write("one\ntwo\nthree\n")
    return layers.sparse_column_with_vocabulary_file("word", path, **options)


def spec(*make):
    """What tf.parse_example needs for some columns."""

    def build():
        found = layers.create_feature_spec_for_parsing([each() for each in make])
        rows = {}
        for key, value in found.items():
            rows[key] = [
                str(list(each)) if isinstance(each, (tuple, list)) else each
                for each in tuple(value)
            ]
        return rows

    return build


def number(**options):
    return lambda: layers.real_valued_column("size", **options)


CASES = {
    "layers.bucketized_column": spec(lambda: layers.bucketized_column(number()(), [1, 2, 5])),
    "layers.bucketized_column: source": lambda: layers.bucketized_column(keys(), [1, 2]),
    "layers.bucketized_column: none": lambda: layers.bucketized_column(number()(), []),
    "layers.create_feature_spec_for_parsing": spec(keys, hashed, number(dimension=3)),
    "layers.crossed_column": spec(
        lambda: layers.crossed_column([keys(), hashed()], hash_bucket_size=7)
    ),
    "layers.crossed_column: buckets": spec(
        lambda: layers.crossed_column(
            [keys(), layers.bucketized_column(number()(), [1, 2])], hash_bucket_size=7
        )
    ),
    "layers.crossed_column: crossed": spec(
        lambda: layers.crossed_column(
            [keys(), layers.crossed_column([hashed(), keys()], 5)], hash_bucket_size=7
        )
    ),
    "layers.crossed_column: one": lambda: layers.crossed_column([hashed()], 7),
    "layers.crossed_column: numbers": lambda: layers.crossed_column([hashed(), number()()], 7),
    "layers.embedding_column": spec(lambda: layers.embedding_column(hashed(), 3)),
    "layers.embedding_column: keys": spec(
        lambda: layers.embedding_column(keys(), 3, combiner="sum", max_norm=1.0)
    ),
    "layers.one_hot_column": spec(lambda: layers.one_hot_column(keys())),
    "layers.real_valued_column": spec(number()),
    "layers.real_valued_column: default": spec(number(dimension=2, default_value=1.5)),
    "layers.real_valued_column: list": spec(
        number(dimension=2, default_value=[1, 2], dtype=tf.int64)
    ),
    "layers.real_valued_column: dimension": number(dimension=0),
    "layers.real_valued_column: text": number(default_value="x"),
    "layers.real_valued_column: length": number(dimension=2, default_value=[1.0]),
    "layers.real_valued_column: type": number(dtype=tf.string),
    "layers.sparse_column_with_hash_bucket": spec(hashed),
    "layers.sparse_column_with_hash_bucket: integers": spec(lambda: hashed(dtype=tf.int64)),
    "layers.sparse_column_with_hash_bucket: size": lambda: hashed(size=0),
    "layers.sparse_column_with_hash_bucket: floats": lambda: hashed(dtype=tf.float32),
    "layers.sparse_column_with_integerized_feature": spec(
        lambda: layers.sparse_column_with_integerized_feature("id", 9)
    ),
    "layers.sparse_column_with_integerized_feature: size": lambda: (
        layers.sparse_column_with_integerized_feature("id", 0)
    ),
    "layers.sparse_column_with_keys": spec(keys),
    "layers.sparse_column_with_keys: integers": spec(
        lambda: layers.sparse_column_with_keys("id", [3, 4], dtype=tf.int64)
    ),
    "layers.sparse_column_with_vocabulary_file": spec(lambda: vocabulary(vocab_size=3)),
    "layers.sparse_column_with_vocabulary_file: oov": spec(
        lambda: vocabulary(num_oov_buckets=2, vocab_size=3)
    ),
    "layers.sparse_column_with_vocabulary_file: size": lambda: bool(vocabulary(vocab_size=0)),
    "layers.weighted_sparse_column": spec(lambda: layers.weighted_sparse_column(keys(), "weight")),
    "layers.weighted_sparse_column: type": lambda: layers.weighted_sparse_column(
        keys(), "weight", tf.string
    ),
}
