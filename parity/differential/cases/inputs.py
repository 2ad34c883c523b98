"""Input functions: what they may return, and how features and labels arrive."""

from __future__ import annotations

import collections
import os
import tempfile

from parity.differential.tools import (
    V2_OFF,
    case,
    config,
    error_of,
    est,
    events,
    files,
    np,
    tf,
    tf2,
    variables,
)


def summing(net=None):
    """A model_fn that keeps what it has seen, step by step."""

    def model_fn(features, labels, mode):
        x = net(features, labels) if net else features
        step = tf.train.get_global_step()
        inputs = tf.get_variable("seen", [12], initializer=tf.zeros_initializer())
        x = tf.cast(x, tf.float32)
        u = tf.scatter_update(inputs, step, x)
        if mode == est.ModeKeys.PREDICT:
            return est.EstimatorSpec(mode, predictions={"x": tf.reshape(x, [1])})
        if mode == est.ModeKeys.EVAL:
            return est.EstimatorSpec(mode, loss=x, eval_metric_ops={"m": tf.metrics.mean(x)})
        with tf.control_dependencies([u]):
            t = tf.assign_add(step, 1)
        return est.EstimatorSpec(mode, loss=x, train_op=t)

    return model_fn


def train(folder, input_fn, net=None, steps=4, max_steps=None, hooks=None, **kw):
    e = est.Estimator(summing(net), config=config(folder, **kw))
    e.train(input_fn, steps=steps, max_steps=max_steps, hooks=hooks)
    return variables(folder)


def total(features, labels):
    return tf.add_n([tf.reduce_sum(tf.cast(f, tf.float32)) for f in tf.nest.flatten(features)])


@case
def labels_none_kinds(folder):
    out = []
    x = np.ones([2], np.float32)
    for give in (
        lambda: tf.data.Dataset.from_tensors(x),
        lambda: tf.data.Dataset.from_tensors((x, x)),
        lambda: (tf.constant(x), None),
        lambda: tf.constant(x),
        lambda: ({"a": tf.constant(x)}, {}),
        lambda: {"a": tf.constant(x)},
        lambda: tf.data.Dataset.from_tensors({"a": x, "b": {"c": x}}),
        lambda: [tf.constant(x), tf.constant(x)],
        lambda: (tf.constant(x),),
        lambda: (tf.constant(x), None, None),
        lambda: None,
        lambda: tf.data.Dataset.from_tensors((x, x, x)),
        lambda: tf.data.Dataset.from_tensors((x,)),
        lambda: tf.data.Dataset.from_tensors(((x, x), x)),
        lambda: 3.0,
        lambda: np.ones([2], np.float32),
    ):
        structures = []

        def net(f, l):
            structures.append(
                [str(tf.nest.map_structure(lambda t: str(t.shape), f)), str(type(l).__name__)]
            )
            return total(f, l)

        r = error_of(train, tempfile.mkdtemp(), give, net, 2)
        out.append([r if r[0] == "error" else r[1]["seen"], structures])
    return out


@case
def namedtuple_features(folder):
    P = collections.namedtuple("P", "a b")

    def net(f, l):
        assert isinstance(f, P), type(f)
        return tf.reduce_sum(f.a) + tf.reduce_sum(f.b["z"]) + tf.reduce_sum(l)

    data = lambda: tf.data.Dataset.from_tensors(
        (P(np.ones(2, np.float32), {"z": np.ones(3, np.float32)}), np.float32(4))
    ).repeat()
    return train(folder, data, net)


@case
def sparse_ragged_string(folder):
    def data():
        sp = tf.SparseTensor([[0, 1], [1, 0]], ["a", "bb"], [2, 3])
        rg = tf.ragged.constant([[1.0, 2.0], [3.0]])
        ds = tf.data.Dataset.from_tensors({"s": sp, "r": rg, "t": tf.constant(["x", "y"])})
        return ds.repeat()

    def net(f, l):
        assert isinstance(f["s"], tf.SparseTensor) and isinstance(f["r"], tf.RaggedTensor)
        h = tf.strings.to_hash_bucket_fast(f["s"].values, 10)
        return (
            tf.reduce_sum(tf.cast(h, tf.float32))
            + tf.reduce_sum(f["r"])
            + tf.cast(tf.reduce_sum(tf.strings.length(f["t"])), tf.float32)
        )

    return train(folder, data, net)


@case
def sparse_batched(folder):
    def data():
        sp = tf.SparseTensor([[0, 1], [1, 0], [3, 2]], [1.0, 2.0, 5.0], [4, 3])
        return tf.data.Dataset.from_tensor_slices(sp).batch(2).repeat()

    return train(
        folder, data, lambda f, l: tf.sparse.reduce_sum(f) + tf.cast(f.dense_shape[0], tf.float32)
    )


@case
def tables_in_model_and_input(folder):
    def data():
        t = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([10, 20], tf.int64)), -1
        )
        ds = (
            tf.data.Dataset.from_tensor_slices(["a", "b", "z"])
            .map(lambda s: {"s": s, "i": t.lookup(s)})
            .repeat()
        )
        return ds

    def net(f, l):
        t = tf.lookup.StaticVocabularyTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)), 3
        )
        return tf.cast(t.lookup(f["s"]) + f["i"], tf.float32)

    return train(folder, data, net)


@case
def input_fn_arguments(folder):
    calls = []

    def data(mode, params, config):
        calls.append([mode, params, config.tf_random_seed])
        return tf.data.Dataset.range(2)

    e = est.Estimator(
        lambda features, labels, mode, params: summing()(features, labels, mode),
        params={"p": 1},
        config=config(folder),
    )
    e.train(data)
    e.evaluate(data)
    list(e.predict(data))
    return calls


@case
def eval_input(folder):
    train(folder, lambda: tf.data.Dataset.range(5))
    e = est.Estimator(summing(), config=config(folder))
    data = lambda: tf.data.Dataset.range(4)
    out = [
        e.evaluate(data),
        e.evaluate(data, steps=2),
        e.evaluate(data, steps=10, name="long"),
        error_of(e.evaluate, lambda: tf.data.Dataset.range(0)),
        error_of(e.evaluate, data, 0),
        error_of(e.evaluate, data, -1),
        error_of(lambda: list(e.predict(lambda: tf.data.Dataset.range(0)))),
    ]
    return [
        out,
        files(folder),
        events(os.path.join(folder, "eval")),
        events(os.path.join(folder, "eval_long")),
    ]


@case
def predict_tensors_forever(folder):
    """Constant tensors never end: predict goes on indefinitely."""
    train(folder, lambda: tf.data.Dataset.range(5))
    e = est.Estimator(summing(), config=config(folder))
    g = e.predict(lambda: tf.constant(7.0))
    return [next(g)["x"] for _ in range(5)] + [e.evaluate(lambda: tf.constant(7.0), steps=2)]


@case
def parse_example_fc(folder):
    path = os.path.join(folder, "r")
    with tf.python_io.TFRecordWriter(path) as w:
        for i in range(6):
            f = {
                "a": tf.train.Feature(float_list=tf.train.FloatList(value=[i * 1.0])),
                "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"k%d" % i] * (i % 3))),
                "w": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5] * (i % 3))),
                "y": tf.train.Feature(float_list=tf.train.FloatList(value=[i * 2.0])),
            }
            w.write(tf.train.Example(features=tf.train.Features(feature=f)).SerializeToString())
    fc = tf.feature_column
    a = fc.numeric_column("a", normalizer_fn=lambda x: x / 3)
    b = fc.bucketized_column(fc.numeric_column("a"), [1.5, 3.5])
    s = fc.categorical_column_with_vocabulary_list("s", ["k0", "k1", "k2"], num_oov_buckets=2)
    h = fc.categorical_column_with_hash_bucket("s", 5)
    ws = fc.weighted_categorical_column(s, "w")
    cross = fc.crossed_column([b, "s"], 7)
    init = tf.truncated_normal_initializer(seed=1, stddev=0.1)
    sh = fc.shared_embedding_columns([s], 2, initializer=init) if V2_OFF else []
    emb = [
        a,
        b,
        fc.indicator_column(s),
        fc.embedding_column(h, 3, initializer=init, combiner="sqrtn"),
        fc.embedding_column(ws, 2, initializer=init),
        fc.indicator_column(cross),
        fc.embedding_column(cross, 2, initializer=init),
        *sh,
    ]

    def model_fn(features, labels, mode):
        x = fc.input_layer(features, emb)
        lin = fc.linear_model(features, [b, s, ws, cross, a], sparse_combiner="mean")
        out = tf.layers.dense(x, 1, kernel_initializer=tf.ones_initializer()) + lin
        loss = tf.losses.mean_squared_error(labels[:, None], out)
        t = tf.train.AdagradOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=t, predictions={"o": out})

    spec = fc.make_parse_example_spec([*emb, ws])
    spec["y"] = tf.FixedLenFeature([], tf.float32)

    def data():
        ds = (
            tf.data.TFRecordDataset(path).batch(2).map(lambda r: tf.parse_example(r, spec)).repeat()
        )
        return ds.map(lambda f: (f, f.pop("y")))

    e = est.Estimator(model_fn, config=config(folder + "/m"))
    e.train(data, steps=6)
    return variables(folder + "/m")


@case
def make_batched_features(folder):
    path = os.path.join(folder, "r")
    with tf.python_io.TFRecordWriter(path) as w:
        for i in range(6):
            f = {"a": tf.train.Feature(float_list=tf.train.FloatList(value=[i * 1.0]))}
            w.write(tf.train.Example(features=tf.train.Features(feature=f)).SerializeToString())
    data = lambda: tf.data.experimental.make_batched_features_dataset(
        path, 2, {"a": tf.FixedLenFeature([], tf.float32)}, num_epochs=1, shuffle=False
    )
    return train(folder + "/m", data, total, steps=10)


@case
def unknown_shapes(folder):
    def data():
        ds = tf.data.Dataset.from_generator(
            lambda: iter([np.ones([2, 3], np.float32), np.ones([5], np.float32)] * 4), tf.float32
        )
        return ds

    return train(folder, data, lambda f, l: tf.reduce_sum(f) * 10 + tf.cast(tf.rank(f), tf.float32))


@case
def dataset_v2_options(folder):
    def data():
        ds = (
            tf2.data.Dataset.range(10)
            .map(lambda x: x * 2, num_parallel_calls=tf2.data.AUTOTUNE)
            .prefetch(2)
        )
        o = tf2.data.Options()
        o.deterministic = True
        return ds.with_options(o).batch(2, drop_remainder=True).repeat()

    return train(folder, data, total)


@case
def input_context(folder):
    def data(input_context=None):
        return tf.data.Dataset.range(5)

    return train(folder, data)
