"""Writes a model and a checkpoint's values as a SavedModel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf
from absl import logging

from estimator_bridge.checkpoint import check_checkpoint, describe_variables, reading
from estimator_bridge.export.serving import ServingInputReceiver, TensorServingInputReceiver
from estimator_bridge.export.signatures import build_signatures
from estimator_bridge.export.versions import check_assets_extra, copy_assets_extra, new_version
from estimator_bridge.graph import trace_graph
from estimator_bridge.model import EstimatorSpec, ModeKeys

__all__ = ["export_saved_model"]

_Receiver = (ServingInputReceiver, TensorServingInputReceiver)
v1 = tf.compat.v1


def export_saved_model(
    export_dir_base: str,
    trace: Callable[[], tuple[EstimatorSpec, Any]],
    checkpoint_path: str | None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
) -> bytes:
    """Writes a SavedModel for serving, in a new folder that is named by the time.

    Args:
      export_dir_base: holds the exports.
      trace: builds the model in the default graph, a new one; returns its spec for PREDICT and
        the receiver that it is fed by.
      checkpoint_path: restored by the spec's scaffold's saver, else by name; None for the initial
        values.
      assets_extra: files to copy beside it, by where they go in its folder assets.extra.
      as_text: whether to write the graph as text.

    Returns:
      The new folder's path.

    Raises:
      ValueError: the model has nothing to serve, the receiver is none, an extra file is not
        there, or the checkpoint is damaged or of another model (a CheckpointError).
    """
    check_assets_extra(assets_extra)
    base = tf.compat.as_str_any(export_dir_base)
    with trace_graph() as graph:
        spec, receiver = trace()
        _check_traced(spec, receiver)
        signatures = build_signatures(receiver, spec.export_outputs)
        scaffold = spec.scaffold
        saver = scaffold.saver or v1.train.Saver(sharded=True, allow_empty=True)
        local_init = scaffold.local_init_op
        if local_init is None:
            local_init = v1.train.Scaffold.default_local_init_op()
        elif not isinstance(local_init, tf.Operation):  # what a session also runs, as an assign
            local_init = tf.group(local_init)
        if checkpoint_path and scaffold.saver is None:
            check_checkpoint(checkpoint_path, describe_variables(_saved_variables()))
        with v1.Session(graph=graph, config=_on_the_host()) as session:
            _set_values(session, scaffold, saver, checkpoint_path)
            with new_version(base) as (temporary, final):
                builder = v1.saved_model.Builder(temporary)
                builder.add_meta_graph_and_variables(
                    session,
                    [tf.saved_model.SERVING],
                    signature_def_map=signatures,
                    assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
                    main_op=local_init,
                    strip_default_attrs=True,
                    saver=saver,
                )
                builder.save(as_text)
                copy_assets_extra(assets_extra, temporary)
    logging.info("SavedModel written to: %s, with the signatures %s", final, list(signatures))
    return tf.compat.as_bytes(final)


def _check_traced(spec: Any, receiver: Any) -> None:
    if not isinstance(receiver, _Receiver):
        raise ValueError(
            "serving_input_receiver_fn must return a ServingInputReceiver (or a "
            f"TensorServingInputReceiver), got {type(receiver).__name__}: {receiver!r}. Write "
            "export.ServingInputReceiver(features, receiver_tensors), or use "
            "export.build_raw_serving_input_receiver_fn."
        )
    if spec.mode != ModeKeys.PREDICT:
        raise ValueError(
            f"A SavedModel for serving is made of the spec of ModeKeys.PREDICT, got {spec.mode!r}."
        )


def _saved_variables() -> list[tf.Variable]:
    saveable = v1.get_collection(v1.GraphKeys.SAVEABLE_OBJECTS)
    return [v for v in (*v1.global_variables(), *saveable) if isinstance(v, tf.Variable)]


def _on_the_host() -> tf.compat.v1.ConfigProto:
    # Values are copied from file to file; an accelerator that something else uses has no part.
    return v1.ConfigProto(device_count={"GPU": 0}, allow_soft_placement=True)


def _set_values(
    session: tf.compat.v1.Session,
    scaffold: tf.compat.v1.train.Scaffold,
    saver: tf.compat.v1.train.Saver,
    checkpoint_path: str | None,
) -> None:
    if checkpoint_path:
        if v1.global_variables() or scaffold.saver is not None:
            with reading(checkpoint_path):
                saver.restore(session, checkpoint_path)
        return
    init_op = scaffold.init_op
    if init_op is None:
        init_op = v1.global_variables_initializer()
    session.run(init_op, feed_dict=scaffold.init_feed_dict)
    if scaffold.init_fn:
        scaffold.init_fn(session)
