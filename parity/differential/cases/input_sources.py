"""Sources of elements: iterators, queues, generators, feeds and random streams."""

from __future__ import annotations

import os
import pathlib
import tempfile

from parity.differential.cases.inputs import summing, total, train
from parity.differential.tools import case, config, est, np, tf


@case
def tables_in_oneshot(folder):
    def data():
        t = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([10, 20], tf.int64)), -1
        )
        ds = tf.data.Dataset.from_tensor_slices(["a", "b", "z"]).map(t.lookup).repeat()
        it = tf.data.make_initializable_iterator(ds)
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, it.initializer)
        return it.get_next()

    return train(folder, data, lambda f, l: tf.cast(f, tf.float32))


@case
def initializable_with_hook(folder):
    class Init(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            session.run(self.it.initializer, {self.p: np.arange(3, dtype=np.float32) + 5})

    hook = Init()

    def data():
        hook.p = tf.placeholder(tf.float32, [None])
        hook.it = tf.data.make_initializable_iterator(
            tf.data.Dataset.from_tensor_slices(hook.p).repeat()
        )
        return hook.it.get_next()

    return train(folder, data, hooks=[hook])


@case
def two_get_next(folder):
    """get_next() called twice is two elements a step."""

    def data():
        it = tf.data.make_one_shot_iterator(tf.data.Dataset.range(100))
        a = it.get_next()
        with tf.control_dependencies([a]):
            b = it.get_next()
        return tf.cast(a, tf.float32) * 100 + tf.cast(b, tf.float32)

    return train(folder, data)


@case
def two_iterators_zipped(folder):
    def data():
        a = tf.data.make_one_shot_iterator(tf.data.Dataset.range(5).repeat()).get_next()
        b = tf.data.make_one_shot_iterator(tf.data.Dataset.range(10, 13).repeat()).get_next()
        return {"a": a, "b": b}

    return train(folder, data, lambda f, l: tf.cast(f["a"] * 100 + f["b"], tf.float32))


@case
def unused_iterator_ends(folder):
    """The features that the model does not read are drawn neither."""

    def data():
        a = tf.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next()
        b = tf.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next()
        return {"a": a, "b": b}

    return train(folder, data, lambda f, l: tf.cast(f["a"], tf.float32))


@case
def producers(folder):
    path = os.path.join(folder, "x.csv")
    pathlib.Path(path).write_text("1,a\n2,b\n3,c\n")
    md = os.path.join(folder, "m")

    def data():
        q = tf.train.string_input_producer([path], num_epochs=2, shuffle=False)
        _, line = tf.TextLineReader().read(q)
        a, b = tf.decode_csv(line, [[0.0], [""]])
        a, b = tf.train.batch([a, b], 2, allow_smaller_final_batch=True)
        return {"a": a, "b": b}

    return train(md, data, lambda f, l: tf.reduce_sum(f["a"]), steps=10)


@case
def slice_and_range_producer(folder):
    def data():
        a = tf.train.range_input_producer(4, shuffle=False, num_epochs=3).dequeue()
        b = tf.train.slice_input_producer([tf.constant([1.0, 2.0, 3.0])], shuffle=False)[0]
        return {"a": a, "b": b}

    r = train(folder, data, lambda f, l: tf.cast(f["a"], tf.float32) * 10 + f["b"], steps=20)
    return r


@case(races="two threads fill the queue")
def shuffle_batch_union(folder):
    def data():
        a = tf.train.slice_input_producer([tf.range(8.0)], num_epochs=1, shuffle=True, seed=1)[0]
        return tf.train.shuffle_batch([a], 2, capacity=20, min_after_dequeue=4, num_threads=2)

    r = train(folder, data, total, steps=20)
    return [r["global_step"], float(np.sum(r["seen"]))]


@case
def generator_state(folder):
    calls = []

    def gen():
        for i in range(6):
            calls.append(i)
            yield np.float32(len(calls))

    data = lambda: tf.data.Dataset.from_generator(gen, tf.float32, [])
    a = train(folder, data, steps=10)
    b = train(folder, data, steps=2)
    return [a["global_step"], a["seen"], b["seen"][6:8], b["global_step"]]


@case
def input_random_ops(folder):
    """Tensors of random ops, and unseeded shuffles, with tf_random_seed."""
    out = []
    for data in (
        lambda: tf.random_uniform([], seed=3),
        lambda: tf.random_uniform([]),
        lambda: tf.data.Dataset.range(10).shuffle(10, seed=5).repeat(),
        lambda: tf.data.Dataset.range(10).shuffle(10).repeat(),
        lambda: (
            tf.data.Dataset.range(3).shuffle(3, reshuffle_each_iteration=False, seed=2).repeat()
        ),
        lambda: tf.data.Dataset.range(100).map(lambda x: tf.random_uniform([], seed=4)),
        lambda: tf.data.Dataset.range(100).map(lambda x: tf.random_uniform([])),
        lambda: tf.data.experimental.RandomDataset(seed=3).map(lambda x: x % 1000),
        lambda: tf.data.make_one_shot_iterator(
            tf.data.Dataset.range(10).shuffle(10, seed=5).repeat()
        ).get_next(),
        lambda: tf.data.make_one_shot_iterator(tf.data.Dataset.range(10).shuffle(10)).get_next(),
    ):
        out.append(train(tempfile.mkdtemp(), data, steps=6)["seen"])
    return out


@case
def input_global_python_state(folder):
    np.random.seed(4)
    data = lambda: tf.data.Dataset.from_tensor_slices(np.random.rand(4).astype(np.float32)).repeat()
    a = train(folder, data)
    return [a, train(folder, data)]


@case
def set_random_seed_in_input(folder):
    def data():
        tf.set_random_seed(99)
        return tf.data.Dataset.range(10).shuffle(10).repeat()

    return train(folder, data)


@case
def eval_with_queue(folder):
    train(folder, lambda: tf.data.Dataset.range(5))
    e = est.Estimator(summing(), config=config(folder))
    data = lambda: tf.train.range_input_producer(4, shuffle=False, num_epochs=1).dequeue()
    return [e.evaluate(data), [p["x"] for p in e.predict(data)]]


@case
def py_func_in_input(folder):
    calls = []

    def f(x):
        calls.append(int(x))
        return np.float32(x * 2)

    data = lambda: (
        tf.data.Dataset.range(6)
        .map(lambda x: tf.py_func(f, [x], tf.float32))
        .map(lambda x: tf.reshape(x, []))
    )
    r = train(folder, data, steps=10)
    t = lambda: tf.reshape(tf.py_func(lambda: np.float32(len(calls)), [], tf.float32), [])
    r2 = train(folder + "2", t, steps=3)
    return [r, len(calls), r2]


@case
def placeholder_input_feed_hook(folder):
    holder = {}

    class Feed(tf.train.SessionRunHook):
        n = 0

        def before_run(self, ctx):
            self.n += 1
            return tf.train.SessionRunArgs(None, feed_dict={holder["p"]: self.n * 1.5})

    def data():
        holder["p"] = tf.placeholder(tf.float32, [])
        return holder["p"]

    return train(folder, data, hooks=[Feed()])


@case
def feed_fn_hook(folder):
    holder, n = {}, iter(range(100))

    def data():
        holder["p"] = tf.placeholder(tf.float32, [])
        return holder["p"]

    class Lazy(tf.train.FeedFnHook):
        pass

    return train(folder, data, hooks=[tf.train.FeedFnHook(lambda: {holder["p"]: float(next(n))})])


@case
def feed_constant_features(folder):
    """A hook that replaces the batch itself."""
    holder = {}

    class Feed(tf.train.SessionRunHook):
        n = 0

        def before_run(self, ctx):
            self.n += 1
            return tf.train.SessionRunArgs(
                None, feed_dict={holder["x"]: self.n + 0.5} if self.n % 2 else None
            )

    def net(f, l):
        holder["x"] = f
        return f

    return train(
        folder,
        lambda: tf.data.Dataset.range(50).map(lambda x: tf.cast(x, tf.float32)),
        net,
        hooks=[Feed()],
        steps=6,
    )
