"""Loads a bundle or a SavedModel, with the signatures of a SavedModel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge_contrib.session_bundle import constants, manifest_pb2, session_bundle

__all__ = ["load_session_bundle_or_saved_model_bundle_from_path"]

_v1 = tf.compat.v1
_DEFAULT = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_INPUTS, _OUTPUTS = tf.saved_model.PREDICT_INPUTS, tf.saved_model.PREDICT_OUTPUTS


def load_session_bundle_or_saved_model_bundle_from_path(
    export_dir: str, tags: Sequence[str] | None = None, target: str = "", config: Any = None
) -> tuple[Any, Any]:
    """Loads a model that was written for serving.

    Args:
      export_dir: the folder of one version.
      tags: the tags of the wanted graph of a SavedModel.
      target: the session's target.
      config: the session's ConfigProto.

    Returns:
      A session with the variables, and the MetaGraphDef.

    Raises:
      RuntimeError: the folder has neither; or a bundle has a signature of a SavedModel, or named
        signatures of another kind than the generic one.
    """
    if tf.saved_model.contains_saved_model(export_dir):
        session = _v1.Session(target, graph=None, config=config)
        return session, _v1.saved_model.load(session, tags, export_dir)
    if session_bundle.maybe_session_bundle_dir(export_dir):
        return _load_saved_model_from_session_bundle_path(export_dir, target, config)
    raise RuntimeError(
        f"SessionBundle or SavedModelBundle not found at specified export location: {export_dir}"
    )


def _load_saved_model_from_session_bundle_path(
    export_dir: str, target: str, config: Any
) -> tuple[Any, Any]:
    path = os.path.join(export_dir, constants.META_GRAPH_DEF_FILENAME)
    check_is_no_pipe(path)
    with tf.io.gfile.GFile(path, "rb") as file:
        graph = _v1.MetaGraphDef.FromString(file.read())
    if graph.signature_def:
        raise RuntimeError("Legacy graph contains signature def, unable to up-convert.")
    default, named = _convert_signatures_to_signature_defs(graph)
    if default:
        graph.signature_def[_DEFAULT].CopyFrom(default)
    if named:
        key = f"{_DEFAULT}_from_named" if default else _DEFAULT
        graph.signature_def[key].CopyFrom(named)
    return session_bundle.load_session_bundle_from_path(export_dir, target, config, graph)


def _convert_signatures_to_signature_defs(metagraph_def: Any) -> tuple[Any, Any]:
    """Returns the default signature and that of named ones as SignatureDefs; None if missing."""
    signatures = manifest_pb2.Signatures()
    collected = metagraph_def.collection_def[constants.SIGNATURES_KEY]
    collected.any_list.value[0].Unpack(signatures)
    default = named = None
    if signatures.HasField("default_signature"):
        default = _convert_default_signature_to_signature_def(signatures)
    if len(signatures.named_signatures) > 1:
        named = _convert_named_signatures_to_signature_def(signatures)
    return default, named


def _convert_default_signature_to_signature_def(signatures: Any) -> Any:
    """Returns the default signature as a SignatureDef; None for a generic one."""
    default = signatures.default_signature
    kind = default.WhichOneof("type")
    signature_def = _v1.MetaGraphDef().signature_def["default"]
    if kind == constants.REGRESSION_SIGNATURE:
        signature = default.regression_signature
        signature_def.method_name = tf.saved_model.REGRESS_METHOD_NAME
        _add_input_to_signature_def(
            signature.input.tensor_name, tf.saved_model.REGRESS_INPUTS, signature_def
        )
        _add_output_to_signature_def(
            signature.output.tensor_name, tf.saved_model.REGRESS_OUTPUTS, signature_def
        )
    elif kind == constants.CLASSIFICATION_SIGNATURE:
        signature = default.classification_signature
        signature_def.method_name = tf.saved_model.CLASSIFY_METHOD_NAME
        _add_input_to_signature_def(
            signature.input.tensor_name, tf.saved_model.CLASSIFY_INPUTS, signature_def
        )
        for tensor, key in (
            (signature.classes, tf.saved_model.CLASSIFY_OUTPUT_CLASSES),
            (signature.scores, tf.saved_model.CLASSIFY_OUTPUT_SCORES),
        ):
            _add_output_to_signature_def(tensor.tensor_name, key, signature_def)
    else:
        logging.error(
            "Only classification and regression default signatures are supported for "
            "up-conversion. %s is not supported",
            kind,
        )
        return None
    return signature_def


def _convert_named_signatures_to_signature_def(signatures: Any) -> Any:
    """Returns the signatures named "inputs" and "outputs" as one SignatureDef."""
    pair = [signatures.named_signatures[name] for name in (_INPUTS, _OUTPUTS)]
    kinds = [each.WhichOneof("type") for each in pair]
    if kinds != [constants.GENERIC_SIGNATURE] * 2:
        raise RuntimeError(
            "Named input and output signatures can only be up-converted if they are generic "
            f"signature. Input signature type is {kinds[0]}, output signature type is {kinds[1]}"
        )
    signature_def = _v1.MetaGraphDef().signature_def["named"]
    signature_def.method_name = tf.saved_model.PREDICT_METHOD_NAME
    inputs, outputs = (each.generic_signature.map for each in pair)
    for key, binding in inputs.items():
        _add_input_to_signature_def(binding.tensor_name, key, signature_def)
    for key, binding in outputs.items():
        _add_output_to_signature_def(binding.tensor_name, key, signature_def)
    return signature_def


def _add_input_to_signature_def(tensor_name: str, map_key: str, signature_def: Any) -> None:
    signature_def.inputs[map_key].Clear()
    signature_def.inputs[map_key].name = tensor_name


def _add_output_to_signature_def(tensor_name: str, map_key: str, signature_def: Any) -> None:
    signature_def.outputs[map_key].Clear()
    signature_def.outputs[map_key].name = tensor_name
