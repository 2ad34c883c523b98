"""An estimator whose model is the graphs of a SavedModel."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.model import EstimatorSpec, ModeKeys, WarmStartSettings, warm_start
from estimator_bridge.runtime import default_strategy
from estimator_bridge.training import Estimator
from estimator_bridge.training.execution import Execution
from estimator_bridge_contrib.estimator.loaded_graph import import_graph
from estimator_bridge_contrib.saved_model.reader import read_saved_model

__all__ = ["SavedModelEstimator"]

_v1 = tf.compat.v1
_TAGS = {
    ModeKeys.TRAIN: {"train"},
    ModeKeys.EVAL: {"eval"},
    ModeKeys.PREDICT: {tf.saved_model.SERVING},
}
_SIGNATURES = {
    ModeKeys.TRAIN: ModeKeys.TRAIN,
    ModeKeys.EVAL: ModeKeys.EVAL,
    ModeKeys.PREDICT: tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY,
}
_METHODS = {
    ModeKeys.TRAIN: "tensorflow/supervised/training",
    ModeKeys.EVAL: "tensorflow/supervised/eval",
}
_LOSS, _METRICS, _PREDICTIONS, _VALUE, _UPDATE = (
    "loss", "metrics", "predictions", "/value", "/update_op",
)  # fmt: skip


class SavedModelEstimator(Estimator):
    """Trains, evaluates, predicts with and exports the model of a SavedModel.

    The SavedModel has to come from ``experimental_export_all_saved_models`` or
    ``export_saved_model`` of an estimator. Its values are the first values of the variables; it
    can only do what it has a graph for. The model runs on one replica.

    Args:
      saved_model_dir: the SavedModel's folder.
      model_dir: see `Estimator`.

    Attributes:
      saved_model_dir: the SavedModel's folder.

    Raises:
      ValueError: the folder holds no variables.
      OSError: the folder holds no saved_model.pb, or it cannot be parsed.
    """

    def __init__(
        self,
        saved_model_dir: str | bytes | os.PathLike[str],
        model_dir: str | os.PathLike[str] | None = None,
    ):
        folder = os.fsdecode(saved_model_dir)
        values = os.path.join(folder, "variables", "variables")
        if not tf.io.gfile.exists(values + ".index"):
            raise ValueError(
                f"Directory provided has an invalid SavedModel format: {folder}. It has no "
                "variables/variables.index; give the folder that an export wrote."
            )
        super().__init__(_SavedModel(folder).model_fn, model_dir, warm_start_from=folder)
        self.saved_model_dir = saved_model_dir

    def _assert_members_are_not_overridden(self) -> None:
        """Allows subclasses to replace members, as the original's class did itself."""

    def _execution(self, mode: str) -> Execution:
        del mode
        return _OneReplica(default_strategy(), self._config)

    def _export_execution(self) -> Execution:
        return _OneReplica(default_strategy(), self._config)

    def _warm_start(self) -> None:
        path = self._warm_start_settings.ckpt_to_initialize_from
        variables, others = _warm_started({name for name, _ in tf.train.list_variables(path)})
        warm_start(WarmStartSettings(path, variables))
        if others:
            logging.warning(
                "As in TensorFlow 1.15, an optimizer's values for variables that may be divided "
                "among servers start anew: %s.",
                ", ".join(others),
            )


def _warm_started(saved: set[str]) -> tuple[list[tf.Variable], list[str]]:
    """Returns the variables that get values of a checkpoint, and the names of the others there.

    The original took each name of the checkpoint for a pattern of the variables' names, which found
    no slot of a variable that a partitioner has made. A pattern that found a variable twice, such
    as "w" and "w/Adam", was an error; it is none here.
    """
    variables, others = [], []
    for variable in _v1.global_variables():
        name = _saved_name(variable)
        if any(re.match(pattern, variable.name) for pattern in saved):
            variables += [variable] if name in saved else []
        elif name in saved:
            others.append(name)
    return variables, others


def _saved_name(variable: tf.Variable) -> str:
    """Returns a variable's name in a checkpoint; parts of one have the name of the whole."""
    proto = variable.to_proto()
    return proto.save_slice_info_def.full_name or proto.variable_name.partition(":")[0]


class _OneReplica(Execution):
    makes_global_step = False


class _SavedModel:
    """A SavedModel's graphs, by mode."""

    def __init__(self, folder: str):
        self._folder = folder
        graphs = read_saved_model(folder).meta_graphs
        self._graphs = {
            mode: graph
            for mode, tags in _TAGS.items()
            for graph in graphs
            if set(graph.meta_info_def.tags) == tags
        }
        logging.info("Checking available modes for SavedModelEstimator.")
        self._modes = [mode for mode in _TAGS if self._is_available(mode)]
        logging.info("Available modes for Estimator: %s", self._modes)

    def _is_available(self, mode: str) -> bool:
        if mode not in self._graphs:
            logging.warning("%s mode not found in SavedModel.", mode)
            return False
        key = _SIGNATURES[mode]
        if key not in self._graphs[mode].signature_def:
            logging.warning(
                'Metagraph for mode %s was found, but SignatureDef with key "%s" is missing.',
                mode,
                key,
            )
            return False
        return True

    def model_fn(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        """Imports a mode's graph.

        Args:
          features: a tensor, or tensors by the keys of the signature's inputs.
          labels: likewise; None in prediction.
          mode: one of ModeKeys.

        Raises:
          RuntimeError: the SavedModel has no graph for the mode, or input_fn has made a global
            step.
          ValueError: features and labels are not the signature's inputs.
        """
        if mode not in self._modes:
            raise RuntimeError(
                f"{mode} mode is not available in the SavedModel {self._folder}. Use "
                "saved_model_cli to check that the Metagraph for this mode has been exported; "
                "experimental_export_all_saved_models exports several."
            )
        if _v1.train.get_global_step() is not None:
            raise RuntimeError(
                "Graph must not contain a global step tensor before the SavedModel is loaded. "
                "Please make sure that the input function does not create a global step."
            )
        graph = self._graphs[mode]
        signature = graph.signature_def[_SIGNATURES[mode]]
        inputs = _inputs(signature.inputs, features, labels)
        loaded = import_graph(graph, signature, inputs, self._folder)
        _v1.train.assert_global_step(_v1.train.get_global_step())
        scaffold = _v1.train.Scaffold(local_init_op=loaded.local_init_op)
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions=loaded.outputs, scaffold=scaffold)
        _check_method(mode, signature.method_name)
        return EstimatorSpec(
            mode,
            predictions=_predictions(loaded.outputs),
            loss=loaded.outputs[_LOSS],
            train_op=loaded.train_op,
            eval_metric_ops=_metrics(loaded.outputs),
            scaffold=scaffold,
        )


def _inputs(infos: Mapping[str, Any], features: Any, labels: Any) -> dict[str, tf.Tensor]:
    """Returns the tensors that replace the graph's placeholders, by the node's name."""
    tensors = {**_named(labels, "label"), **_named(features, "feature")}
    replacements = {}
    for key, info in infos.items():
        if key not in tensors:
            raise ValueError(
                f'Key "{key}" not found in features or labels passed in to the model function. All '
                f"required keys: {sorted(infos)}. Got {sorted(tensors)}."
            )
        _check_tensor(tensors[key], info, key)
        replacements[info.name.partition(":")[0]] = tensors[key]
    return replacements


def _named(tensors: Any, default: str) -> dict[str, Any]:
    if tensors is None:
        return {}
    return dict(tensors) if isinstance(tensors, Mapping) else {default: tensors}


def _check_tensor(tensor: Any, info: Any, name: str) -> None:
    if info.WhichOneof("encoding") == "coo_sparse" or not isinstance(tensor, tf.Tensor):
        raise ValueError(
            f"Input {name} of the SavedModel is fed with a {type(tensor).__name__}, and "
            "SavedModelEstimator feeds dense tensors only. Export the model with a receiver of "
            "serialized examples (build_parsing_serving_input_receiver_fn)."
        )
    dtype, shape = tf.as_dtype(info.dtype), tf.TensorShape(info.tensor_shape)
    problems = []
    if tensor.dtype != dtype:
        problems.append(f"\n\tExpected dtype: {dtype}, Got: {tensor.dtype}")
    if not tensor.shape.is_compatible_with(shape):
        problems.append(f"\n\tExpected shape: {shape}, Got: {tensor.shape}")
    if problems:
        raise ValueError(
            f"Tensor shape and/or dtype validation failed for input {name}:{''.join(problems)}"
        )


def _check_method(mode: str, method: str) -> None:
    if method != _METHODS[mode]:
        raise RuntimeError(
            f"Invalid SignatureDef method name for mode {mode}.\n\tExpected: {_METHODS[mode]}\n\t"
            f"Got: {method}\nPlease ensure that the SavedModel was exported with "
            "`tf.estimator.experimental_export_all_saved_models()`."
        )


def _predictions(outputs: Mapping[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    return {key: tensor for key, tensor in outputs.items() if key.partition("/")[0] == _PREDICTIONS}


def _metrics(outputs: Mapping[str, tf.Tensor]) -> dict[str, tuple[tf.Tensor, tf.Tensor]]:
    """Returns pairs of a value and its update, by the metric's name, which has a prefix."""
    metrics = {}
    for key, value in outputs.items():
        name = key[: -len(_VALUE)]
        is_value = key.partition("/")[0] == _METRICS and key.endswith(_VALUE)
        if is_value and name + _UPDATE in outputs:
            metrics[name] = value, outputs[name + _UPDATE]
    return metrics
