"""Exported SavedModels: signatures, receivers, assets, modes."""

from __future__ import annotations

import os
import pathlib
import re
import tempfile

from parity.differential.tools import (
    case,
    config,
    error_of,
    est,
    files,
    np,
    outside_placeholder,
    plain,
    repeat,
    tf,
    tf2,
    variables,
)

X = np.arange(6, dtype=np.float32).reshape(3, 2)

EK = est.ModeKeys


def mk(preds=None, outs=None, scaffold=None, extra=None):
    def model_fn(features, labels, mode, params):
        x = features["x"] if isinstance(features, dict) else features
        w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer(0.5))
        y = tf.matmul(x, w)
        more = extra(mode) if extra else None
        if mode == EK.PREDICT:
            p = preds(x, y) if preds else {"y": y}
            kw = {"export_outputs": outs(x, y)} if outs else {}
            if scaffold:
                kw["scaffold"] = scaffold(more)
            return est.EstimatorSpec(mode, predictions=p, **kw)
        loss = tf.reduce_sum(y**2)
        return est.EstimatorSpec(
            mode,
            loss=loss,
            train_op=tf.train.GradientDescentOptimizer(0.001).minimize(
                loss, tf.train.get_global_step()
            ),
            eval_metric_ops={"m": tf.metrics.mean(y)},
            predictions={"y": y},
        )

    return model_fn


def train(folder, *a, **kw):
    e = est.Estimator(mk(*a, **kw), config=config(folder), params={})
    e.train(repeat({"x": X}), steps=1)
    return e


def load(path, key="serving_default", **feeds):
    """In a v1 session."""
    with tf.Graph().as_default(), tf.Session() as s:
        m = tf.saved_model.loader.load(s, ["serve"], path)
        sig = m.signature_def[key]
        return s.run(
            {k: v.name for k, v in sig.outputs.items()},
            {sig.inputs[k].name: v for k, v in feeds.items()},
        )


def signatures(path):
    from tensorflow.core.protobuf import saved_model_pb2

    p = saved_model_pb2.SavedModel()
    p.ParseFromString(pathlib.Path(path, "saved_model.pb").read_bytes())
    out = {}
    for m in p.meta_graphs:
        out[",".join(sorted(m.meta_info_def.tags))] = {
            k: [
                v.method_name,
                {i: [t.dtype, str(t.tensor_shape).replace("\n", " ")] for i, t in v.inputs.items()},
                {
                    i: [t.dtype, str(t.tensor_shape).replace("\n", " ")]
                    for i, t in v.outputs.items()
                },
            ]
            for k, v in m.signature_def.items()
        }
        out[",".join(sorted(m.meta_info_def.tags)) + " collections"] = sorted(m.collection_def)
        out[",".join(sorted(m.meta_info_def.tags)) + " assets"] = [
            a.filename for a in m.asset_file_def
        ]
        out["stripped"] = m.meta_info_def.stripped_default_attrs
    return out


def tree(path):
    return [re.sub(r"variables.data.*", "variables.data", f) for f in files(path)]


RAW = est.export.build_raw_serving_input_receiver_fn

PARSE = est.export.build_parsing_serving_input_receiver_fn

O = est.export


@case
def export_raw(folder):
    e = train(
        folder + "/m",
        outs=lambda x, y: {
            "serving_default": O.PredictOutput({"y": y}),
            "reg": O.RegressionOutput(y),
            "cls": O.ClassificationOutput(
                scores=tf.concat([y, -y], 1), classes=tf.as_string(tf.concat([y, y], 1))
            ),
            "p2": O.PredictOutput(x),
            "sc": O.ClassificationOutput(scores=y),
            "cl": O.ClassificationOutput(classes=tf.as_string(y)),
        },
    )
    p = e.export_saved_model(folder + "/e", RAW({"x": outside_placeholder([None, 2])}))
    p = p.decode()
    return [signatures(p), tree(p), load(p, x=X), load(p, "p2", x=X)]


@case
def export_one_nameless(folder):
    e = train(folder + "/m", outs=lambda x, y: {"only": O.PredictOutput({"y": y})})
    p = e.export_saved_model(folder + "/e", RAW({"x": outside_placeholder([None, 2])})).decode()
    return [signatures(p), load(p, "only", x=X)]


@case
def export_no_outputs(folder):
    e = train(folder + "/m")
    p = e.export_saved_model(folder + "/e", RAW({"x": outside_placeholder([None, 2])})).decode()
    return [signatures(p), load(p, x=X)]


@case
def export_parsing(folder):
    e = train(
        folder + "/m",
        outs=lambda x, y: {
            "serving_default": O.RegressionOutput(y),
            "p": O.PredictOutput({"y": y}),
        },
    )
    p = e.export_saved_model(
        folder + "/e", PARSE({"x": tf.FixedLenFeature([2], tf.float32)}, default_batch_size=None)
    ).decode()
    ex = tf.train.Example(
        features=tf.train.Features(
            feature={"x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))}
        )
    ).SerializeToString()
    return [signatures(p), load(p, inputs=[ex, ex]), load(p, "p", examples=[ex])]


@case
def export_receiver_alternatives(folder):
    e = train(folder + "/m", outs=lambda x, y: {"serving_default": O.PredictOutput({"y": y})})

    def receiver():
        raw = tf.placeholder(tf.float32, [None, 2], name="raw")
        tf.placeholder(tf.float32, [None], name="one")
        x = tf.identity(raw)
        return O.ServingInputReceiver({"x": x}, raw, {"alt": {"same": x}, "alt2": raw})

    p = e.export_saved_model(folder + "/e", receiver).decode()
    return signatures(p)


@case
def export_tensor_receiver(folder):
    def mf(features, labels, mode):
        return mk(outs=lambda x, y: {"serving_default": O.PredictOutput({"y": y})})(
            features, labels, mode, {}
        )

    e = est.Estimator(mf, config=config(folder + "/m"))
    e.train(repeat(X), steps=1)

    def receiver():
        x = tf.placeholder(tf.float32, [None, 2])
        return O.TensorServingInputReceiver(x, x)

    p = e.export_saved_model(folder + "/e", receiver).decode()
    return [signatures(p), load(p, input=X)]


@case
def export_errors(folder):
    r = RAW({"x": outside_placeholder([None, 2])})
    out = []
    for outs in (
        lambda x, y: {"a": O.PredictOutput({"y": y}), "b": O.PredictOutput({"y": y})},
        lambda x, y: {"a": y},
        lambda x, y: [y],
        lambda x, y: {},
        lambda x, y: {"serving_default": O.RegressionOutput(tf.as_string(y))},
    ):

        def go():
            m = tempfile.mkdtemp()
            e = est.Estimator(mk(outs=outs), config=config(m), params={})
            e.train(repeat({"x": X}), steps=1)
            return signatures(e.export_saved_model(m + "/e", r).decode())

        out.append(error_of(go))
    e = est.Estimator(mk(), config=config(folder + "/n"), params={})
    out.append(error_of(e.export_saved_model, folder + "/e", r))
    e = train(folder + "/m")
    out.append(error_of(e.export_saved_model, folder + "/e", None)[:2])
    out.append(error_of(e.export_saved_model, folder + "/e", lambda: 3)[:2])
    out.append(error_of(e.export_saved_model, None, r)[:2])
    return out


@case
def export_assets_tables(folder):
    pathlib.Path(folder + "/vocab.txt").write_text("a\nb\n")
    os.makedirs(folder + "/extra")
    pathlib.Path(folder + "/extra/readme").write_text("hello")

    def outs(x, y):
        t = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                folder + "/vocab.txt",
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            -1,
        )
        return {
            "serving_default": O.PredictOutput(
                {"y": y, "i": tf.tile(t.lookup(tf.constant(["b"])), [tf.shape(y)[0]])}
            )
        }

    e = train(folder + "/m", outs=outs)
    p = e.export_saved_model(
        folder + "/e",
        RAW({"x": outside_placeholder([None, 2])}),
        assets_extra={"some/readme.txt": folder + "/extra/readme"},
        as_text=False,
    ).decode()
    os.remove(folder + "/vocab.txt")
    m = tf2.saved_model.load(p) if tf.executing_eagerly() else None
    eager = (
        plain({k: v.numpy() for k, v in m.signatures["serving_default"](tf.constant(X)).items()})
        if m
        else None
    )
    return [signatures(p), tree(p), load(p, x=X), eager]


@case
def export_as_text(folder):
    e = train(folder + "/m")
    p = e.export_saved_model(
        folder + "/e", RAW({"x": outside_placeholder([None, 2])}), as_text=True
    ).decode()
    return [tree(p), load(p, x=X)]


@case(races="the scaffold's local_init_op groups two assignments of one variable")
def export_scaffold_ops(folder):
    """local_init_op and a saver of the scaffold's in an export."""

    def scaffold(more):
        return tf.train.Scaffold(
            local_init_op=tf.group(
                tf.local_variables_initializer(), tf.tables_initializer(), tf.assign(more, [5.0])
            )
        )

    e = est.Estimator(
        mk(
            None,
            lambda x, y: {
                "serving_default": O.PredictOutput({"y": y + tf.get_collection("loc")[0]})
            },
            scaffold,
            lambda mode: tf.get_local_variable(
                "loc",
                [1],
                initializer=tf.zeros_initializer(),
                collections=["loc", "local_variables"],
            ),
        ),
        config=config(folder + "/m"),
        params={},
    )
    e.train(repeat({"x": X}), steps=1)
    p = e.export_saved_model(folder + "/e", RAW({"x": outside_placeholder([None, 2])})).decode()
    return [load(p, x=X), list(e.predict(repeat({"x": X}, n=1)))]


@case
def export_local_init_default(folder):
    e = est.Estimator(
        mk(
            None,
            lambda x, y: {
                "serving_default": O.PredictOutput(
                    {
                        "y": y
                        + tf.get_local_variable(
                            "loc", [1], initializer=tf.constant_initializer(4.0)
                        )
                    }
                )
            },
        ),
        config=config(folder + "/m"),
        params={},
    )
    e.train(repeat({"x": X}), steps=1)
    p = e.export_saved_model(folder + "/e", RAW({"x": outside_placeholder([None, 2])})).decode()
    return load(p, x=X)


@case
def export_eval_train_modes(folder):
    e = train(folder + "/m")
    f = est.experimental.build_raw_supervised_input_receiver_fn(
        {"x": outside_placeholder([None, 2])}, {"l": outside_placeholder([None])}
    )
    r = {EK.TRAIN: f, EK.EVAL: f, EK.PREDICT: RAW({"x": outside_placeholder([None, 2])})}
    p = e.experimental_export_all_saved_models(folder + "/e", r).decode()
    q = e.export_saved_model(folder + "/f", f, experimental_mode=EK.EVAL).decode()
    return [signatures(p), tree(p), signatures(q)]


@case
def export_checkpoint_path(folder):
    e = train(folder + "/m")
    e.train(repeat({"x": X}), steps=3)
    p = e.export_saved_model(
        folder + "/e",
        RAW({"x": outside_placeholder([None, 2])}),
        checkpoint_path=folder + "/m/model.ckpt-1",
    ).decode()
    return [load(p, x=X), sorted(variables(p + "/variables/variables"))]


@case
def export_loaded_v2(folder):
    e = train(folder + "/m", outs=lambda x, y: {"serving_default": O.PredictOutput({"y": y})})
    p = e.export_saved_model(folder + "/e", RAW({"x": outside_placeholder([None, 2])})).decode()

    def go():
        m = tf2.saved_model.load(p)
        f = m.signatures["serving_default"]
        with tf.init_scope():
            return [
                plain(f(tf.constant(X))["y"].numpy()),
                sorted(v.name for v in m.variables),
                str(f.structured_input_signature),
            ]

    return go() if tf.executing_eagerly() else None


@case
def export_ragged_sparse_receiver(folder):
    def mf(features, labels, mode):
        x = (
            tf.sparse.to_dense(features["x"])
            if isinstance(features["x"], tf.SparseTensor)
            else features["x"]
        )
        x = tf.ensure_shape(x, [None, 2])
        return mk(outs=lambda x, y: {"serving_default": O.PredictOutput({"y": y})})(
            {"x": x}, labels, mode, {}
        )

    e = est.Estimator(mf, config=config(folder + "/m"))
    e.train(repeat({"x": X}), steps=1)

    def receiver():
        sp = tf.sparse_placeholder(tf.float32, [None, 2])
        return O.ServingInputReceiver({"x": sp}, {"x": sp})

    p = error_of(lambda: signatures(e.export_saved_model(folder + "/e", receiver).decode()))
    return p


@case
def export_twice_and_names(folder):
    e = train(folder + "/m")
    r = RAW({"x": outside_placeholder([None, 2])})
    a, b = e.export_saved_model(folder + "/e", r), e.export_saved_model(folder + "/e", r)
    return [
        a != b,
        type(a).__name__,
        len(os.listdir(folder + "/e")),
        error_of(lambda: e.export_savedmodel(folder + "/e2", r) and 1)[:2],
    ]


@case
def exporter_objects(folder):
    out = []
    r = RAW({"x": outside_placeholder([None, 2])})
    e = train(folder + "/m")
    x = est.LatestExporter("lat", r, exports_to_keep=2)
    for _i in range(3):
        out.append(x.export(e, folder + "/lat", None, {}, False) is not None)
    out.append(len(os.listdir(folder + "/lat")))
    f = est.FinalExporter("fin", r)
    out.append(
        [
            f.export(e, folder + "/fin", None, {}, False) is None,
            f.export(e, folder + "/fin", None, {}, True) is not None,
        ]
    )
    cmp = lambda best_eval_result, current_eval_result: (
        current_eval_result["m"] > best_eval_result["m"]
    )
    b = est.BestExporter("best", r, compare_fn=cmp, exports_to_keep=1)
    out.append(
        [
            b.export(e, folder + "/best", folder + "/m/model.ckpt-1", {"m": v}, False) is not None
            for v in (1.0, 0.0, 2.0, 2.0)
        ]
    )
    out.append(len(os.listdir(folder + "/best")))
    out += [
        error_of(lambda: est.BestExporter("b", r, compare_fn=lambda a, b: True))[:2],
        error_of(lambda: est.LatestExporter("b", r, exports_to_keep=0))[:2],
        error_of(b.export, e, folder + "/z", None, {}, False)[:2],
        error_of(est.BestExporter("q", r).export, e, folder + "/z", None, {"m": 1}, False)[:2],
    ]
    return out
