"""The signatures of a SavedModel: the inputs of a request, and its outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.export.servable import NotRunnableError, check_is_fed, check_runs_anywhere
from estimator_bridge.export.supervised_outputs import EvalOutput, TrainOutput
from estimator_bridge.model import EstimatorSpec, ExportOutput, ModeKeys

__all__ = ["build_signatures", "outputs_of"]

_DEFAULT_KEY = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY

# The log's name for each method.
_METHODS = {
    tf.saved_model.CLASSIFY_METHOD_NAME: "Classify",
    tf.saved_model.REGRESS_METHOD_NAME: "Regress",
    tf.saved_model.PREDICT_METHOD_NAME: "Predict",
    "tensorflow/supervised/training": "Train",
    "tensorflow/supervised/eval": "Eval",
}


def outputs_of(spec: EstimatorSpec) -> Mapping[str, ExportOutput] | None:
    """Returns the outputs of a model in its mode, by signature name.

    Args:
      spec: the model's spec.

    Returns:
      In PREDICT the spec's export_outputs; in TRAIN and EVAL a single output, "train" or "eval",
      of loss, predictions and metrics.

    Raises:
      ValueError: a metric's value or update is nested.
    """
    if spec.mode == ModeKeys.PREDICT:
        return spec.export_outputs
    kind = TrainOutput if spec.mode == ModeKeys.TRAIN else EvalOutput
    return {spec.mode: kind(spec.loss, spec.predictions, spec.eval_metric_ops)}


def build_signatures(
    receiver_tensors: Mapping[str, Any],
    export_outputs: Mapping[str, ExportOutput] | None,
    alternatives: Mapping[str, Mapping[str, Any]] | None = None,
    serving_only: bool = True,
) -> dict[str, Any]:
    """Builds a signature for each pair of an output and a set of inputs.

    Args:
      receiver_tensors: the tensors to feed, by name.
      export_outputs: the outputs, by signature name.
      alternatives: alternatives to `receiver_tensors`, by name.
      serving_only: whether to leave out signatures that TensorFlow Serving cannot call or that
        cannot run outside of this process. Otherwise the latter only cause a warning.

    Returns:
      SignatureDefs by name: one for each output, and one named "ALTERNATIVE:OUTPUT" for each
      alternative. Those that cannot be served are left out, with a warning.

    Raises:
      ValueError: `export_outputs` is not a dict; or all signatures are left out, at least one
        because its ops cannot run outside of this process.
    """
    if not isinstance(export_outputs, Mapping):
        raise ValueError(
            "`export_outputs` must be a dict. Received "
            f"{export_outputs!r} with type {type(export_outputs).__name__}. In PREDICT mode, "
            "model_fn sets it: EstimatorSpec(export_outputs={'name': "
            "export.PredictOutput({...})}), or leaves it out, and the spec serves the predictions."
        )
    feeds = {"": receiver_tensors}
    for name, tensors in (alternatives or {}).items():
        feeds[f"{name or 'None'}:"] = tensors
    signatures: dict[str, Any] = {}
    errors: dict[str, ValueError] = {}
    for prefix, tensors in feeds.items():
        for key, output in export_outputs.items():
            name = f"{prefix}{key or 'None'}"
            try:
                signatures[name] = _signature(name, tensors, output, serving_only)
            except ValueError as error:
                errors[name] = error
    _report(signatures, errors, serving_only)
    return signatures


def _signature(
    name: str, tensors: Mapping[str, Any], output: ExportOutput, serving_only: bool
) -> Any:
    signature = output.as_signature_def(tensors)
    if serving_only and not tf.compat.v1.saved_model.is_valid_signature(signature):
        raise ValueError(f"it has no inputs or no outputs:\n{signature}")
    outputs = list(_tensors_of(signature.outputs.values()))
    fed = tf.nest.flatten(dict(tensors), expand_composites=True)
    check_is_fed(outputs, fed)
    try:
        check_runs_anywhere(outputs, fed)
    except NotRunnableError as error:
        if serving_only:
            raise
        logging.warning("Signature %r can be loaded, but not run elsewhere: %s", name, error)
    return signature


def _tensors_of(infos: Iterable[Any]) -> Iterable[tf.Tensor]:
    """Yields the tensors that TensorInfos name, including components of sparse and ragged ones."""
    graph = tf.compat.v1.get_default_graph()
    for info in infos:
        encoding = info.WhichOneof("encoding")
        if encoding == "composite_tensor":
            yield from _tensors_of(info.composite_tensor.components)
        elif encoding == "coo_sparse":
            parts = info.coo_sparse
            for part in (
                parts.values_tensor_name,
                parts.indices_tensor_name,
                parts.dense_shape_tensor_name,
            ):
                yield graph.get_tensor_by_name(part)
        else:
            yield graph.get_tensor_by_name(info.name)


def _report(
    signatures: Mapping[str, Any], errors: Mapping[str, ValueError], serving_only: bool
) -> None:
    by_method: dict[str, list[str]] = {method: [] for method in _METHODS}
    for name, signature in signatures.items():
        by_method.setdefault(signature.method_name, []).append(name)
    for method, names in by_method.items():
        kind = _METHODS.get(method, method)
        logging.info("Signatures INCLUDED in export for %s: %s", kind, names or None)
    for name, reason in errors.items():
        logging.warning("Signature %r is left out of the SavedModel: %s", name, reason)
    if not signatures:
        if any(isinstance(reason, NotRunnableError) for reason in errors.values()):
            reasons = "; ".join(f"{name!r}: {reason}" for name, reason in errors.items())
            raise ValueError(f"The SavedModel would have nothing that can be run. {reasons}")
        logging.warning(
            "Export includes no signatures! The graph is written anyway; it can be run by the "
            "names of its tensors, but not served."
        )
    elif serving_only and _DEFAULT_KEY not in signatures:
        logging.warning(
            "Export includes no default signature! Requests have to name one of %s.",
            list(signatures),
        )
