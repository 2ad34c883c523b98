"""The results of predict()."""

from __future__ import annotations

import collections
import tempfile

from parity.differential.cases.exports import X, mk, train
from parity.differential.tools import case, config, error_of, est, np, repeat, tf


@case
def predict_kinds(folder):
    out = []
    N = collections.namedtuple("N", "u v")
    for preds in (
        lambda x, y: y,
        lambda x, y: {"a": y, "b": x},
        lambda x, y: {"a": y, "b": tf.constant(3.0)},
        lambda x, y: {"a": y, "b": x[:2]},
        lambda x, y: {"a": y, "n": {"b": x}},
        lambda x, y: {"a": y, "t": (x, y)},
        lambda x, y: [x, y],
        lambda x, y: None,
        lambda x, y: tf.reduce_sum(y),
        lambda x, y: {"s": tf.as_string(y)},
        lambda x, y: {"sp": tf.sparse.from_dense(x)},
        lambda x, y: {"r": tf.RaggedTensor.from_tensor(x)},
        lambda x, y: {"h": tf.cast(x, tf.float16), "b": x > 2, "c": tf.cast(x, tf.complex64)},
        N,
        lambda x, y: {"a": y, 3: x},
        lambda x, y: {"a": y, "v": tf.get_variable("w2", [3], initializer=tf.ones_initializer())},
    ):
        m = tempfile.mkdtemp()
        e = est.Estimator(mk(preds), config=config(m), params={})
        train(m, preds)

        row = []
        for single in (True, False):
            row.append(
                error_of(
                    lambda: list(e.predict(repeat({"x": X}, n=2), yield_single_examples=single))
                )[:3]
            )
        out.append(row)
    return out


@case
def predict_keys(folder):
    e = train(folder, lambda x, y: {"a": y, "b": x})
    return [
        list(e.predict(repeat({"x": X}, n=1), predict_keys=k))
        for k in (["a"], ["a", "zz"], ("b",), "ab")
    ] + [
        error_of(lambda: list(e.predict(repeat({"x": X}, n=1), predict_keys=k)))[:2]
        for k in (["zz"], 5)
    ]


@case
def predict_keys_no_dict(folder):
    e = train(folder, lambda x, y: y)
    return error_of(lambda: list(e.predict(repeat({"x": X}, n=1), predict_keys=["a"])))


@case
def predict_labels_given(folder):
    e = train(folder)
    return [
        list(e.predict(lambda: tf.data.Dataset.from_tensors(({"x": X}, X)))),
    ]


@case
def predict_order_and_types(folder):
    e = train(
        folder, lambda x, y: {"a": y, "i": tf.cast(x[:, 0], tf.int64), "s": tf.as_string(x[:, 0])}
    )
    r = list(
        e.predict(lambda: tf.data.Dataset.from_tensor_slices({"x": np.tile(X, [3, 1])}).batch(4))
    )
    return [r, [type(v).__name__ for v in r[0].values()]]


@case
def predict_interleaved(folder):
    """Two generators of one estimator, in turns; the model trained between."""
    e = train(folder)
    data = lambda: tf.data.Dataset.from_tensor_slices({"x": X}).batch(1)
    a, b = e.predict(data), e.predict(data)
    out = [next(a), next(b), next(a), next(b)]
    e.train(repeat({"x": X}), steps=5)
    out += [next(a), next(b)]
    c = e.predict(data)
    out.append(next(c))
    return out
