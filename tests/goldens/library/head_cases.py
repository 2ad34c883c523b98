"""Private functions and classes of heads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from goldens.library.registry import LABELS, LOGITS, WEIGHTS, attempts, case, in_session, module


@case
def head_metrics() -> Any:
    """The metrics that heads are made of, weighed and not."""
    head = module("canned.head")

    def build() -> dict[str, Any]:
        labels, logistic = tf.constant(LABELS), tf.sigmoid(LOGITS)
        metrics = {}
        for suffix, weights in (("", None), (" weighed", tf.constant(WEIGHTS))):
            mean = head._indicator_labels_mean(labels, weights)
            metrics[f"labels{suffix}"] = mean
            metrics[f"baseline{suffix}"] = head._accuracy_baseline(mean)
            metrics[f"predictions{suffix}"] = head._predictions_mean(logistic, weights)
            metrics[f"auc{suffix}"] = head._auc(labels, logistic, weights)
            metrics[f"pr{suffix}"] = head._auc(labels, logistic, weights, curve="PR")
            for threshold in (0.3, 0.6):
                arguments = labels, logistic, weights, threshold
                metrics[f"accuracy {threshold}{suffix}"] = head._accuracy_at_threshold(*arguments)
                metrics[f"precision {threshold}{suffix}"] = head._precision_at_threshold(*arguments)
                metrics[f"recall {threshold}{suffix}"] = head._recall_at_threshold(*arguments)
        return metrics

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

    def sessionless(name: str, *arguments: Any) -> Callable[[], Any]:
        return lambda: [getattr(head, name)(*arguments)]

    results = attempts(
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
    return {"built": built, "found": results, "keys": [*keys, head._PREDICT_SERVING_KEY]}


@case
def v1_heads() -> Any:
    """Classes of V1 heads: attributes that subclasses read, losses, metrics, errors."""
    head = module("canned.head")
    binary = head._BinaryLogisticHeadWithSigmoidCrossEntropyLoss("w", [0.4], name="b")
    classes = head._MultiClassHeadWithSoftmaxCrossEntropyLoss(3, label_vocabulary=["x", "y", "z"])
    regression = head._RegressionHeadWithMeanSquaredErrorLoss(1, weight_column="w")
    thresholds = head._binary_logistic_head_with_sigmoid_cross_entropy_loss(None, [0.5])
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
        operations = {}
        for name, h in (("binary", binary), ("regression", regression), ("made", thresholds)):
            with tf.variable_scope(name):
                spec = h.create_estimator_spec(features, "eval", logits, labels)
                operations.update({f"{name} {k}": v for k, v in spec.eval_metric_ops.items()})
        return operations

    return {
        "attributes": attributes,
        "isinstance": isinstance(thresholds, head._BinaryLogisticHeadWithSigmoidCrossEntropyLoss),
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
            operations = super()._eval_metric_ops(labels=labels, class_ids=class_ids, **others)
            return {**operations, "positives": tf.metrics.mean(tf.cast(labels, tf.float32))}

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
