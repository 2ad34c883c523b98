"""Where the original kept its names, and which of this library's stand for them.

Modules are named below ``tensorflow_estimator.python.estimator``.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

__all__ = [
    "CANNED",
    "INSIDES",
    "ONLY_WITH",
    "PUBLIC",
    "STAND_INS",
    "is_provided",
    "resolve",
]

_FACE = "estimator_bridge"
# What tf.compat.v1.estimator.Estimator is once the library is installed there.
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
    "canned.dnn": ("DNNClassifier", "DNNEstimator", "DNNRegressor"),
    "canned.linear": ("LinearClassifier", "LinearEstimator", "LinearRegressor"),
    "canned.dnn_linear_combined": (
        "DNNLinearCombinedClassifier",
        "DNNLinearCombinedEstimator",
        "DNNLinearCombinedRegressor",
    ),
}


def _here(names: tuple[str, ...], place: str = "") -> dict[str, str]:
    return {name: ".".join(filter(None, [_FACE, place, name])) for name in names}


_OUTPUTS_AND_RECEIVERS = {
    **_here(_EXPORT_OUTPUTS, "export"),
    **_here(("EvalOutput",), "export"),
    **_here(_RECEIVERS, "export"),
    **_here(("build_raw_supervised_input_receiver_fn",), "experimental"),
}

# What a user of tf.estimator could reach under a public name, under which name here.
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
        **_here(tuple(name for names in _CANNED.values() for name in names)),
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
    },
    # V2 in a module's name of a class was no part of its public name.
    **{
        module: {**_here(names), **{f"{name}V2": f"{_FACE}.{name}" for name in names}}
        for module, names in _CANNED.items()
    },
}

_STAND_INS = "parity.harness.stand_ins"
# Names that had no public form, with something of the same meaning here. Tests may use them too.
STAND_INS: dict[str, dict[str, str]] = {
    "estimator": {
        name: f"{_STAND_INS}.{name.lstrip('_')}"
        for name in ("_load_global_step_from_checkpoint_dir", "_write_dict_to_summary")
    },
    "keras_lib": {"FormattedKeyError": f"{_FACE}.keras.structures.FormattedKeyError"},
    "model_fn": {"LOSS_METRIC_KEY": f"{_FACE}.training.metrics.LOSS"},
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
    "canned.prediction_keys": {"PredictionKeys": f"{_STAND_INS}.PredictionKeys"},
    "tpu.tpu_estimator": {
        "CrossShardOptimizer": f"{_FACE}.tpu.CrossShardOptimizer",
        "_WRAP_INPUT_FN_INTO_WHILE_LOOP": f"{_STAND_INS}.WRAP_INPUT_FN_INTO_WHILE_LOOP",
    },
}
STAND_INS["export.export_lib"] = {
    **STAND_INS["export.export"],
    "EXPORT_TAG_MAP": f"{_STAND_INS}.EXPORT_TAG_MAP",
}

# A private name by which tests reach a public function, if they use one of these of it. The
# others look at its parts.
ONLY_WITH = {"training._TrainingExecutor": {"run_local"}}

# Parts of the original that this library is made of too, more or less. Tests of them are run, and
# are private all the same.
INSIDES: dict[str, dict[str, str]] = {
    "early_stopping": {
        "_CheckForStoppingHook": f"{_FACE}.experimental.stopping.CheckForStoppingHook",
        "_StopOnPredicateHook": f"{_FACE}.experimental.stopping.StopOnPredicateHook",
        "_get_or_create_stop_var": f"{_FACE}.experimental.stopping._stop_variable",
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

# Names that are not there yet, as a whole.
CANNED = frozenset(f"{_FACE}.{name}" for names in _CANNED.values() for name in names)


def is_provided(module: str, name: str) -> bool:
    """Whether a name of the original's is public, or has a stand-in."""
    return name in PUBLIC.get(module, {}) or name in STAND_INS.get(module, {})


def resolve(module: str, name: str) -> Any:
    """Finds what stands for a name of the original's.

    Raises:
      AttributeError: it has no public form, or this library lacks it.
    """
    places = (PUBLIC, STAND_INS, INSIDES)
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
    found = importlib.import_module(first)
    for i, name in enumerate(rest):
        if not hasattr(found, name):
            # A package's modules may not be imported yet.
            try:
                importlib.import_module(".".join([first, *rest[: i + 1]]))
            except ModuleNotFoundError as error:
                raise AttributeError(f"{found!r} has no {name}") from error
        found = functools.reduce(getattr, [name], found)
    return found
