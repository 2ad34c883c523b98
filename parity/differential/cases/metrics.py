"""Metrics and what evaluate() returns."""

from __future__ import annotations

import os
import tempfile

from parity.differential.tools import case, config, error_of, est, events, np, tf

R = np.random.RandomState(0)

Y = R.randint(0, 3, [12]).astype(np.int64)

P = R.rand(12, 3).astype(np.float32)

P /= P.sum(1, keepdims=True)

B = R.randint(0, 2, [12]).astype(np.float32)

S = R.rand(12).astype(np.float32)

W = R.rand(12).astype(np.float32)


def data(batch=5, repeat=None):
    def input_fn():
        ds = tf.data.Dataset.from_tensor_slices(({"p": P, "s": S, "w": W}, {"y": Y, "b": B})).batch(
            batch
        )
        return ds.repeat() if repeat else ds

    return input_fn


def evaluate(folder, metrics, steps=None, name=None, mf=None, train=True, **kw):
    def model_fn(features, labels, mode):
        step = tf.train.get_global_step()
        loss = tf.reduce_mean(features["s"] * tf.get_variable("w", initializer=1.0))
        if mode == est.ModeKeys.TRAIN:
            return est.EstimatorSpec(mode, loss=loss, train_op=tf.assign_add(step, 1))
        return est.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics(features, labels))

    e = est.Estimator(model_fn, config=config(folder))
    if train:
        e.train(data(12), steps=1)
    r = e.evaluate(data(), steps=steps, name=name, **kw)
    return [r, events(os.path.join(folder, "eval_" + name if name else "eval"))]


@case
def all_v1(folder):
    m = tf.metrics

    def metrics(f, l):
        y, b, p, s, w = l["y"], l["b"], f["p"], f["s"], f["w"]
        guess = tf.argmax(p, 1)
        t = [0.2, 0.5, 0.8]
        return {
            "accuracy": m.accuracy(y, guess, w),
            "auc": m.auc(b, s),
            "auc_pr": m.auc(
                b, s, curve="PR", num_thresholds=50, summation_method="careful_interpolation"
            ),
            "auc_w": m.auc(b, s, weights=w),
            "pk": m.precision_at_k(y, p, 2),
            "pk1": m.precision_at_k(y, p, 2, class_id=1),
            "rk": m.recall_at_k(y, p, 2),
            "apk": m.average_precision_at_k(y, p, 2),
            "miou": m.mean_iou(y, guess, 3),
            "mpca": m.mean_per_class_accuracy(y, guess, 3),
            "mae": m.mean_absolute_error(b, s),
            "mse": m.mean_squared_error(b, s, w),
            "rmse": m.root_mean_squared_error(b, s),
            "mre": m.mean_relative_error(b, s, s + 0.1),
            "cos": m.mean_cosine_distance(
                tf.nn.l2_normalize(p, 1), tf.nn.l2_normalize(p[:, ::-1], 1), 1
            ),
            "mean": m.mean(s, w),
            "mean_tensor": m.mean_tensor(tf.reduce_mean(p, 0)),
            "pb": m.percentage_below(s, 0.4),
            "prec": m.precision(b, s > 0.5),
            "rec": m.recall(b, s > 0.5),
            "pt": m.precision_at_thresholds(b, s, t),
            "rt": m.recall_at_thresholds(b, s, t),
            "tp": m.true_positives(b, s > 0.5),
            "fp": m.false_positives(b, s > 0.5),
            "tn": m.true_negatives(b, s > 0.5),
            "fn": m.false_negatives(b, s > 0.5),
            "tpt": m.true_positives_at_thresholds(b, s, t),
            "sens": m.sensitivity_at_specificity(b, s, 0.5),
            "spec": m.specificity_at_sensitivity(b, s, 0.5),
            "sapk": m.sparse_average_precision_at_k(y[:, None], p, 2),
            "spk": m.sparse_precision_at_k(y[:, None], p, 2),
            "ptk": m.precision_at_top_k(y, tf.nn.top_k(p, 2)[1]),
        }

    return [evaluate(folder, metrics), evaluate(folder, metrics, steps=2, name="two")]


@case
def keras_metrics(folder):
    K = tf.keras.metrics

    def metrics(f, l):
        a = K.Mean(name="km")
        a.update_state(f["s"])
        b = K.AUC(name="kauc", num_thresholds=20)
        b.update_state(l["b"], f["s"])
        c = K.SparseCategoricalAccuracy()
        c.update_state(l["y"], f["p"], sample_weight=f["w"])
        e = K.MeanTensor()
        e.update_state(tf.reduce_mean(f["p"], 0))
        return {"a": a, "b": b, "c": c, "e": e, "f": tf.metrics.mean(f["s"])}

    return evaluate(folder, metrics)


@case
def odd_metrics(folder):
    def metrics(f, l):
        v = tf.get_local_variable("acc", [], initializer=tf.zeros_initializer())
        up = tf.assign_add(v, 1.0)
        i = tf.get_local_variable("iacc", [], tf.int32, initializer=tf.zeros_initializer())
        s = tf.get_local_variable(
            "sacc",
            [],
            tf.string,
            initializer=lambda *a, **k: tf.constant(""),
        )
        sup = tf.assign(s, tf.strings.join([s.read_value(), tf.as_string(tf.shape(l["y"])[0])]))
        mat = tf.metrics.mean_tensor(tf.ensure_shape(f["p"][:2], [2, 3]))
        return {
            "count": (v.read_value(), up),
            "int": (i.read_value(), tf.assign_add(i, 2)),
            "const": (tf.constant(5.0), tf.no_op()),
            "str": (s.read_value(), sup),
            "vec": tf.metrics.mean_tensor(f["p"][0]),
            "mat": mat,
            "bool": (tf.constant(True), tf.no_op()),
            "i64": (tf.constant(2**40, tf.int64), tf.no_op()),
            "half": tf.metrics.mean(tf.cast(f["s"], tf.float16)),
        }

    return evaluate(folder, metrics)


@case
def summary_in_value(folder):
    """A metric whose value is a serialized summary."""

    def metrics(f, l):
        img = tf.summary.image("im", tf.ones([1, 2, 2, 1]), collections=[])
        txt = tf.constant("hello")
        return {"im": (img, tf.no_op()), "t": (txt, tf.no_op())}

    return evaluate(folder, metrics)


@case
def eval_edge(folder):
    out = []
    none = lambda f, l: {}
    for metrics in (
        lambda f, l: None,
        none,
        lambda f, l: {"loss": tf.metrics.mean(f["s"])},
        lambda f, l: {"global_step": tf.metrics.mean(f["s"])},
        lambda f, l: {"a": tf.reduce_sum(f["s"])},
        lambda f, l: {"a": (1.0, 2.0)},
        lambda f, l: {"a": (tf.reduce_sum(f["s"]), None)},
        lambda f, l: {1: tf.metrics.mean(f["s"])},
        lambda f, l: [tf.metrics.mean(f["s"])],
        lambda f, l: {"loss2/x": tf.metrics.mean(f["s"])},
        lambda f, l: {"r": (tf.reduce_sum(f["s"]), tf.no_op())},
    ):
        out.append(error_of(evaluate, tempfile.mkdtemp(), metrics))
    out.append(error_of(evaluate, tempfile.mkdtemp(), none, train=False))
    return out


@case
def eval_value_op_reads_batch(folder):
    """A value that depends on the batch: drawn again after the last batch?"""

    def metrics(f, l):
        m, u = tf.metrics.mean(f["s"])
        return {"a": (m * 2, u), "b": (tf.identity(m), tf.group(u))}

    return evaluate(folder, metrics)


@case
def eval_update_order(folder):
    """Update ops of two metrics that share a variable."""

    def metrics(f, l):
        v = tf.get_local_variable("v", [], initializer=tf.zeros_initializer())
        u = tf.assign_add(v, tf.reduce_sum(f["s"]))
        return {"a": (v.read_value(), u), "b": (v.read_value() * 2, u)}

    return evaluate(folder, metrics)


@case
def eval_result_types(folder):
    def metrics(f, l):
        return {
            "a": tf.metrics.mean(f["s"]),
            "v": tf.metrics.mean_tensor(f["p"][0]),
            "i": (tf.constant(4), tf.no_op()),
            "s": (tf.constant("x"), tf.no_op()),
        }

    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(features["s"])
        return est.EstimatorSpec(
            mode,
            loss=loss,
            train_op=tf.assign_add(tf.train.get_global_step(), 1),
            eval_metric_ops=metrics(features, labels),
        )

    e = est.Estimator(model_fn, config=config(folder))
    e.train(data(12), steps=1)
    r = e.evaluate(data())
    return {k: [type(v).__name__, str(getattr(v, "dtype", ""))] for k, v in r.items()}


@case
def collections_in_eval(folder):
    """LOCAL_INIT, METRIC_VARIABLES, eval step tensor, summaries op collection."""
    log = []

    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(features["s"])
        m = tf.metrics.mean(features["s"])
        log.append(
            [
                mode,
                sorted(
                    k if isinstance(k, str) else str(k)
                    for k in tf.get_default_graph().get_all_collection_keys()
                ),
                [v.name for v in tf.local_variables()],
                [v.name for v in tf.global_variables()],
                [v.name for v in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)],
            ]
        )
        return est.EstimatorSpec(
            mode,
            loss=loss,
            train_op=tf.assign_add(tf.train.get_global_step(), 1),
            eval_metric_ops={"m": m},
        )

    class G(tf.train.SessionRunHook):
        def after_create_session(self, s, c):
            log.append(sorted(k for k in s.graph.get_all_collection_keys() if isinstance(k, str)))
            log.append([v.name for v in tf.local_variables()])

    e = est.Estimator(model_fn, config=config(folder))
    e.train(data(12), steps=1, hooks=[G()])
    e.evaluate(data(), hooks=[G()])
    return log
