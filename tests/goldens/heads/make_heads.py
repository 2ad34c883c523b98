"""Makes the golden file of heads by running the real tf.estimator's.

pip install tensorflow-cpu==2.15.1           # Python 3.11, an environment of its own
cd tests && python -m goldens.heads.make_heads
"""

from __future__ import annotations

import json
from pathlib import Path

import tensorflow as tf
from goldens.heads import head_cases
from tensorflow_estimator.python.estimator.canned import head as v1_heads

HERE = Path(__file__).parent
est = tf.estimator


def _logistic_loss(labels, logits):
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def _mean(make):
    """A V1 head with the reduction that tf.contrib.estimator's have."""
    reduction = tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE
    return lambda *args, **kwargs: make(*args, **{"loss_reduction": reduction, **kwargs})


def _logistic(**kwargs):
    return v1_heads._regression_head(loss_fn=_logistic_loss, inverse_link_fn=tf.sigmoid, **kwargs)


def _poisson(compute_full_loss=True, **kwargs):
    def loss_fn(labels, logits):
        return tf.nn.log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

    return v1_heads._regression_head(loss_fn=loss_fn, inverse_link_fn=tf.exp, **kwargs)


V1 = {
    "version": "V1",
    "sum": tf.compat.v1.losses.Reduction.SUM,
    "optimizer": tf.compat.v1.train.GradientDescentOptimizer,
    "binary": _mean(v1_heads._binary_logistic_head_with_sigmoid_cross_entropy_loss),
    "multi_class": _mean(v1_heads._multi_class_head_with_softmax_cross_entropy_loss),
    "regression": _mean(v1_heads._regression_head),
    "logistic": _mean(_logistic),
    "poisson": _mean(_poisson),
}
V2 = {
    "version": "V2",
    "sum": tf.losses.Reduction.SUM,
    "optimizer": tf.keras.optimizers.legacy.SGD,
    "binary": est.BinaryClassHead,
    "multi_class": est.MultiClassHead,
    "multi_label": est.MultiLabelHead,
    "regression": est.RegressionHead,
    "logistic": est.LogisticRegressionHead,
    "poisson": est.PoissonRegressionHead,
    "multi": est.MultiHead,
}


def main() -> None:
    """Writes heads.json: what each head does, by version and case."""
    golden = {}
    for heads, cases in (
        (V1, head_cases.SHARED),
        (V2, {**head_cases.SHARED, **head_cases.ONLY_V2}),
    ):
        for name, case in cases.items():
            golden[f"{heads['version']} {name}"] = head_cases.observed(case, heads)
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in golden.items())
    (HERE / "heads.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
