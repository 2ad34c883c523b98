"""The signatures of a SavedModel: what a request may feed, and what it gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from absl import logging

from estimator_bridge.export.serving import ServingInputReceiver, TensorServingInputReceiver
from estimator_bridge.model import ExportOutput
from estimator_bridge.model.ancestors import ancestors

__all__ = ["build_signatures"]


def build_signatures(
    receiver: ServingInputReceiver | TensorServingInputReceiver,
    export_outputs: Mapping[str, ExportOutput] | None,
) -> dict[str, Any]:
    """Describes each output as a function of each way to feed it.

    Args:
      receiver: where the model is fed.
      export_outputs: what it returns, by the name of the signature.

    Returns:
      SignatureDefs by name: one for each output, and one named "ALTERNATIVE:OUTPUT" for each of
      the receiver's alternatives. Those that cannot be served are left out, with a warning.

    Raises:
      ValueError: `export_outputs` is no dict, or not one of them can be served.
    """
    if not isinstance(export_outputs, Mapping):
        raise ValueError(
            "`export_outputs` must be a dict. Received "
            f"{export_outputs!r} with type {type(export_outputs).__name__}. In PREDICT mode, "
            "model_fn makes one: EstimatorSpec(export_outputs={'name': "
            "export.PredictOutput({...})}), or leaves it to the spec, which serves the predictions."
        )
    feeds = {"": receiver.receiver_tensors}
    for name, tensors in (receiver.receiver_tensors_alternatives or {}).items():
        feeds[f"{name}:"] = tensors
    signatures, refused = {}, {}
    for prefix, tensors in feeds.items():
        for name, output in export_outputs.items():
            try:
                signatures[prefix + name] = _signature(tensors, output)
            except ValueError as error:
                refused[prefix + name] = str(error)
    for name, reason in refused.items():
        logging.warning("Signature %r is left out of the SavedModel: %s", name, reason)
    if not signatures:
        reasons = "; ".join(f"{name!r}: {reason}" for name, reason in refused.items())
        raise ValueError(
            f"The SavedModel would have no signature to be served by. {reasons or 'None is named'}."
        )
    return signatures


def _signature(tensors: Mapping[str, Any], output: ExportOutput) -> Any:
    signature = output.as_signature_def(tensors)
    if not tf.compat.v1.saved_model.is_valid_signature(signature):
        raise ValueError(f"it has no inputs or no outputs:\n{signature}")
    graph = tf.compat.v1.get_default_graph()
    returned = [graph.get_tensor_by_name(info.name) for info in signature.outputs.values()]
    fed = {t.op for t in tf.nest.flatten(dict(tensors), expand_composites=True)}
    behind = ancestors(returned, known=fed)
    unfed = sorted(op.name for op in behind if op.type == "Placeholder" and op not in fed)
    if unfed:
        raise ValueError(
            f"its outputs need the placeholders {unfed}, which are not among what is fed: "
            f"{sorted(tensors)}. Make receiver_tensors of all placeholders that features come from."
        )
    return signature
