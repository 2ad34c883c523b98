"""What libraries do with private names of Estimator's modules.

The names are found under ``tensorflow_estimator.python.estimator``: those of TensorFlow 2.15 when
the golden file is made, this library's when it is compared. Each case returns something for JSON; a
case that raises is its error's type and the beginning of its text.
"""

from __future__ import annotations

import importlib
import inspect
import json
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["CASES", "observed", "parameters", "run_all"]

ROOT = "tensorflow_estimator.python.estimator"
LABELS = np.array([[1], [0], [1], [1]], np.int64)
LOGITS = np.array([[0.3], [-1.2], [2.1], [-0.4]], np.float32)
WEIGHTS = np.array([[1.0], [2.0], [0.5], [0.0]], np.float32)
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)
Y = np.array([0, 1, 1, 0, 1, 0, 0, 1], np.int64)

CASES: dict[str, Callable[[], Any]] = {}


def case(function: Callable[[], Any]) -> Callable[[], Any]:
    """Registers a case under its name."""
    CASES[function.__name__] = function
    return function


def module(path: str) -> Any:
    """A module of the original's, by its path below the root."""
    return importlib.import_module(f"{ROOT}.{path}")


def parameters(value: Any) -> list[list[Any]] | None:
    """What a function or class is called with: names, kinds, and defaults that JSON knows."""
    if not callable(value):
        return None
    found = []
    for parameter in inspect.signature(value).parameters.values():
        default = parameter.default
        if default is parameter.empty:
            shown: Any = "required"
        elif isinstance(default, (str, int, float, bool, type(None))):
            shown = ["is", default]
        else:
            shown = "an object"
        found.append([parameter.name, parameter.kind.name, shown])
    return found


def plain(value: Any) -> Any:
    """A value of a session, for JSON."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (np.generic,)):
        return plain(value.item())
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float):
        return round(value, 5)
    return value


def observed(function: Callable[[], Any]) -> Any:
    """What a case returns, or its error."""
    try:
        return plain(function())
    except Exception as error:  # the type is what is compared
        kinds = [k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins"]
        return {"error": kinds[0], "text": str(error)[:40]}


def in_session(build: Callable[[], Any], updates: bool = False) -> Any:
    """Runs what a function builds; of metrics the values after one update."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetches = build()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        if updates:
            session.run({key: update for key, (_, update) in fetches.items()})
            fetches = {key: value for key, (value, _) in fetches.items()}
        return session.run(fetches)


def attempts(*functions: Callable[[], Any]) -> list[Any]:
    """Outcomes or errors of several calls."""
    return [observed(function) for function in functions]


@case
def head_metrics() -> Any:
    """The metrics that heads are made of, weighed and not."""
    head = module("canned.head")

    def build() -> dict[str, Any]:
        labels, logistic = tf.constant(LABELS), tf.sigmoid(LOGITS)
        found = {}
        for suffix, weights in (("", None), (" weighed", tf.constant(WEIGHTS))):
            mean = head._indicator_labels_mean(labels, weights)
            found[f"labels{suffix}"] = mean
            found[f"baseline{suffix}"] = head._accuracy_baseline(mean)
            found[f"predictions{suffix}"] = head._predictions_mean(logistic, weights)
            found[f"auc{suffix}"] = head._auc(labels, logistic, weights)
            found[f"pr{suffix}"] = head._auc(labels, logistic, weights, curve="PR")
            for threshold in (0.3, 0.6):
                given = labels, logistic, weights, threshold
                found[f"accuracy {threshold}{suffix}"] = head._accuracy_at_threshold(*given)
                found[f"precision {threshold}{suffix}"] = head._precision_at_threshold(*given)
                found[f"recall {threshold}{suffix}"] = head._recall_at_threshold(*given)
        return found

    return in_session(build, updates=True)


@case
def head_functions() -> Any:
    """Checks, names of classes, signatures, keys."""
    head, base = module("canned.head"), module("head.base_head")

    def build() -> dict[str, Any]:
        logits = tf.constant(np.ones([2, 3], np.float32))
        weights = {"w": tf.constant([1, 2])}
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.get_variable("u", []).assign(4.0).op)
        with tf.control_dependencies([head._append_update_ops(tf.no_op())]):
            updated = tf.get_variable("v", [], initializer=tf.zeros_initializer()).read_value()
        output = base.classification_output(logits, 3, ["a", "b", "c"])
        fn, tensors = base.create_eval_metrics_tuple(
            lambda x, y: {"sum": x + y}, {"x": tf.constant(1), "y": 2}
        )
        labels = tf.constant([0, 2])
        reshape = base.check_dense_labels_match_logits_and_reshape
        return {
            "ids": head._all_class_ids(logits, 3),
            "numbers": head._all_classes(logits, 3),
            "names": base.all_classes(logits, 3, ["a", "b", "c"]),
            "output": [output.scores, output.classes],
            "weights": base.get_weights_and_check_match_logits(weights, "w", logits),
            "labels": reshape(labels, logits, 1),
            "range": base.check_label_range(labels, 3),
            "logits": base.check_logits_final_dim([[1, 2]], 2),
            "metrics": fn(**tensors),
            "updated": updated,
        }

    def sessionless(name: str, *given: Any) -> Callable[[], Any]:
        return lambda: [getattr(head, name)(*given)]

    found = attempts(
        sessionless("_summary_key", "h", "loss"),
        sessionless("_summary_key", None, "loss"),
        lambda: head._get_weights_and_check_match_logits({}, None, tf.constant(LOGITS)),
        lambda: head._validate_loss_fn_args(lambda labels: labels),
        lambda: head._validate_loss_fn_args(lambda labels, logits, other: labels),
        lambda: base.validate_n_classes(2),
        lambda: base.check_logits_final_dim(tf.constant(LOGITS), 2),
    )
    built = in_session(build)
    keys = [head._DEFAULT_SERVING_KEY, base.CLASSIFY_SERVING_KEY, base.REGRESS_SERVING_KEY]
    return {"built": built, "found": found, "keys": [*keys, head._PREDICT_SERVING_KEY]}


@case
def v1_heads() -> Any:
    """Classes of V1 heads: attributes that subclasses read, losses, metrics, errors."""
    head = module("canned.head")
    binary = head._BinaryLogisticHeadWithSigmoidCrossEntropyLoss("w", [0.4], name="b")
    classes = head._MultiClassHeadWithSoftmaxCrossEntropyLoss(3, label_vocabulary=["x", "y", "z"])
    regression = head._RegressionHeadWithMeanSquaredErrorLoss(1, weight_column="w")
    made = head._binary_logistic_head_with_sigmoid_cross_entropy_loss(None, [0.5])
    names = ("_weight_column", "_label_vocabulary", "_loss_reduction", "_loss_fn", "_name")
    attributes = [[getattr(h, name) for name in names] for h in (binary, classes)]
    attributes += [list(binary._thresholds), classes._n_classes, classes.logits_dimension]

    def losses() -> Any:
        features = {"w": tf.constant(WEIGHTS)}
        of_binary = binary.create_loss(features, "eval", tf.constant(LOGITS), tf.constant(LABELS))
        return {"binary": list(of_binary)}

    def metrics() -> Any:
        features = {"w": tf.constant(WEIGHTS)}
        logits, labels = tf.constant(LOGITS), tf.constant(LABELS)
        found = {}
        for name, h in (("binary", binary), ("regression", regression), ("made", made)):
            with tf.variable_scope(name):
                spec = h.create_estimator_spec(features, "eval", logits, labels)
                found.update({f"{name} {k}": v for k, v in spec.eval_metric_ops.items()})
        return found

    return {
        "attributes": attributes,
        "isinstance": isinstance(made, head._BinaryLogisticHeadWithSigmoidCrossEntropyLoss),
        "losses": in_session(losses),
        "metrics": in_session(metrics, updates=True),
        "errors": attempts(
            lambda: head._binary_logistic_head_with_sigmoid_cross_entropy_loss(None, [2.0]),
            lambda: head._multi_class_head_with_softmax_cross_entropy_loss(2),
            lambda: head._regression_head(label_dimension=0),
            lambda: head._regression_head(loss_reduction="none"),
            lambda: head._MultiClassHeadWithSoftmaxCrossEntropyLoss(3, loss_reduction="none").name,
        ),
    }


@case
def head_subclasses() -> Any:
    """Heads of a library's own: V1's with metrics replaced, V2's with losses replaced."""
    head, base = module("canned.head"), module("head.base_head")

    class Counting(head._BinaryLogisticHeadWithSigmoidCrossEntropyLoss):
        def _eval_metric_ops(self, labels, class_ids, **others):
            found = super()._eval_metric_ops(labels=labels, class_ids=class_ids, **others)
            return {**found, "positives": tf.metrics.mean(tf.cast(labels, tf.float32))}

    class Clipped(module("head.binary_class_head").BinaryClassHead):
        def _unweighted_loss_and_weights(self, logits, labels, features):
            loss, weights = super()._unweighted_loss_and_weights(logits, labels, features)
            return tf.minimum(loss, 0.5), weights

    class OfLists(head._Head):
        name, logits_dimension = "lists", 1

        def create_loss(self, features, mode, logits, labels):
            return head.LossSpec(tf.reduce_sum(logits), logits, 1.0, labels)

    clipped = Clipped(weight_column="w", name="c")

    def build() -> Any:
        logits, labels = tf.constant(LOGITS), tf.constant(LABELS)
        features = {"w": tf.constant(WEIGHTS)}
        spec = Counting().create_estimator_spec({}, "eval", logits, labels)
        return {
            "positives": spec.eval_metric_ops["positives"],
            "accuracy": spec.eval_metric_ops["accuracy"],
            "clipped": (clipped.loss(labels, logits, features), tf.no_op()),
            "labels": (clipped._processed_labels(logits, labels), tf.no_op()),
        }

    of_lists = OfLists()
    created = attempts(lambda: of_lists.create_estimator_spec({}, "train", 1.0))
    keys = [clipped._summary_key("loss"), base.DEFAULT_SERVING_KEY]
    return {"values": in_session(build, updates=True), "created": created, "keys": keys}


@case
def optimizers() -> Any:
    """Optimizers by name, as objects, from functions."""
    get = module("canned.optimizers").get_optimizer_instance
    get_v2 = module("canned.optimizers").get_optimizer_instance_v2

    def kind(made: Any) -> list[Any]:
        rate = getattr(made, "_learning_rate", None)
        return [type(made).__name__, rate if isinstance(rate, float) else None]

    def kind_v2(made: Any) -> list[Any]:
        return [type(made).__name__, float(np.float32(made.get_config()["learning_rate"]))]

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
    """What an Estimator with a model_fn learns in ten steps, from the same first weights."""
    estimator = module("estimator")

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors(({"x": X}, Y[:, None])).repeat()

    config = module("run_config").RunConfig(tf_random_seed=7)
    with tempfile.TemporaryDirectory() as folder:
        made = estimator.Estimator(model_fn, folder, config)
        made.train(input_fn, steps=10)
        metrics = made.evaluate(input_fn, steps=1)
        return {
            "names": sorted(made.get_variable_names()),
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

    found = {}
    for function in (dnn_v1, dnn_v2, linear_v1, linear_v2, combined_v1, logits_v1):
        found[function.__name__] = _trained(function)
    return found


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
    """What an input_fn returned, in a session."""
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


@case
def overridden_members() -> Any:
    """Which subclasses of an Estimator there may be."""
    estimator = module("estimator")
    tpu = module("tpu.tpu_estimator")

    def model_fn(features):
        return None

    def kind(base: Any, allows: bool = False, **members: Any) -> type:
        if allows:
            members["_assert_members_are_not_overridden"] = staticmethod(lambda self: None)
        return type("Made", (base,), members)

    def evaluate(self, *args):
        return "replaced"

    def made(cls: type) -> Callable[[], Any]:
        return lambda: bool(cls(model_fn))

    base = estimator.Estimator
    middle = kind(base, evaluate=evaluate)
    config = module("tpu.tpu_config").RunConfig(model_dir=tempfile.mkdtemp())
    return attempts(
        made(kind(base, evaluate=evaluate)),
        made(kind(base, True, evaluate=evaluate)),
        lambda: kind(base, True, evaluate=evaluate)(model_fn).evaluate(1),
        made(kind(base, train=evaluate)),
        made(kind(estimator.EstimatorV2, config=1)),
        made(kind(base, own=1, _own=2)),
        made(kind(base, latest_checkpoint=evaluate)),
        made(kind(base, model_fn=property(lambda self: 1))),
        made(kind(base, _call_model_fn=evaluate)),
        made(kind(base, _train_model=evaluate)),
        made(type("Below", (middle,), {})),
        made(type("TPUEstimator", (base,), {"evaluate": evaluate})),
        lambda: estimator._assert_members_are_not_overridden(base, base(model_fn)),
        lambda: bool(tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=0)),
        lambda: bool(tpu.TPUEstimator(model_fn, config=config, use_tpu=False, eval_batch_size="a")),
        lambda: bool(kind(tpu.TPUEstimator, evaluate=evaluate)(model_fn, config=config)),
    )


@case
def estimator_methods() -> Any:
    """Private methods by which libraries build graphs of their own."""
    estimator = module("estimator")

    def model_fn(features, labels, mode, params):
        weight = tf.get_variable("w", [], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(weight * features["x"]) * params["scale"]
        return module("model_fn").EstimatorSpec(
            mode, predictions={"x": features["x"]}, loss=loss, train_op=tf.no_op()
        )

    def input_fn(params):
        data = {"x": np.full([2, 1], params["scale"], np.float32)}
        return tf.data.Dataset.from_tensors((data, [1]))

    made = estimator.Estimator(model_fn, params={"scale": 3.0})
    with tf.Graph().as_default() as graph, tf.Session() as session:
        step = made._create_and_assert_global_step(graph)
        features, labels, hooks = made._get_features_and_labels_from_input_fn(input_fn, "train")
        spec = made._call_model_fn(features, labels, "train", made.config)
        for hook in hooks:
            hook.begin()
            hook.after_create_session(session, None)
        session.run(tf.global_variables_initializer())
        found = [session.run(spec.loss), session.run(step), spec.mode]
    settings = estimator._get_default_warm_start_settings
    config = estimator.maybe_overwrite_model_dir_and_session_config(None, "/tmp/model")
    return [
        *found,
        made._extract_batch_length({"a": np.zeros([3, 2]), "b": np.zeros([3])}),
        made._extract_keys({"a": 1, "b": 2}, ["b"]),
        type(made._session_config).__name__,
        config.model_dir,
        config.session_config.allow_soft_placement,
        *attempts(
            lambda: made._extract_batch_length({"a": np.zeros([3]), "b": np.zeros([2])}),
            lambda: made._extract_keys([1], ["b"]),
            lambda: settings(None),
            lambda: settings("/tmp/none").ckpt_to_initialize_from,
            lambda: settings(3),
            lambda: estimator._check_hooks_type([1]),
            lambda: estimator._check_listeners_type(None),
            lambda: estimator._verify_model_fn_args(lambda labels: 1, None),
            lambda: estimator._check_checkpoint_available("/tmp/nothing_here"),
            lambda: estimator._load_global_step_from_checkpoint_dir("/tmp/nothing_here"),
            lambda: estimator.maybe_overwrite_model_dir_and_session_config(3, None),
        ),
    ]


@case
def executor() -> Any:
    """An executor and its listeners, as libraries run them."""
    training, estimator = module("training"), module("estimator")
    told: list[Any] = []

    class Listener(training._ContinuousEvalListener):
        def before_eval(self):
            told.append("before")
            return True

        def after_eval(self, eval_result):
            told.append([eval_result.status == training._EvalStatus.EVALUATED,
                         int(eval_result.metrics["global_step"])])  # fmt: skip
            return True

    def model_fn(features, labels, mode):
        weight = tf.get_variable("w", [], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(weight * features - 2.0))
        step = tf.train.get_or_create_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return module("model_fn").EstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn():
        return tf.data.Dataset.from_tensors(np.float32([1.0])).repeat(100)

    with tempfile.TemporaryDirectory() as folder:
        config = module("run_config").RunConfig(save_checkpoints_steps=2)
        made = estimator.Estimator(model_fn, folder, config)
        train_spec = training.TrainSpec(input_fn, max_steps=4)
        eval_spec = training.EvalSpec(input_fn, steps=1, throttle_secs=0)
        training._assert_eval_spec(eval_spec)
        loop = training._TrainingExecutor(
            made, train_spec, eval_spec, continuous_eval_listener=Listener()
        )
        metrics, exports = loop.run()
    result = training._EvalResult(training._EvalStatus.MISSING_CHECKPOINT)
    return {
        "metrics": metrics,
        "exports": exports,
        "told": told,
        "result": [result.metrics, result.checkpoint_path],
        "same": loop.estimator is made,
        "errors": attempts(
            lambda: training._assert_eval_spec(3),
            lambda: training._TrainingExecutor(3, train_spec, eval_spec),
            lambda: training._TrainingExecutor(made, train_spec, 3),
            lambda: training._EvalResult(training._EvalStatus.EVALUATED),
            lambda: training._validate_hooks([1]),
            lambda: training._validate_exporters(3),
            training._is_google_env,
        ),
    }


@case
def small_things() -> Any:
    """Constants, decorators, enumerations."""
    tpu, model_fn = module("tpu.tpu_estimator"), module("model_fn")
    exporter, export = module("exporter"), module("export.export_lib")
    api = tpu.ExportSavedModelApiVersion
    public = module("estimator_export").estimator_export

    @public("estimator.Own", v1=["estimator.Own"])
    class Own:
        value = 3

    spec = model_fn._TPUEstimatorSpec(mode="infer", predictions={"a": tf.constant(1.0)})
    return {
        "versions": [api.V1.value, api.V2.value, api["V2"] is api.V2],
        "batch": list(tpu.BatchConfig(1, 2, 3, [2])),
        "keys": [model_fn.LOSS_METRIC_KEY, model_fn.AVERAGE_LOSS_METRIC_KEY],
        "smaller": exporter._loss_smaller({"loss": 2.0}, {"loss": 1.0}),
        "tags": [str(export.EXPORT_TAG_MAP["train"]), str(export.SIGNATURE_KEY_MAP["eval"])],
        "own": Own().value,
        "spec": [spec.mode, spec.as_estimator_spec().mode],
        "config": module("run_config").get_default_session_config().allow_soft_placement,
        "errors": attempts(
            lambda: exporter._loss_smaller({}, {"loss": 1.0}),
            lambda: exporter._verify_compare_fn_args(lambda best_eval_result: 1),
            lambda: exporter._SavedModelExporter("name", None).name,
            lambda: module("early_stopping")._StopOnPredicateHook(3),
        ),
        "delays": [module("training")._DELAY_SECS_PER_WORKER, module("training")._MAX_DELAY_SECS],
        "task types": module("run_config").TaskType.CHIEF,
    }


def run_all() -> dict[str, Any]:
    """The outcomes of all cases."""
    return {name: observed(function) for name, function in CASES.items()}


if __name__ == "__main__":
    print(json.dumps(run_all()))
