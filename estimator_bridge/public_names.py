"""The public names: one list for each of tf.estimator, tf.compat.v1.estimator and this library.

The package's own front, the modules that stand in for tf.estimator, the original's old paths and
`estimator-bridge check` are made of these lists. No TensorFlow is loaded here.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CANNED", "HOOKS", "OWN_PLACES", "V1_PLACES", "V2_PLACES"]

# tf.estimator: by module below estimator_bridge, the names that it has. "" has modules.
_V2 = {
    "": "experimental export",
    "canned": """
        BaselineClassifier BaselineEstimator BaselineRegressor DNNClassifier DNNEstimator
        DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor
        DNNRegressor LinearClassifier LinearEstimator LinearRegressor
    """,
    "experimental.extenders": "add_metrics",
    "heads": """
        BinaryClassHead Head LogisticRegressionHead MultiClassHead MultiHead MultiLabelHead
        PoissonRegressionHead RegressionHead classifier_parse_example_spec
        regressor_parse_example_spec
    """,
    "model": "EstimatorSpec ModeKeys RunConfig WarmStartSettings",
    "training": """
        BestExporter Estimator EvalSpec Exporter FinalExporter LatestExporter TrainSpec
        train_and_evaluate
    """,
    "training.session_run_hooks": """
        CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook
        GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError NanTensorHook
        ProfilerHook SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook
        SessionRunValues StepCounterHook StopAtStepHook SummarySaverHook VocabInfo
    """,
}
# tf.compat.v1.estimator has these besides, or instead of tf.estimator's of the same name. What is
# called otherwise in its module stands behind "=".
_V1 = {
    "": "inputs tpu",
    "canned": " ".join(f"{name}={name}V1" for name in _V2["canned"].split()),
    "heads": """
        classifier_parse_example_spec=classifier_parse_example_spec_v1
        regressor_parse_example_spec=regressor_parse_example_spec_v1
    """,
    "training": "Estimator=EstimatorV1",
}
# What `estimator_bridge` has besides tf.estimator's names.
_OWN = {
    "": "data errors heads inputs keras runtime testing tpu training v1",
    "legacy.install": "install",
    "legacy.v1_behavior": "bridge_v1_behavior",
    "model": "Model",
    "version": "__version__",
}


def _places(table: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for module, words in table.items():
        for word in words.split():
            name, _, target = word.partition("=")
            found[name] = ".".join(filter(None, ("estimator_bridge", module, target or name)))
    return found


# By name, where it is: "package.module.name", or the full name of a module.
V2_PLACES = _places(_V2)
V1_PLACES = {**V2_PLACES, **_places(_V1)}
OWN_PLACES = {**V2_PLACES, **_places(_OWN)}

CANNED = tuple(_V2["canned"].split())
HOOKS = tuple(_V2["training.session_run_hooks"].split())
