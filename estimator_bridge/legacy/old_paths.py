"""The original's modules that programs import by their full paths, with their names."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from estimator_bridge.base.public_names import CANNED, HOOKS, V1_PLACES, V2_PLACES
from estimator_bridge.legacy.library.names import GONE_MODULES, GONE_NAMES, LIBRARY_NAMES

__all__ = ["OLD_MODULES", "below"]

_FACE = "estimator_bridge"
# By module: the prefix of its names. The longest prefix counts.
_CANNED = {
    "baseline": "Baseline",
    "dnn": "DNN",
    "dnn_linear_combined": "DNNLinearCombined",
    "linear": "Linear",
}
_HEADS = {
    "base_head": ("Head",),
    "binary_class_head": ("BinaryClassHead",),
    "multi_class_head": ("MultiClassHead",),
    "multi_head": ("MultiHead",),
    "multi_label_head": ("MultiLabelHead",),
    "regression_head": ("LogisticRegressionHead", "PoissonRegressionHead", "RegressionHead"),
}


def _here(place: str, *names: str) -> dict[str, str]:
    return {name: ".".join(filter(None, (_FACE, place, name))) for name in names}


def _canned_names(module: str) -> dict[str, str]:
    """Returns canned estimators under the original's names: V1 classes have the plain names."""
    start = _CANNED[module]
    longer = tuple(each for each in _CANNED.values() if each != start and each.startswith(start))
    names = [name for name in CANNED if name.startswith(start) and not name.startswith(longer)]
    v1 = {name: V1_PLACES[name] for name in names}
    return {**v1, **{f"{name}V2": f"{_FACE}.{name}" for name in names}}


_PARSE_EXAMPLE_SPECS = ("classifier_parse_example_spec", "regressor_parse_example_spec")
_PARSING = {name: V1_PLACES[name] for name in _PARSE_EXAMPLE_SPECS}
_OUTPUTS = _here(
    "export", "ClassificationOutput", "EvalOutput", "ExportOutput", "PredictOutput",
    "RegressionOutput",
)  # fmt: skip
_RECEIVERS = _here(
    "export", "ServingInputReceiver", "SupervisedInputReceiver", "TensorServingInputReceiver",
    "UnsupervisedInputReceiver", "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn", "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn",
)  # fmt: skip
_EARLY_STOPPING = _here(
    "experimental", "make_early_stopping_hook", "read_eval_metrics", "stop_if_higher_hook",
    "stop_if_lower_hook", "stop_if_no_decrease_hook", "stop_if_no_increase_hook",
)  # fmt: skip
_SESSION_RUN = [name for name in HOOKS if name.startswith("SessionRun")]
_INPUTS = _here("inputs", "numpy_input_fn", "pandas_input_fn")

# By path below tensorflow_estimator.python.estimator: the names of a module, and its missing names.
_BELOW: dict[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "canned.kmeans": ({"KMeansClustering": f"{_FACE}.experimental.KMeans"}, {}),
    "canned.metric_keys": (_here("heads", "MetricKeys"), {}),
    "canned.parsing_utils": (
        {**_PARSING, **{f"{name}_v2": f"{_FACE}.{name}" for name in _PARSE_EXAMPLE_SPECS}},
        {},
    ),
    "canned.prediction_keys": (_here("heads", "PredictionKeys"), {}),
    "canned.rnn": (_here("experimental", "RNNClassifier", "RNNEstimator"), {}),
    "early_stopping": (_EARLY_STOPPING, {}),
    "estimator": (
        {
            "Estimator": V1_PLACES["Estimator"],
            "EstimatorV2": f"{_FACE}.Estimator",
            **_here("", "VocabInfo", "WarmStartSettings"),
        },
        {},
    ),
    "estimator_lib": (
        {
            **_here("", *V2_PLACES),
            **{name: place for name, place in V1_PLACES.items() if place != V2_PLACES.get(name)},
            **_EARLY_STOPPING,
            **_here("tpu", "TPUEstimator"),
            **_here("experimental", "call_logit_fn"),
            **_here("experimental", "dnn_logit_fn_builder", "linear_logit_fn_builder"),
            **_here("keras", "model_to_estimator"),
        },
        {},
    ),
    "export.export": (_RECEIVERS, {}),
    "export.export_lib": ({**_OUTPUTS, **_RECEIVERS}, {}),
    "export.export_output": (_OUTPUTS, {}),
    "exporter": (_here("", "BestExporter", "Exporter", "FinalExporter", "LatestExporter"), {}),
    "extenders": (_here("", "add_metrics"), {}),
    **{f"head.{module}": (_here("", *names), {}) for module, names in _HEADS.items()},
    "head.sequential_head": (
        {
            **_here("heads", "SequentialHeadWrapper"),
            "_SequentialHead": f"{_FACE}.heads.SequentialHead",
        },
        {},
    ),
    "hooks.basic_session_run_hooks": (
        _here("", *(name for name in HOOKS if name not in (*_SESSION_RUN, "VocabInfo"))),
        {},
    ),
    "hooks.hooks": (
        _here("experimental", "InMemoryEvaluatorHook", "make_stop_at_checkpoint_step_hook"),
        {},
    ),
    "hooks.session_run_hook": (
        _here("", *_SESSION_RUN),
        {},
    ),
    "inputs.inputs": (_INPUTS, {}),
    "inputs.numpy_io": (_here("inputs", "numpy_input_fn"), {}),
    "inputs.pandas_io": (_here("inputs", "pandas_input_fn"), {}),
    "keras_lib": (
        {
            **_here("keras", "model_to_estimator"),
            **_here("keras.structures", "FormattedKeyError"),
            "_create_keras_model_fn": f"{_FACE}.keras.model_fn.keras_model_fn",
        },
        {},
    ),
    "mode_keys": (_here("", "ModeKeys"), {}),
    "model_fn": (
        {**_here("", "EstimatorSpec", "ModeKeys"), **_here("experimental", "call_logit_fn")},
        {},
    ),
    "run_config": ({**_here("", "RunConfig"), **_here("model", "TaskType")}, {}),
    "tpu.tpu_config": (_here("tpu", "InputPipelineConfig", "RunConfig", "TPUConfig"), {}),
    "tpu.tpu_context": (_here("tpu", "TPUContext"), {}),
    "tpu.tpu_estimator": (
        _here("tpu", "CrossShardOptimizer", "TPUEstimator", "TPUEstimatorSpec"),
        {},
    ),
    "training": (_here("", "EvalSpec", "TrainSpec", "train_and_evaluate"), {}),
}
for _name in _CANNED:
    _more = _here("experimental", "LinearSDCA") if _name == "linear" else {}
    _BELOW[f"canned.{_name}"] = ({**_canned_names(_name), **_more}, {})
for _name, _library in LIBRARY_NAMES.items():
    _public, _missing = _BELOW.get(_name, ({}, {}))
    _BELOW[_name] = ({**_public, **_library}, {**_missing, **GONE_NAMES.get(_name, {})})
_BELOW["keras"] = _BELOW["keras_lib"]  # its name until TensorFlow 2.5


def _all_modules() -> dict[str, tuple[Mapping[str, str], Mapping[str, str]]]:
    top = "tensorflow_estimator"
    # TensorFlow contained the estimators before they became a separate package.
    places = (f"{top}.python.estimator", "tensorflow.python.estimator")
    modules: dict[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
        top: ({"estimator": "estimator_bridge.legacy.v1"}, {}),
        f"{top}.python": ({}, {}),
    }
    for place in places:
        for path, content in _BELOW.items():
            modules[f"{place}.{path}"] = content
            parts = path.split(".")
            for depth in range(len(parts)):
                modules.setdefault(".".join([place, *parts[:depth]]), ({}, {}))
        for path, advice in GONE_MODULES.items():
            folder, _, module = f"{place}.{path}".rpartition(".")
            names, missing = modules.get(folder, ({}, {}))
            modules[folder] = (names, {**missing, module: advice})
    mnist = "tensorflow.examples.tutorials.mnist"
    reader = {"read_data_sets": f"{_FACE}.legacy.mnist.read_data_sets"}
    modules[f"{mnist}.input_data"] = (reader, {})
    modules.update(
        {name: ({}, {}) for name in ("tensorflow.examples", mnist[: -len(".mnist")], mnist)}
    )
    for module in ("tpu_config", "tpu_context", "tpu_estimator"):
        modules[f"tensorflow.python.tpu.{module}"] = _BELOW[f"tpu.{module}"]
    hook = _here("training", "AsyncCheckpointSaverHook")
    modules["tensorflow.python.tpu.async_checkpoint"] = (hook, {})
    return {
        name: (names, _Lacking(name, names, removed)) for name, (names, removed) in modules.items()
    }


class _Lacking(dict[str, str]):
    """Advice by name that a module lacks; Python's dunder names are not among them.

    Args:
      module: its full name.
      names: the names that it has.
      gone: advice for missing names that libraries import.
    """

    def __init__(self, module: str, names: Mapping[str, str], removed: Mapping[str, str]):
        super().__init__(removed)
        self._module, self._names = module, names

    def __contains__(self, name: Any) -> bool:
        return not (name.startswith("__") and name.endswith("__"))

    def __missing__(self, name: str) -> str:
        there = [*self._names, *below(self._module)]
        near = difflib.get_close_matches(name, there, n=1)
        return (
            "is not supported: it is a private name of TensorFlow's Estimator, or never existed."
            + (f" The closest name is {near[0]}." if near else "")
            + " `estimator-bridge docs library_names` lists the names of Estimator's modules."
        )


# By full name: the names of a module, and advice for its missing names.
OLD_MODULES = _all_modules()
_SUBMODULES: dict[str, list[str]] = {}
for _name in OLD_MODULES:
    _SUBMODULES.setdefault(_name.rpartition(".")[0], []).append(_name.rpartition(".")[2])


def below(module: str) -> list[str]:
    """Returns the names of the modules directly below one of OLD_MODULES."""
    return _SUBMODULES.get(module, [])
