"""Optimizers, model functions, exports and inputs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from goldens.library.registry import X, Y, attempts, case, module


@case
def optimizers() -> Any:
    """Optimizers by name, as objects, from functions."""
    get = module("canned.optimizers").get_optimizer_instance
    get_v2 = module("canned.optimizers").get_optimizer_instance_v2

    def kind(optimizer: Any) -> list[Any]:
        rate = getattr(optimizer, "_learning_rate", None)
        return [type(optimizer).__name__, rate if isinstance(rate, float) else None]

    def kind_v2(optimizer: Any) -> list[Any]:
        return [
            type(optimizer).__name__,
            float(np.float32(optimizer.get_config()["learning_rate"])),
        ]

    sgd = tf.train.GradientDescentOptimizer(0.25)
    return attempts(
        lambda: kind(get("Adam", 0.5)),
        lambda: kind(get("SGD", learning_rate=0.5)),
        lambda: kind(get(sgd)),
        lambda: kind(get(lambda: sgd)),
        lambda: get("Adam"),
        lambda: get("Nadam", 0.1),
        lambda: get(7),
        lambda: kind_v2(get_v2("Adagrad")),
        lambda: kind_v2(get_v2("RMSProp", 0.5)),
        lambda: get_v2("Nadam"),
        lambda: get_v2(sgd),
    )


def _trained(model_fn: Callable[..., Any]) -> Any:
    """Returns an Estimator's variable names and loss after ten steps."""
    estimator = module("estimator")

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors(({"x": X}, Y[:, None])).repeat()

    config = module("run_config").RunConfig(tf_random_seed=7)
    with tempfile.TemporaryDirectory() as folder:
        subject = estimator.Estimator(model_fn, folder, config)
        subject.train(input_fn, steps=10)
        metrics = subject.evaluate(input_fn, steps=1)
        return {
            "names": sorted(subject.get_variable_names()),
            "loss": round(float(metrics["loss"]), 3),
        }


@case
def model_fns() -> Any:
    """The canned model functions, in an Estimator of a library's own."""
    head, dnn, linear = module("canned.head"), module("canned.dnn"), module("canned.linear")
    combined = module("canned.dnn_linear_combined")
    column = tf.feature_column.numeric_column("x", [3])
    of_v1 = head._binary_logistic_head_with_sigmoid_cross_entropy_loss()
    of_v2 = module("head.binary_class_head").BinaryClassHead()

    def dnn_v1(features, labels, mode, config):
        return dnn._dnn_model_fn(
            features, labels, mode, of_v1, [4], [column], activation_fn=tf.nn.tanh, config=config
        )

    def dnn_v2(features, labels, mode):
        return dnn.dnn_model_fn_v2(features, labels, mode, of_v2, [4], [column], "SGD")

    def linear_v1(features, labels, mode, config):
        return linear._linear_model_fn(
            features, labels, mode, of_v1, [column], "Ftrl", None, config
        )

    def linear_v2(features, labels, mode, config):
        return linear._linear_model_fn_v2(
            features, labels, mode, of_v2, [column], "Adagrad", config
        )

    def combined_v1(features, labels, mode, config):
        return combined._dnn_linear_combined_model_fn(
            features, labels, mode, of_v1, [column], dnn_feature_columns=[column],
            dnn_hidden_units=[3], config=config,
        )  # fmt: skip

    def logits_v1(features, labels, mode):
        logit_fn = dnn.dnn_logit_fn_builder(1, [4], [column], tf.nn.relu, None, None, False)
        logits = logit_fn(features, mode) + linear.linear_logit_fn_builder(1, [column])(features)
        optimizer = tf.train.AdamOptimizer(0.1)
        return of_v1.create_estimator_spec(features, mode, logits, labels, optimizer)

    results = {}
    for function in (dnn_v1, dnn_v2, linear_v1, linear_v2, combined_v1, logits_v1):
        results[function.__name__] = _trained(function)
    return results


@case
def kept_exports() -> Any:
    """The filters of the module gc."""
    gc = module("gc")
    paths = [gc.Path(f"/tmp/{n}", n) for n in (7, 8, 2, 0, 3, 5, 12)]
    rest = gc._negation(gc._largest_export_versions(2))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("10", "9", "temp"):
            tf.gfile.MakeDirs(f"{folder}/{name}")
        base = len(folder) + 1

        def parser(path: Any) -> Any:
            name = path.path[base:]
            return path._replace(export_version=int(name)) if name.isdigit() else None

        listed = [path.path[base:] for path in gc._get_paths(folder, parser=parser)]
    return {
        "largest": gc._largest_export_versions(3)(paths),
        "some are none": gc._largest_export_versions(2)([gc.Path("/a", None), gc.Path("/b", 1)]),
        "every 3": gc._one_of_every_n_export_versions(3)(paths),
        "multiples": gc._mod_export_version(4)(paths),
        "union": gc._union(gc._largest_export_versions(1), gc._mod_export_version(5))(paths),
        "negation": rest(paths),
        "listed": listed,
    }


@case
def inputs() -> Any:
    """Evaluates an input_fn's result in a session."""
    util = module("util")

    def build_and_run(result: Callable[[], Any]) -> Any:
        with tf.Graph().as_default(), tf.Session() as session:
            features, labels, hooks = util.parse_input_fn_result(result())
            for hook in hooks:
                hook.begin()
                hook.after_create_session(session, None)
            kinds = [type(hook).__name__.lstrip("_") for hook in hooks]
            return [session.run([features, [] if labels is None else labels]), kinds]

    return attempts(
        lambda: build_and_run(lambda: tf.data.Dataset.from_tensors(({"a": [1, 2]}, [3]))),
        lambda: build_and_run(lambda: tf.data.Dataset.from_tensors({"a": [1, 2]})),
        lambda: build_and_run(lambda: (tf.constant(1), tf.constant(2))),
        lambda: build_and_run(lambda: [tf.constant(1)] * 3),
        lambda: util.fn_args(lambda a, b, *c, d=1, **e: None),
        lambda: util.parse_iterator_result({"a": 1}),
    )
