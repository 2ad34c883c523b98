"""Canned estimators: DNN, Linear, DNNLinearCombined, RNN, k-means and Baseline.

Each is an `Estimator` with a model_fn of this library. ``tf.estimator`` and
``tf.compat.v1.estimator`` have different classes of the same names. Those of ``tf.estimator`` use
Keras layers and optimizers, and their loss is a batch's mean. The others, whose names end in V1
here, use v1 optimizers and partitioners, and their loss is a batch's sum.
"""

from estimator_bridge.canned.baseline import (
    BaselineClassifier,
    BaselineEstimator,
    BaselineRegressor,
)
from estimator_bridge.canned.baseline_v1 import (
    BaselineClassifierV1,
    BaselineEstimatorV1,
    BaselineRegressorV1,
)
from estimator_bridge.canned.dnn import DNNClassifier, DNNEstimator, DNNRegressor
from estimator_bridge.canned.dnn_linear_combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from estimator_bridge.canned.dnn_linear_combined_v1 import (
    DNNLinearCombinedClassifierV1,
    DNNLinearCombinedEstimatorV1,
    DNNLinearCombinedRegressorV1,
)
from estimator_bridge.canned.dnn_network import dnn_logit_fn_builder
from estimator_bridge.canned.dnn_v1 import DNNClassifierV1, DNNEstimatorV1, DNNRegressorV1
from estimator_bridge.canned.kmeans import KMeans
from estimator_bridge.canned.linear import LinearClassifier, LinearEstimator, LinearRegressor
from estimator_bridge.canned.linear_network import linear_logit_fn_builder
from estimator_bridge.canned.linear_v1 import (
    LinearClassifierV1,
    LinearEstimatorV1,
    LinearRegressorV1,
)
from estimator_bridge.canned.rnn import RNNClassifier, RNNEstimator
from estimator_bridge.canned.sdca import LinearSDCA

__all__ = [
    "BaselineClassifier",
    "BaselineClassifierV1",
    "BaselineEstimator",
    "BaselineEstimatorV1",
    "BaselineRegressor",
    "BaselineRegressorV1",
    "DNNClassifier",
    "DNNClassifierV1",
    "DNNEstimator",
    "DNNEstimatorV1",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedClassifierV1",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedEstimatorV1",
    "DNNLinearCombinedRegressor",
    "DNNLinearCombinedRegressorV1",
    "DNNRegressor",
    "DNNRegressorV1",
    "KMeans",
    "LinearClassifier",
    "LinearClassifierV1",
    "LinearEstimator",
    "LinearEstimatorV1",
    "LinearRegressor",
    "LinearRegressorV1",
    "LinearSDCA",
    "RNNClassifier",
    "RNNEstimator",
    "dnn_logit_fn_builder",
    "linear_logit_fn_builder",
]
