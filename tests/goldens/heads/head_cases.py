"""Heads on two batches of fixed numbers, for the real tf.estimator and for this library alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
TRAIN, EVAL, PREDICT = "train", "eval", "infer"
X = np.array([[1.0, 0.5], [-1.0, 2.0], [0.25, -3.0], [2.0, 1.0], [0.5, 0.5]], np.float32)
# What an example counts.
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.0, 3.0], np.float32)
W = np.array([[0.5, -0.25, 1.0], [0.75, 0.1, -0.5]], np.float32)
BATCHES = [slice(0, 3), slice(3, 5)]
ZERO_ONE = np.array([1, 0, 0, 1, 1])
CLASSES = np.array([0, 2, 1, 1, 2])
HOT = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1], [1, 1, 1], [0, 0, 1]])
REALS = np.array([1.5, -2.0, 0.25, 3.0, 0.0], np.float32)
PAIRS = np.stack([REALS, REALS[::-1] * 2], axis=1)
SHARES = np.array([0.25, 1.0, 0.0, 0.5, 0.75], np.float32)
COUNTS = np.array([3.0, 0.0, 7.0, 1.0, 2.0], np.float32)


@dataclasses.dataclass(frozen=True)
class Case:
    """A head, and the labels that it is given.

    Attributes:
      make: makes the head from the heads of one version, by name.
      labels: of all examples, or a function that returns those of a batch.
      dimension: how many logits there are.
      regularization: a loss that is added.
      weights: of all examples.
    """

    make: Callable[[dict[str, Any]], Any]
    labels: Any
    dimension: int = 1
    regularization: float | None = None
    weights: np.ndarray | None = None


def _named(names, numbers):
    return np.array(names)[numbers]


def _sparse_names(batch):
    hot = HOT[batch]
    names = tf.constant([["a", "b", "c"]] * len(hot))
    indices = tf.where(tf.constant(hot) > 0)
    return tf.SparseTensor(indices, tf.gather_nd(names, indices), hot.shape)


def _absolute(labels, logits):
    return tf.abs(labels - logits)


def _both(heads):
    return [
        heads["multi_class"](3, name="kind"),
        heads["regression"](label_dimension=2, name="size"),
    ]


def _labels_of_both(batch):
    return {"kind": CLASSES[batch], "size": PAIRS[batch]}


# Heads that both versions have: by this name, "V1" and "V2" each have one.
SHARED = {
    "binary": Case(lambda h: h["binary"](), ZERO_ONE),
    "binary, weighed, with thresholds": Case(
        lambda h: h["binary"](weight_column="w", thresholds=[0.3, 0.9]),
        ZERO_ONE,
        weights=WEIGHTS,
    ),
    "binary, words": Case(
        lambda h: h["binary"](label_vocabulary=["no", "yes"], name="clicked"),
        _named(["no", "yes"], ZERO_ONE),
        regularization=2.0,
    ),
    "binary, shares": Case(lambda h: h["binary"](), SHARES),
    "binary, sum": Case(
        lambda h: h["binary"](weight_column="w", loss_reduction=h["sum"]),
        ZERO_ONE,
        weights=WEIGHTS,
    ),
    "multi_class": Case(lambda h: h["multi_class"](3), CLASSES, 3),
    "multi_class, weighed": Case(
        lambda h: h["multi_class"](3, weight_column="w", loss_reduction=h["sum"], name="kind"),
        CLASSES[:, None],
        3,
        weights=WEIGHTS[:, None],
        regularization=0.5,
    ),
    "multi_class, words": Case(
        lambda h: h["multi_class"](3, label_vocabulary=["a", "b", "c"]),
        _named(["a", "b", "c"], CLASSES),
        3,
    ),
    "regression": Case(lambda h: h["regression"](), REALS),
    "regression, two numbers": Case(
        lambda h: h["regression"](label_dimension=2, weight_column="w"), PAIRS, 2, weights=WEIGHTS
    ),
    "regression, weights of logits": Case(
        lambda h: h["regression"](label_dimension=2, weight_column="w", loss_reduction=h["sum"]),
        PAIRS,
        2,
        weights=np.stack([WEIGHTS, WEIGHTS + 1], axis=1),
        regularization=1.0,
    ),
    "regression, own loss": Case(
        lambda h: h["regression"](loss_fn=_absolute, inverse_link_fn=tf.exp, name="size"), REALS
    ),
    "logistic": Case(lambda h: h["logistic"](weight_column="w"), SHARES, weights=WEIGHTS),
    "poisson": Case(lambda h: h["poisson"](), COUNTS),
    "poisson, not full": Case(lambda h: h["poisson"](compute_full_loss=False), COUNTS),
}
# Heads that TF 2.15 has in V2 alone.
ONLY_V2 = {
    "multi_label": Case(
        lambda h: h["multi_label"](
            3, weight_column="w", thresholds=[0.4], classes_for_class_based_metrics=[0, 2]
        ),
        HOT,
        3,
        weights=WEIGHTS,
    ),
    "multi_label, words": Case(
        lambda h: h["multi_label"](
            3, label_vocabulary=["a", "b", "c"], classes_for_class_based_metrics=["b"], name="tags"
        ),
        _sparse_names,
        3,
        regularization=0.25,
    ),
    "multi": Case(
        lambda h: h["multi"](_both(h), head_weights=[1.0, 0.5]),
        _labels_of_both,
        5,
        regularization=0.25,
    ),
}


def observed(case: Case, heads: dict[str, Any]) -> dict[str, Any]:
    """Returns the results of a head in each mode.

    Args:
      case: the head.
      heads: those of one version by name; "optimizer" is SGD's class, "sum" a reduction.

    Returns:
      Predictions and signatures; loss and metrics of both batches; and of a training step on the
      first, the loss, the summaries and the changed weights.
    """
    results: dict[str, Any] = {}
    for mode in (PREDICT, EVAL, TRAIN):
        with tf.Graph().as_default():
            results.update(_in_mode(case, heads, mode))
    return results


def _in_mode(case, heads, mode):
    step = v1.train.get_or_create_global_step()
    number = v1.placeholder(tf.int32, [])
    features = {"x": _chosen(X, number)}
    if case.weights is not None:
        features["w"] = _chosen(case.weights, number)
    weights = v1.get_variable("weights", initializer=_start(case.dimension))
    head = case.make(heads)
    arguments = {"features": features, "mode": mode, "logits": features["x"] @ weights}
    if mode != PREDICT:
        arguments["labels"] = _labels(case, number)
        if case.regularization is not None:
            arguments["regularization_losses"] = [tf.constant(case.regularization)]
    if mode == TRAIN:
        optimizer = heads["optimizer"](0.1)
        arguments["optimizer"] = optimizer
        if heads["version"] == "V2":
            optimizer.iterations = step
            arguments["trainable_variables"] = [weights]
    spec = head.create_estimator_spec(**arguments)
    with v1.Session() as session:
        variables = [v1.global_variables_initializer(), v1.local_variables_initializer()]
        session.run([*variables, v1.tables_initializer()])
        run = lambda fetches, batch: plain(session.run(fetches, {number: batch}))  # noqa: E731
        if mode == PREDICT:
            return {
                "predictions": {_key(k): v for k, v in run(spec.predictions, 0).items()},
                "signatures": {
                    name: type(output).__name__ for name, output in spec.export_outputs.items()
                },
            }
        if mode == EVAL:
            metrics = _pairs(spec.eval_metric_ops)
            updates = {name: update for name, (_, update) in metrics.items()}
            losses = [run([spec.loss, updates], batch)[0] for batch in range(len(BATCHES))]
            values = {name: value for name, (value, _) in metrics.items()}
            return {"losses": losses, "metrics": run(values, 0)}
        summaries = v1.Summary.FromString(session.run(v1.summary.merge_all(), {number: 0}))
        loss, _ = session.run([spec.loss, spec.train_op], {number: 0})
        return {
            "loss": plain(loss),
            "summaries": {value.tag: value.simple_value for value in summaries.value},
            "weights": plain(session.run(weights)),
            "step": plain(session.run(step)),
        }


def _start(dimension):
    return np.tile(W, [1, 2])[:, :dimension]


def _chosen(values, number):
    parts = [tf.constant(values[batch]) for batch in BATCHES]
    return tf.cond(tf.equal(number, 0), lambda: parts[0], lambda: parts[1])


def _labels(case, number):
    labels = case.labels if callable(case.labels) else case.labels.__getitem__
    parts = [
        tf.nest.map_structure(tf.identity, labels(batch), expand_composites=True)
        for batch in BATCHES
    ]
    return tf.cond(tf.equal(number, 0), lambda: parts[0], lambda: parts[1])


def _pairs(metrics):
    return {
        name: metric if isinstance(metric, tuple) else (metric.result(), metric.updates)
        for name, metric in metrics.items()
    }


def _key(key):
    return "|".join(key) if isinstance(key, tuple) else key


def plain(value: Any) -> Any:
    """Arrays as lists and bytes as strings, as JSON has them."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return value.decode() if isinstance(value, bytes) else value
