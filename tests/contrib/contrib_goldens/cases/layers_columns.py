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
        spec = layers.create_feature_spec_for_parsing([each() for each in make])
        rows = {}
        for key, value in spec.items():
            rows[key] = [
                str(list(each)) if isinstance(each, (tuple, list)) else each
                for each in tuple(value)
            ]
        return rows

    return build


def number(**options):
    return lambda: layers.real_valued_column("size", **options)


def features():
    """Features of three examples."""
    return {
        "size": tf.constant([[0.5], [2.5], [7.0]], name="input"),
        "pair": tf.constant([[1.0, -1.0], [0.0, 2.0], [3.0, 0.5]]),
        "color": tf.constant([["red", "green"], ["blue", ""], ["black", "red"]]),
        "word": tf.constant([["a", "b"], ["", ""], ["c", "a"]]),
        "words": tf.SparseTensor(
            [[0, 0], [0, 1], [1, 0], [2, 1]], tf.constant(["a", "b", "c", "a"]), [3, 2]
        ),
        "id": tf.constant([[3, -1], [12, 0], [5, 5]], tf.int64),
        "weight": tf.constant([[1.0, 2.0], [0.5, 0.0], [3.0, 1.5]]),
    }


def identified():
    return layers.sparse_column_with_integerized_feature("id", 9)


def buckets(name="size", dimension=1):
    return layers.bucketized_column(
        layers.real_valued_column(name, dimension=dimension), [0.0, 1.0, 5.0]
    )


def ramp(shape, dtype=tf.float32, partition_info=None):
    """An initializer: 0, 0.1, 0.2, ..."""
    del partition_info
    count = 1
    for size in shape:
        count *= int(size)
    return tf.cast(tf.reshape(tf.range(count), shape), dtype) / 10


def made_of(function, *make, **options):
    """What a function makes of columns."""

    def build():
        return function(features(), [each() for each in make], **options)

    return build


def inputs(*make, **options):
    return made_of(layers.input_from_feature_columns, *make, **options)


def sums(*make, **options):
    def build():
        total, _, bias = layers.weighted_sum_from_feature_columns(
            features(), [each() for each in make], 2, **options
        )
        return total, bias

    return build


def joint(*make):
    def build():
        total, weights, bias = layers.joint_weighted_sum_from_feature_columns(
            features(), [each() for each in make], 2
        )
        return total, weights, bias

    return build


def transformed(make):
    def build():
        column = make()
        tensors = layers.transform_features(features(), [column])[column]
        parts = tensors if isinstance(tensors, tuple) else [tensors]
        return [
            tensor
            for part in parts
            for tensor in (
                [part.indices, part.values] if isinstance(part, tf.SparseTensor) else [part]
            )
        ]

    return build


def shared():
    def build():
        columns = layers.shared_embedding_columns(
            [hashed("word"), hashed("color")], 2, initializer=ramp
        )
        return layers.input_from_feature_columns(features(), columns)

    return build


def sequences(*make):
    def build():
        steps = {
            "pair": tf.reshape(tf.range(12.0), [2, 3, 2]),
            "id": tf.constant([[1, 2, -1], [8, 8, 0]], tf.int64),
        }
        sparse = tf.SparseTensor(
            [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 2, 0]],
            tf.constant([1, 2, 8, 0], tf.int64),
            [2, 3, 1],
        )
        return layers.sequence_input_from_feature_columns(
            dict(steps, id=sparse), [each() for each in make]
        )

    return build


def embedded(column=hashed, **options):
    return lambda: layers.embedding_column(column(), 3, initializer=ramp, **options)


def crossed(*columns, **options):
    return lambda: layers.crossed_column([each() for each in columns], 7, **options)


def placeholders():
    tensors = layers.make_place_holder_tensors_for_base_features([keys(), number(dimension=2)()])
    return {
        name: [isinstance(each, tf.SparseTensor), str(each.get_shape())]
        for name, each in sorted(tensors.items())
    }


def parsed():
    example = tf.train.Example(
        features=tf.train.Features(
            feature={
                "color": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"red", b"blue"])),
                "size": tf.train.Feature(float_list=tf.train.FloatList(value=[2.0])),
            }
        )
    )
    column, sized = keys(), number()()
    values = layers.parse_feature_columns_from_examples(
        [example.SerializeToString()], [column, sized]
    )
    return values[column].values, tf.identity(values[sized])


def parsed_sequence():
    example = tf.train.SequenceExample(
        context=tf.train.Features(
            feature={"size": tf.train.Feature(float_list=tf.train.FloatList(value=[2.0]))}
        ),
        feature_lists=tf.train.FeatureLists(
            feature_list={
                "pair": tf.train.FeatureList(
                    feature=[
                        tf.train.Feature(float_list=tf.train.FloatList(value=[each, 1.0]))
                        for each in (3.0, 4.0, 5.0)
                    ]
                )
            }
        ),
    )
    context, steps = layers.parse_feature_columns_from_sequence_examples(
        example.SerializeToString(), [number()()], [layers.real_valued_column("pair", dimension=2)]
    )
    return tf.identity(context["size"]), tf.identity(steps["pair"])


CASES = {
    "layers.parse_feature_columns_from_sequence_examples": parsed_sequence,
    "layers.parse_feature_columns_from_sequence_examples: several": lambda: (
        layers.parse_feature_columns_from_sequence_examples(["a", "b"], [number()()], None)
    ),
    "layers.check_feature_columns: once": lambda: layers.check_feature_columns([keys()]),
    "layers.check_feature_columns: twice": lambda: layers.check_feature_columns([keys(), keys()]),
    "layers.check_feature_columns: dict": lambda: layers.check_feature_columns({"a": keys()}),
    "layers.infer_real_valued_columns": lambda: [
        [each.name, each.dimension, each.dtype.name]
        for each in layers.infer_real_valued_columns({"pair": features()["pair"]})
    ],
    "layers.infer_real_valued_columns: words": lambda: layers.infer_real_valued_columns(
        features()["word"]
    ),
    "layers.input_from_feature_columns": inputs(number(), embedded(), buckets),
    "layers.input_from_feature_columns: order": inputs(
        lambda: layers.one_hot_column(keys()),
        embedded(),
        embedded(keys),
        number(),
        lambda: layers.real_valued_column("pair", dimension=2),
        buckets,
        lambda: layers.embedding_column(identified(), 2, initializer=ramp),
        lambda: buckets("pair", 2),
    ),
    "layers.input_from_feature_columns: weighted": inputs(
        lambda: layers.one_hot_column(layers.weighted_sparse_column(hashed("color"), "weight")),
        lambda: layers.embedding_column(
            layers.weighted_sparse_column(hashed("color"), "weight"),
            2,
            combiner="sum",
            initializer=ramp,
        ),
    ),
    "layers.input_from_feature_columns: default initializer": inputs(
        lambda: layers.embedding_column(hashed(), 3)
    ),
    "layers.input_from_feature_columns: sqrtn": inputs(embedded(combiner="sqrtn", max_norm=0.5)),
    "layers.input_from_feature_columns: sparse": inputs(keys),
    "layers.input_from_feature_columns: missing": inputs(
        lambda: layers.real_valued_column("nothing")
    ),
    "layers.input_from_feature_columns: not trained": inputs(embedded(), trainable=False),
    "layers.joint_weighted_sum_from_feature_columns": joint(hashed, keys),
    "layers.joint_weighted_sum_from_feature_columns: numbers": joint(hashed, number()),
    "layers.make_place_holder_tensors_for_base_features": placeholders,
    "layers.parse_feature_columns_from_examples": parsed,
    "layers.scattered_embedding_column": inputs(
        lambda: layers.scattered_embedding_column(
            "words", 20, 3, layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY, initializer=ramp
        )
    ),
    "layers.scattered_embedding_column: combiner": lambda: layers.scattered_embedding_column(
        "id", 20, 3, 1, combiner="max"
    ),
    "layers.sequence_input_from_feature_columns": sequences(
        lambda: layers.real_valued_column("pair", dimension=2),
        lambda: layers.one_hot_column(identified()),
        lambda: layers.embedding_column(identified(), 2, initializer=ramp),
    ),
    "layers.sequence_input_from_feature_columns: buckets": sequences(lambda: buckets("pair", 2)),
    "layers.shared_embedding_columns": shared(),
    "layers.shared_embedding_columns: sizes": lambda: layers.shared_embedding_columns(
        [hashed(), hashed(size=5)], 2
    ),
    "layers.transform_features": transformed(keys),
    "layers.transform_features: hash keys": transformed(lambda: hashed(hash_keys=[[1, 2], [3, 4]])),
    "layers.transform_features: integers": transformed(identified),
    "layers.transform_features: crossed": transformed(
        crossed(keys, hashed, hash_key=layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY)
    ),
    "layers.transform_features: crossed buckets": transformed(
        crossed(buckets, keys, hash_key=layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY)
    ),
    "layers.transform_features: crossed without a key": transformed(crossed(keys, hashed)),
    "layers.transform_features: normalized": transformed(
        number(normalizer=lambda numbers: numbers * 2 + 1)
    ),
    "layers.weighted_sum_from_feature_columns": sums(
        hashed, keys, number(), buckets, lambda: layers.weighted_sparse_column(keys(), "weight")
    ),
    "layers.weighted_sum_from_feature_columns: embedding": sums(embedded()),
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
    "layers.crossed_column: linear model": made_of(
        tf.feature_column.linear_model,
        crossed(keys, hashed, hash_key=5),
        buckets,
        identified,
        lambda: layers.one_hot_column(keys()),
    ),
    "layers.crossed_column: one": lambda: layers.crossed_column([hashed()], 7),
    "layers.crossed_column: numbers": lambda: layers.crossed_column([hashed(), number()()], 7),
    "layers.embedding_column": spec(lambda: layers.embedding_column(hashed(), 3)),
    "layers.embedding_column: input layer": made_of(
        tf.feature_column.input_layer, embedded(), lambda: layers.one_hot_column(keys()), number()
    ),
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
