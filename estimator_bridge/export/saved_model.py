"""Writes a model in one or more modes, with the values of a checkpoint, as a SavedModel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf

from estimator_bridge.export.assets import check_assets, check_assets_extra, copy_assets_extra
from estimator_bridge.export.export_folders import new_version
from estimator_bridge.export.receivers import by_name
from estimator_bridge.export.signatures import build_signatures, outputs_of
from estimator_bridge.export.single_replica import write_sums_as_identities
from estimator_bridge.export.variable_values import saver_of, set_values
from estimator_bridge.graph import session_graph
from estimator_bridge.model import EstimatorSpec, ModeKeys
from estimator_bridge.tensorflow_private.saving import last_meta_graph

__all__ = ["export_saved_model"]

v1 = tf.compat.v1

# The tags that a loader asks for, by mode. The variables are written with the first exported mode:
# training has all variables of the checkpoint.
_TAGS = {
    ModeKeys.TRAIN: ["train"],
    ModeKeys.EVAL: ["eval"],
    ModeKeys.PREDICT: [tf.saved_model.SERVING],
}
# Where loaders look for the operation of a training step; TensorFlow has no public name for it.
_TRAIN_OP = "saved_model_train_op"


class _NoModeError(ValueError, AssertionError):
    """No mode to export; the original's builder raised AssertionError when it saved."""


class _NoReceiverError(ValueError, AttributeError):
    """A receiver function did not return a receiver; the original raised AttributeError."""


def export_saved_model(
    export_dir_base: str,
    call_model: Callable[[Any, Any, str], EstimatorSpec],
    receiver_fns: Mapping[str, Callable[[], Any] | None],
    checkpoint_path: str | None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    strip_default_attrs: bool = True,
    seed: int | None = None,
    makes_global_step: bool = True,
) -> bytes:
    """Writes a SavedModel into a new folder named by a timestamp.

    Args:
      export_dir_base: the folder of all exports.
      call_model: builds the model in the default graph from features, labels and a mode, and
        returns its spec. It is called once per mode.
      receiver_fns: input_receiver_fns by mode; each is called in the mode's graph. A mode whose
        function is None is left out.
      checkpoint_path: the checkpoint to restore in each mode, by the saver of the model's scaffold
        or else by name; None for the initial values.
      assets_extra: extra files to copy, by destination in the folder assets.extra.
      as_text: whether to write the graph as text.
      strip_default_attrs: whether to leave out attributes that have their default value, since
        another TensorFlow release may not know them.
      seed: the graphs' random seed.
      makes_global_step: whether each graph gets a global step first; otherwise the model has one.

    Returns:
      The new folder's path.

    Raises:
      ValueError: no mode has a receiver function, a receiver function returned no receiver, no
        output can be computed outside of this process, a file is missing, or the checkpoint is
        damaged or belongs to another model (a CheckpointError).
      ModelDirLostError: the folder of exports was removed, renamed or replaced meanwhile.
    """
    _check_modes(receiver_fns)
    check_assets_extra(assets_extra)
    files: dict[str, str] = {}
    signatures: dict[str, list[str]] = {}
    with new_version(tf.compat.as_str_any(export_dir_base)) as version:
        builder = v1.saved_model.Builder(version.temporary)
        for mode in _TAGS:
            receiver_fn = receiver_fns.get(mode)
            if not receiver_fn:
                continue
            with session_graph(seed) as graph:
                if makes_global_step:
                    v1.train.create_global_step()
                spec, content = _trace(call_model, receiver_fn, mode)
                check_assets(content["assets_collection"], files)
                with v1.Session(config=_on_the_host()) as session:
                    # Later modes too: this checks that the checkpoint fits their variables.
                    set_values(session, spec.scaffold, content["saver"], checkpoint_path, mode)
                    content["strip_default_attrs"] = strip_default_attrs
                    if signatures:
                        builder.add_meta_graph(**content)
                    else:
                        version.check()  # the builder creates missing folders
                        builder.add_meta_graph_and_variables(session, **content)
                write_sums_as_identities(graph, last_meta_graph(builder).graph_def)
            signatures[mode] = list(content["signature_def_map"])
        version.check()
        builder.save(as_text)
        copy_assets_extra(assets_extra, version.temporary)
    return tf.compat.as_bytes(version.final)


def _trace(
    call_model: Callable[[Any, Any, str], EstimatorSpec], receiver_fn: Callable[[], Any], mode: str
) -> tuple[EstimatorSpec, dict[str, Any]]:
    """Builds the model in the default graph; returns its spec and the MetaGraph's other parts."""
    receiver = _check_receiver(receiver_fn(), mode)
    feeds = by_name(receiver.receiver_tensors)
    spec = call_model(receiver.features, getattr(receiver, "labels", None), mode)
    signatures = build_signatures(
        feeds,
        outputs_of(spec),
        getattr(receiver, "receiver_tensors_alternatives", None),
        serving_only=mode == ModeKeys.PREDICT,
    )
    if spec.train_op is not None:
        v1.add_to_collection(_TRAIN_OP, spec.train_op)
    return spec, {
        "tags": _TAGS[mode],
        "signature_def_map": signatures,
        "assets_collection": v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
        "main_op": _local_init_op(spec.scaffold),
        "saver": saver_of(spec.scaffold),
    }


def _check_modes(receiver_fns: Mapping[str, Any]) -> None:
    unknown = [mode for mode in receiver_fns if mode not in _TAGS]
    if unknown or not any(receiver_fns.values()):
        raise _NoModeError(
            f"No valid modes for exporting found. Got {list(receiver_fns)}, "
            + (f"of which {unknown} are not modes. " if unknown else "with no function for any. ")
            + "Map at least one of ModeKeys.TRAIN, EVAL and PREDICT to an input_receiver_fn."
        )
    for mode, receiver_fn in receiver_fns.items():
        if receiver_fn and not callable(receiver_fn):
            raise ValueError(
                f"The input_receiver_fn of mode {mode!r} must be a function without arguments that "
                f"returns a receiver, got {receiver_fn!r}. Pass the function, not its result."
            )


def _check_receiver(receiver: Any, mode: str) -> Any:
    if not (hasattr(receiver, "features") and hasattr(receiver, "receiver_tensors")):
        kind, builder = (
            ("ServingInputReceiver", "build_raw_serving_input_receiver_fn")
            if mode == ModeKeys.PREDICT
            else ("SupervisedInputReceiver", "build_raw_supervised_input_receiver_fn")
        )
        raise _NoReceiverError(
            f"The input_receiver_fn of mode {mode!r} must return a {kind}, got "
            f"{type(receiver).__name__}: {receiver!r}. Return one, or use export.{builder}."
        )
    return receiver


def _local_init_op(scaffold: tf.compat.v1.train.Scaffold) -> tf.Operation:
    """Returns the op that runs each time the graph is loaded, after the variables are restored."""
    local_init = scaffold.local_init_op
    if local_init is None:
        return v1.train.Scaffold.default_local_init_op()
    if isinstance(local_init, tf.Operation):
        return local_init
    return tf.group(*tf.nest.flatten(local_init))  # any other fetch, such as an assign


def _on_the_host() -> tf.compat.v1.ConfigProto:
    # Values are only copied between files; the accelerator may be in use elsewhere.
    config = v1.ConfigProto(device_count={"GPU": 0}, allow_soft_placement=True)
    config.graph_options.place_pruned_graph = True  # no device has a kernel for a CrossReplicaSum
    return config
