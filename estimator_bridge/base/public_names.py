"""The public names: one list for each of tf.estimator, tf.compat.v1.estimator and this library.

The package's ``__init__``, the modules that replace tf.estimator, the original's old paths and
`estimator-bridge check` are built from these lists. This module does not import TensorFlow.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CANNED", "HOOKS", "OWN_PLACES", "V1_PLACES", "V2_PLACES"]

# tf.estimator's names by their module in estimator_bridge. The names under "" are modules.
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
# tf.compat.v1.estimator's additional names, and those that replace tf.estimator's. The part after
# "=" is the name in the module, where it differs.
_V1 = {
    "": "inputs tpu",
    "canned": " ".join(f"{name}={name}V1" for name in _V2["canned"].split()),
    "heads": """
        classifier_parse_example_spec=classifier_parse_example_spec_v1
        regressor_parse_example_spec=regressor_parse_example_spec_v1
    """,
    "training": "Estimator=EstimatorV1",
}
# `estimator_bridge`'s names that tf.estimator does not have.
_OWN = {
    "": "data errors heads inputs keras records runtime testing tpu training v1 weights",
    "base.version": "__version__",
    "legacy.install": "install",
    "legacy.v1_behavior": "bridge_v1_behavior",
    "model": "Model",
}


def _places(table: Mapping[str, str]) -> dict[str, str]:
    places = {}
    for module, words in table.items():
        for word in words.split():
            name, _, target = word.partition("=")
            places[name] = ".".join(filter(None, ("estimator_bridge", module, target or name)))
    return places


# Full names by public name: "package.module.name", or a module's full name.
V2_PLACES = _places(_V2)
V1_PLACES = {**V2_PLACES, **_places(_V1)}
OWN_PLACES = {**V2_PLACES, **_places(_OWN)}

CANNED = tuple(_V2["canned"].split())
HOOKS = tuple(_V2["training.session_run_hooks"].split())
