"""Heads: the last part of a model, which turns logits into loss, predictions, metrics and spec.

V2 heads are the classes of tf.estimator. V1 heads are made by the functions of
tf.contrib.estimator; the canned estimators of tf.compat.v1.estimator use them too. Both share one
implementation: a V1 head contains a V2 head.
"""

from estimator_bridge.heads.base import Head
from estimator_bridge.heads.binary_class import BinaryClassHead
from estimator_bridge.heads.keys import MetricKeys, PredictionKeys
from estimator_bridge.heads.multi_class import MultiClassHead
from estimator_bridge.heads.multi_label import MultiLabelHead
from estimator_bridge.heads.multi_objective import MultiHead
from estimator_bridge.heads.parsing import (
    classifier_parse_example_spec,
    classifier_parse_example_spec_v1,
    regressor_parse_example_spec,
    regressor_parse_example_spec_v1,
)
from estimator_bridge.heads.regression import (
    LogisticRegressionHead,
    PoissonRegressionHead,
    RegressionHead,
)
from estimator_bridge.heads.sequential import SequentialHead, SequentialHeadWrapper
from estimator_bridge.heads.v1 import AnyV1Head, LossSpec, V1Head
from estimator_bridge.heads.v1_canned import (
    binary_or_multi_class_head_v1,
    summed_binary_classification_head,
    summed_multi_class_head,
    summed_regression_head,
)
from estimator_bridge.heads.v1_factories import (
    binary_classification_head,
    logistic_regression_head,
    multi_class_head,
    multi_head,
    multi_label_head,
    poisson_regression_head,
    regression_head,
)
from estimator_bridge.heads.v1_single import V1BinaryHead, V1MultiClassHead, V1RegressionHead

__all__ = [
    "AnyV1Head",
    "BinaryClassHead",
    "Head",
    "LogisticRegressionHead",
    "LossSpec",
    "MetricKeys",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "PredictionKeys",
    "RegressionHead",
    "SequentialHead",
    "SequentialHeadWrapper",
    "V1BinaryHead",
    "V1Head",
    "V1MultiClassHead",
    "V1RegressionHead",
    "binary_classification_head",
    "binary_or_multi_class_head_v1",
    "classifier_parse_example_spec",
    "classifier_parse_example_spec_v1",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
    "regressor_parse_example_spec",
    "regressor_parse_example_spec_v1",
    "summed_binary_classification_head",
    "summed_multi_class_head",
    "summed_regression_head",
]


def __dir__() -> list[str]:
    return sorted(__all__)
