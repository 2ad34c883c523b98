"""Maps the original's names to this library's.

Modules are named below ``tensorflow_estimator.python.estimator``.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from estimator_bridge.legacy.library.names import LIBRARY_NAMES

__all__ = [
    "INSIDES",
    "LATER",
    "ONLY_WITH",
    "PUBLIC",
    "STAND_INS",
    "is_provided",
    "resolve",
]

_FACE = "estimator_bridge"
# tf.compat.v1.estimator.Estimator once the library is installed there.
_V1_ESTIMATOR = f"{_FACE}.training.EstimatorV1"
_CORE_HOOKS = (
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "FeedFnHook",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LoggingTensorHook",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "ProfilerHook",
    "SecondOrStepTimer",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
)
_EARLY_STOPPING = (
    "make_early_stopping_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
)
_EXPORT_OUTPUTS = ("ClassificationOutput", "ExportOutput", "PredictOutput", "RegressionOutput")
_RECEIVERS = (
    "ServingInputReceiver",
    "TensorServingInputReceiver",
    "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
)
_EXPORTERS = ("BestExporter", "Exporter", "FinalExporter", "LatestExporter")
_TRAINING = ("EvalSpec", "TrainSpec", "train_and_evaluate")
_CANNED = {
    "canned.baseline": ("BaselineClassifier", "BaselineEstimator", "BaselineRegressor"),
    "canned.dnn": ("DNNClassifier", "DNNEstimator", "DNNRegressor"),
    "canned.linear": ("LinearClassifier", "LinearEstimator", "LinearRegressor"),
    "canned.dnn_linear_combined": (
        "DNNLinearCombinedClassifier",
        "DNNLinearCombinedEstimator",
        "DNNLinearCombinedRegressor",
    ),
}
# Names of the original that this library is to support.
_NOT_YET: dict[str, dict[str, str]] = {}
_EXPERIMENTAL = {
    "canned.dnn": ("dnn_logit_fn_builder",),
    "canned.linear": ("LinearSDCA", "linear_logit_fn_builder"),
}
_HEADS = {
    "head.base_head": ("Head",),
    "head.binary_class_head": ("BinaryClassHead",),
    "head.multi_class_head": ("MultiClassHead",),
    "head.multi_head": ("MultiHead",),
    "head.multi_label_head": ("MultiLabelHead",),
    "head.regression_head": (
        "LogisticRegressionHead",
        "PoissonRegressionHead",
        "RegressionHead",
    ),
}


def _here(names: tuple[str, ...], place: str = "") -> dict[str, str]:
    return {name: ".".join(filter(None, [_FACE, place, name])) for name in names}


def _v1(names: tuple[str, ...]) -> dict[str, str]:
    """Returns the canned estimators of tf.compat.v1.estimator."""
    return {name: f"{_FACE}.canned.{name}V1" for name in names}


_OUTPUTS_AND_RECEIVERS = {
    **_here(_EXPORT_OUTPUTS, "export"),
    **_here(("EvalOutput",), "export"),
    **_here(_RECEIVERS, "export"),
    **_here(("build_raw_supervised_input_receiver_fn",), "experimental"),
}

# The public names of tf.estimator, by the original's modules, with the names here.
PUBLIC: dict[str, dict[str, str]] = {
    "estimator": {
        "Estimator": _V1_ESTIMATOR,
        "EstimatorV2": f"{_FACE}.Estimator",
        **_here(("VocabInfo", "WarmStartSettings")),
    },
    "estimator_lib": {
        "Estimator": _V1_ESTIMATOR,
        **_here(("EstimatorSpec", "ModeKeys", "RunConfig", "VocabInfo", "WarmStartSettings")),
        **_here(("add_metrics",)),
        **_here(_TRAINING),
        **_here(("Exporter", "FinalExporter", "LatestExporter")),
        **_here(_EARLY_STOPPING, "experimental"),
        **{name: target for names in _CANNED.values() for name, target in _v1(names).items()},
    },
    "keras_lib": _here(("model_to_estimator",), "keras"),
    "mode_keys": _here(("ModeKeys",)),
    "model_fn": {
        **_here(("EstimatorSpec", "ModeKeys")),
        **_here(("call_logit_fn",), "experimental"),
    },
    "run_config": _here(("RunConfig",)),
    "training": _here(_TRAINING),
    "exporter": _here(_EXPORTERS),
    "early_stopping": _here(_EARLY_STOPPING, "experimental"),
    "extenders": _here(("add_metrics",)),
    "export.export": _OUTPUTS_AND_RECEIVERS,
    "export.export_lib": _OUTPUTS_AND_RECEIVERS,
    "export.export_output": {
        **_here(_EXPORT_OUTPUTS, "export"),
        **_here(("EvalOutput",), "export"),
    },
    "hooks.basic_session_run_hooks": _here(_CORE_HOOKS),
    "hooks.hooks": _here(
        ("InMemoryEvaluatorHook", "make_stop_at_checkpoint_step_hook"), "experimental"
    ),
    "inputs.numpy_io": _here(("numpy_input_fn",), "inputs"),
    "inputs.pandas_io": _here(("pandas_input_fn",), "inputs"),
    "inputs.inputs": _here(("numpy_input_fn", "pandas_input_fn"), "inputs"),
    "tpu.tpu_config": _here(("InputPipelineConfig", "RunConfig", "TPUConfig"), "tpu"),
    "tpu.tpu_context": _here(("TPUContext",), "tpu"),
    "tpu.tpu_estimator": {
        **_here(("TPUEstimator", "TPUEstimatorSpec"), "tpu"),
        "EmbeddingConfigSpec": f"{_FACE}.tpu.experimental.EmbeddingConfigSpec",
        **{
            f"{name}Parameters": f"{_FACE}.tpu_embedding_parameters.{name}Parameters"
            for name in ("Adagrad", "Adam", "StochasticGradientDescent")
        },
    },
    "canned.parsing_utils": {
        f"{name}{version}": f"{_FACE}.heads.{name}{ending}"
        for name in ("classifier_parse_example_spec", "regressor_parse_example_spec")
        for version, ending in (("", "_v1"), ("_v2", ""))
    },
    **{module: _here(names) for module, names in _HEADS.items()},
    "canned.kmeans": {"KMeansClustering": f"{_FACE}.experimental.KMeans"},
    "canned.rnn": _here(("RNNClassifier", "RNNEstimator"), "experimental"),
    # A class's public name lacked the V2 of its name in the module.
    **{
        module: {
            **_v1(names),
            **{f"{name}V2": f"{_FACE}.{name}" for name in names},
            **_here(_EXPERIMENTAL.get(module, ()), "experimental"),
            **_NOT_YET.get(module, {}),
        }
        for module, names in _CANNED.items()
    },
    **{module: names for module, names in _NOT_YET.items() if module not in _CANNED},
}

_STAND_INS = "parity.harness.stand_ins"
# Names without a public form that have an equivalent here. Tests may use them too.
STAND_INS: dict[str, dict[str, str]] = {
    "estimator": {
        name: f"{_STAND_INS}.{name.lstrip('_')}"
        for name in ("_load_global_step_from_checkpoint_dir", "_write_dict_to_summary")
    },
    "keras_lib": {"FormattedKeyError": f"{_FACE}.keras.structures.FormattedKeyError"},
    "model_fn": {"LOSS_METRIC_KEY": f"{_FACE}.training.execution.LOSS"},
    "run_config": {"TaskType": f"{_FACE}.model.TaskType"},
    "tpu.util": {
        "IterationsPerLoopCounter": f"{_FACE}.model.IterationsPerLoop",
        "parse_iterations_per_loop": f"{_FACE}.model.parse_iterations_per_loop",
    },
    "early_stopping": {"read_eval_metrics": f"{_FACE}.experimental.read_eval_metrics"},
    "export.export": {
        name: f"{_FACE}.export.{name}"
        for name in (
            "SupervisedInputReceiver",
            "UnsupervisedInputReceiver",
            "build_supervised_input_receiver_fn_from_input_fn",
        )
    },
    "training": {"_TrainingExecutor": f"{_FACE}.training.continuous.TrainingExecutor"},
    # They were public as tf.contrib.estimator's, with another default for loss_reduction.
    "canned.head": {
        "_binary_logistic_head_with_sigmoid_cross_entropy_loss": (
            f"{_FACE}.heads.summed_binary_classification_head"
        ),
        "_multi_class_head_with_softmax_cross_entropy_loss": (
            f"{_FACE}.heads.summed_multi_class_head"
        ),
        "_regression_head": f"{_FACE}.heads.summed_regression_head",
    },
    "canned.metric_keys": {"MetricKeys": f"{_FACE}.heads.MetricKeys"},
    "canned.prediction_keys": {"PredictionKeys": f"{_FACE}.heads.PredictionKeys"},
    "head.head_utils": {
        name: f"{_STAND_INS}.{name.lstrip('_')}"
        for name in (
            "_DEFAULT_SERVING_KEY",
            "_assert_no_hooks",
            "_assert_simple_summaries",
            "_initialize_variables",
        )
    },
    "tpu.tpu_estimator": {
        "CrossShardOptimizer": f"{_FACE}.tpu.CrossShardOptimizer",
        "_WRAP_INPUT_FN_INTO_WHILE_LOOP": f"{_STAND_INS}.WRAP_INPUT_FN_INTO_WHILE_LOOP",
    },
}
STAND_INS["export.export_lib"] = {
    **STAND_INS["export.export"],
    "EXPORT_TAG_MAP": f"{_STAND_INS}.EXPORT_TAG_MAP",
}

# Private names through which tests use a public function, if they use only these attributes.
ONLY_WITH = {"training._TrainingExecutor": {"run_local"}}

# Parts of the original that this library has in a similar form, besides the names that libraries
# import. Tests of them run, and count as private.
_CANNED_INSIDES = {
    "canned.baseline": ("_baseline_logit_fn_builder", "_baseline_model_fn_builder_v2"),
    "canned.dnn": ("_dnn_model_fn", "dnn_logit_fn_builder_v2", "dnn_model_fn_v2"),
    "canned.dnn_linear_combined": (
        "_dnn_linear_combined_model_fn",
        "_dnn_linear_combined_model_fn_v2",
    ),
}
INSIDES: dict[str, dict[str, str]] = {
    **{
        module: {name: f"parity.harness.canned_insides.{name.lstrip('_')}" for name in names}
        for module, names in _CANNED_INSIDES.items()
    },
    "canned.linear": {
        "_compute_fraction_of_zero": f"{_FACE}.canned.summaries.fraction_of_zeros",
        "_linear_model_fn_builder_v2": "parity.harness.canned_insides.linear_model_fn_builder_v2",
    },
    "canned.head": {"_Head": f"{_FACE}.heads.AnyV1Head"},
    "canned.kmeans": {
        "_parse_features_if_necessary": f"{_FACE}.canned.kmeans_fn.points_of",
    },
    "canned.rnn": {
        "RNNModel": "parity.harness.canned_insides.rnn_model",
        "USE_DEFAULT": f"{_FACE}.canned.rnn_network.USE_DEFAULT",
        "_make_rnn_layer": f"{_FACE}.canned.rnn_network.rnn_layer",
    },
    "head.sequential_head": {
        "SequentialHeadWrapper": f"{_FACE}.heads.SequentialHeadWrapper",
        "_SequentialHead": f"{_FACE}.heads.SequentialHead",
    },
    "head.base_head": {"call_loss_fn": f"{_FACE}.heads.losses.call_loss_fn"},
    "model_fn": {"_TPUEstimatorSpec": f"{_FACE}.tpu.TPUEstimatorSpec"},
    "early_stopping": {
        "_CheckForStoppingHook": f"{_FACE}.experimental.stopping.CheckForStoppingHook",
        "_StopOnPredicateHook": f"{_FACE}.experimental.stopping.StopOnPredicateHook",
        "_get_or_create_stop_var": f"{_FACE}.experimental.stopping.stop_variable",
    },
    "hooks.hooks": {
        "_StopAtCheckpointStepHook": (
            f"{_FACE}.experimental.checkpoint_step.StopAtCheckpointStepHook"
        ),
    },
    "keras_lib": {"_create_keras_model_fn": f"{_FACE}.keras.model_fn.keras_model_fn"},
    "training": {
        "_ContinuousEvalListener": f"{_FACE}.training.continuous.ContinuousEvalListener",
        "_EvalResult": f"{_FACE}.training.continuous.EvalResult",
        "_EvalStatus": f"{_FACE}.training.continuous.EvalStatus",
    },
}

# Names that are not supported yet.
LATER = frozenset(target for targets in _NOT_YET.values() for target in targets.values())


def is_provided(module: str, name: str) -> bool:
    """Returns whether a name of the original is public or has a stand-in."""
    return name in PUBLIC.get(module, {}) or name in STAND_INS.get(module, {})


def resolve(module: str, name: str) -> Any:
    """Finds the object for a name of the original.

    Raises:
      AttributeError: it has no public form, or this library lacks it.
    """
    places = (PUBLIC, STAND_INS, INSIDES, LIBRARY_NAMES)
    target = next(filter(None, (place.get(module, {}).get(name) for place in places)), None)
    if target is None:
        raise AttributeError(f"private name {module}.{name}: nothing here stands for it")
    try:
        return _load(target)
    except (AttributeError, ImportError) as error:
        message = f"missing name {target}, for {module}.{name}"
        raise AttributeError(message) from error


def _load(path: str) -> Any:
    first, *rest = path.split(".")
    value = importlib.import_module(first)
    for i, name in enumerate(rest):
        if not hasattr(value, name):
            # A package's modules may not be imported yet.
            try:
                importlib.import_module(".".join([first, *rest[: i + 1]]))
            except ModuleNotFoundError as error:
                raise AttributeError(f"{value!r} has no {name}") from error
        value = functools.reduce(getattr, [name], value)
    return value
