"""tf.contrib.learn: what programs of tf.estimator took from it, not its own estimators."""

from __future__ import annotations

from estimator_bridge.legacy.contrib.learn import monitors
from estimator_bridge.legacy.contrib.learn.configuration import ModeKeys, RunConfig
from estimator_bridge.legacy.missing import missing_getattr

__all__ = ["ModeKeys", "RunConfig", "monitors"]

_ESTIMATORS = """
    BaseEstimator DNNClassifier DNNEstimator DNNLinearCombinedClassifier DNNLinearCombinedEstimator
    DNNLinearCombinedRegressor DNNRegressor DynamicRnnEstimator Estimator Evaluable KMeansClustering
    LinearClassifier LinearEstimator LinearRegressor LogisticRegressor ModelFnOps SKCompat SVM
    StateSavingRnnEstimator TaskType Trainable estimators infer models
"""
_INPUT = """
    datasets extract_dask_data extract_dask_labels extract_pandas_data extract_pandas_labels
    extract_pandas_matrix io preprocessing read_batch_examples read_batch_features
    read_batch_record_features read_keyed_batch_examples read_keyed_batch_features
"""

__getattr__ = missing_getattr(
    __name__,
    {
        **dict.fromkeys(
            _ESTIMATORS.split(),
            "is not supported. Use tf.estimator, which took its place in TensorFlow 1.3.",
        ),
        **dict.fromkeys(_INPUT.split(), "is not supported. Make a tf.data.Dataset in input_fn."),
        **dict.fromkeys(
            ("Experiment", "learn_runner", "run_experiment", "train", "evaluate"),
            "is not supported. Use tf.estimator.train_and_evaluate with TrainSpec and EvalSpec.",
        ),
        **dict.fromkeys(
            ("ExportStrategy", "make_export_strategy", "utils", "InputFnOps"),
            "is not supported. Use tf.estimator.LatestExporter with a serving input receiver.",
        ),
        **dict.fromkeys(
            ("MetricSpec", "PredictionKey", "ProblemType", "head", "ops", "graph_actions"),
            "is not supported. Return eval_metric_ops and export_outputs in an EstimatorSpec.",
        ),
        "NotFittedError": "is not supported. Catch ValueError: tf.estimator's finds no checkpoint.",
        "python": "is not supported but for RunConfig, ModeKeys and monitors of tf.contrib.learn.",
    },
    "tf.contrib.learn",
)
