"""Functions that both versions of the head for several objectives share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.keys import DEFAULT_SIGNATURE, PREDICT_SIGNATURE
from estimator_bridge.heads.losses import is_sum
from estimator_bridge.model import EstimatorSpec, ExportOutput, PredictOutput
from estimator_bridge.model.cross_shard import number_of_parts

__all__ = [
    "check_heads",
    "check_labels_by_head",
    "common_reduction",
    "logits_by_head",
    "merged_losses",
    "merged_outputs",
]


def check_heads(heads: Any, head_weights: Any) -> tuple[tuple[Any, ...], tuple[float, ...]]:
    """Checks the heads of several objectives.

    Returns:
      The heads, and their weights: none, or as many.

    Raises:
      ValueError: there are no heads, one has no name, or the number of weights differs.
    """
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}. One for each objective, with names.")
    if head_weights and len(head_weights) != len(heads):
        raise ValueError(
            "heads and head_weights must have the same size. Given len(heads): "
            f"{len(heads)}. Given len(head_weights): {len(head_weights)}."
        )
    for head in heads:
        if head.name is None:
            raise ValueError(
                f"All given heads must have name specified. Given: {head}. Logits, labels and "
                "metrics are distinguished by it: name='clicks'."
            )
    return tuple(heads), tuple(head_weights or ())


def common_reduction(heads: Sequence[Any]) -> str | None:
    """Returns the heads' reduction; None if a user's V1 head does not define it.

    Raises:
      ValueError: a TPU's cores divide the batch, and some losses are sums but others are means.
    """
    reductions = {head.name: getattr(head, "loss_reduction", None) for head in heads}
    if len({is_sum(reduction) for reduction in reductions.values()}) > 1 and number_of_parts() > 1:
        raise ValueError(
            "The loss_reduction must be the same for different heads on a TPU. Given: "
            f"{reductions}: sums are added over the cores, but means are averaged. Give all heads "
            "tf.compat.v1.losses.Reduction.SUM, or none."
        )
    return next(iter(reductions.values()))


def logits_by_head(logits: Any, heads: Sequence[Any]) -> Mapping[str, Any]:
    """Splits logits by head.

    Args:
      logits: a dict by head name, or one tensor [D0, ..., DN, sum of the heads' dimensions].
      heads: the heads, in the order of a tensor's last dimension.

    Returns:
      The logits by head name.

    Raises:
      ValueError: logits of a head are missing, or the tensor has another size.
    """
    names = [head.name for head in heads]
    if isinstance(logits, Mapping):
        _check_names("logits", logits, names)
        return logits
    with tf.name_scope("split_logits"):
        logits = tf.convert_to_tensor(logits)
        dimensions = [head.logits_dimension for head in heads]
        last = None if logits.shape.rank is None else logits.shape[-1]
        if last is not None and last != sum(dimensions):
            raise ValueError(
                f"Could not split logits of shape {logits.shape} among the heads with individual "
                f"logits dimensions: {dimensions}. The last dimension of the logits tensor should "
                f"equal {sum(dimensions)} but is {last}."
            )
        return dict(zip(names, tf.split(logits, dimensions, axis=-1)))


def check_labels_by_head(labels: Any, heads: Sequence[Any]) -> None:
    """Checks that there are labels for all heads; None passes, since prediction needs none.

    Raises:
      ValueError: labels are not a dict, or lack those of a head.
    """
    if labels is None:
        return
    if not isinstance(labels, Mapping):
        raise ValueError(
            f"labels must be a dict. Given: {labels}. input_fn returns them by the heads' names: "
            f"{[head.name for head in heads]}."
        )
    _check_names("labels", labels, [head.name for head in heads])


def _check_names(subject: str, values: Mapping[str, Any], names: Sequence[str]) -> None:
    missing = [name for name in names if name not in values]
    if missing:
        raise ValueError(
            f"{subject} has missing values for head(s): {missing}. There are {sorted(values)}."
        )


def merged_losses(losses: Sequence[tf.Tensor], head_weights: Sequence[float]) -> tf.Tensor:
    """Returns the weighted sum of the heads' losses."""
    with tf.name_scope("merge_losses"):
        if head_weights:
            losses = [loss * weight for loss, weight in zip(losses, head_weights)]
        return tf.add_n(list(losses))


def merged_outputs(names: Sequence[str], specs: Sequence[EstimatorSpec]) -> dict[str, ExportOutput]:
    """Merges the heads' signatures, prefixed by head name; the first head's is the default.

    Args:
      names: names of the heads.
      specs: their specs in mode PREDICT.

    Returns:
      The signatures; "predict" has the predictions of all heads.

    Raises:
      ValueError: the first head has no default signature.
    """
    outputs = {DEFAULT_SIGNATURE: _default(names[0], specs[0].export_outputs)}
    predictions: dict[str, tf.Tensor] = {}
    for name, spec in zip(names, specs):
        for key, output in spec.export_outputs.items():
            outputs[name if key == DEFAULT_SIGNATURE else f"{name}/{key}"] = output
            if key == PREDICT_SIGNATURE and isinstance(output, PredictOutput):
                predictions.update({f"{name}/{of}": v for of, v in output.outputs.items()})
    outputs[PREDICT_SIGNATURE] = PredictOutput(predictions)
    return outputs


def _default(name: str, outputs: Mapping[str, ExportOutput]) -> ExportOutput:
    if len(outputs) == 1:
        return next(iter(outputs.values()))
    if DEFAULT_SIGNATURE not in outputs:
        raise ValueError(
            f"{name} did not specify default export_outputs. Given: {sorted(outputs)}. Suggested "
            f"fix: include key {DEFAULT_SIGNATURE} in its export_outputs."
        )
    return outputs[DEFAULT_SIGNATURE]
