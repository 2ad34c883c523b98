"""Writes a model, in one mode or several, and a checkpoint's values as a SavedModel."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, Callable

import tensorflow as tf

from estimator_bridge.export.assets import check_assets, check_assets_extra, copy_assets_extra
from estimator_bridge.export.receivers import by_name
from estimator_bridge.export.signatures import build_signatures, outputs_of
from estimator_bridge.export.single_replica import write_sums_as_identities
from estimator_bridge.export.values import saver_of, set_values
from estimator_bridge.export.versions import new_version
from estimator_bridge.graph import trace_graph
from estimator_bridge.model import EstimatorSpec, ModeKeys
from estimator_bridge.tensorflow_private import last_meta_graph

__all__ = ["export_saved_model"]

v1 = tf.compat.v1

# What a loader asks for, by mode. The first mode that is exported is the one whose variables are
# written: that of training has all that are in the checkpoint.
_TAGS = {
    ModeKeys.TRAIN: ["train"],
    ModeKeys.EVAL: ["eval"],
    ModeKeys.PREDICT: [tf.saved_model.SERVING],
}
# Where loaders look for the operation of a training step; TensorFlow has no public name for it.
_TRAIN_OP = "saved_model_train_op"


class _NoModeError(ValueError, AssertionError):
    """There is no mode to export, which the original's builder asserted when it saved."""


class _NoReceiverError(ValueError, AttributeError):
    """A receiver function returned no receiver; the original asked it for its attributes."""


def export_saved_model(
    export_dir_base: str,
    call_model: Callable[[Any, Any, str], EstimatorSpec],
    receiver_fns: Mapping[str, Callable[[], Any] | None],
    checkpoint_path: str | None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    strip_default_attrs: bool = True,
    seed: int | None = None,
) -> bytes:
    """Writes a SavedModel, in a new folder that is named by the time.

    Args:
      export_dir_base: holds the exports.
      call_model: builds the model in the default graph of features, labels and a mode, and
        returns its spec. It is called once a mode.
      receiver_fns: the functions that make features and labels of what is fed, by mode: each is
        called in the mode's graph and returns a receiver. A mode whose function is None is left
        out.
      checkpoint_path: restored in each mode, by the saver of its scaffold, else by name; None for
        the initial values.
      assets_extra: files to copy beside it, by where they go in its folder assets.extra.
      as_text: whether to write the graph as text.
      strip_default_attrs: whether to leave out attributes that have their default value, as a
        loader of another TensorFlow release may not know of.
      seed: the graphs' random seed.

    Returns:
      The new folder's path.

    Raises:
      ValueError: there is no mode to export, a receiver is none, the model has nothing that can
        be run, a file is not there, or the checkpoint is damaged or of another model (a
        CheckpointError).
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
            with _graph(seed) as graph:
                spec, content = _traced(call_model, receiver_fn, mode)
                check_assets(content["assets_collection"], files)
                with v1.Session(config=_on_the_host()) as session:
                    # In later modes too, to find out whether the variables written fit this one.
                    set_values(session, spec.scaffold, content["saver"], checkpoint_path, mode)
                    content["strip_default_attrs"] = strip_default_attrs
                    if signatures:
                        builder.add_meta_graph(**content)
                    else:
                        builder.add_meta_graph_and_variables(session, **content)
                write_sums_as_identities(graph, last_meta_graph(builder).graph_def)
            signatures[mode] = list(content["signature_def_map"])
        builder.save(as_text)
        copy_assets_extra(assets_extra, version.temporary)
    return tf.compat.as_bytes(version.final)


def _traced(
    call_model: Callable[[Any, Any, str], EstimatorSpec], receiver_fn: Callable[[], Any], mode: str
) -> tuple[EstimatorSpec, dict[str, Any]]:
    """Builds the model in the default graph; returns what a SavedModel keeps of it beside."""
    v1.train.create_global_step()
    receiver = _checked(receiver_fn(), mode)
    fed = by_name(receiver.receiver_tensors)
    spec = call_model(receiver.features, getattr(receiver, "labels", None), mode)
    signatures = build_signatures(
        fed,
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


@contextlib.contextmanager
def _graph(seed: int | None) -> Iterator[tf.Graph]:
    """The default graph of one mode, with the kinds of variables that the program chose."""
    if v1.resource_variables_enabled():
        with trace_graph(seed) as graph:
            yield graph
        return
    # Nothing is lifted here: a real session runs the graph. So a program of TF1's kinds gets a
    # graph of TF1's kinds, in which a variable's name is still that of its value.
    graph = tf.Graph()
    with graph.as_default():
        v1.set_random_seed(seed)
        yield graph


def _check_modes(receiver_fns: Mapping[str, Any]) -> None:
    unknown = [mode for mode in receiver_fns if mode not in _TAGS]
    if unknown or not any(receiver_fns.values()):
        raise _NoModeError(
            f"No valid modes for exporting found. Got {list(receiver_fns)}, "
            + (f"of which {unknown} are no modes. " if unknown else "with no function for any. ")
            + "Map ModeKeys.TRAIN, EVAL and PREDICT to an input_receiver_fn each, or some of them."
        )
    for mode, receiver_fn in receiver_fns.items():
        if receiver_fn and not callable(receiver_fn):
            raise ValueError(
                f"The input_receiver_fn of mode {mode!r} must be a function without arguments that "
                f"returns a receiver, got {receiver_fn!r}. Pass the function, not its result."
            )


def _checked(receiver: Any, mode: str) -> Any:
    if not (hasattr(receiver, "features") and hasattr(receiver, "receiver_tensors")):
        kind, builder = (
            ("ServingInputReceiver", "build_raw_serving_input_receiver_fn")
            if mode == ModeKeys.PREDICT
            else ("SupervisedInputReceiver", "build_raw_supervised_input_receiver_fn")
        )
        raise _NoReceiverError(
            f"The input_receiver_fn of mode {mode!r} must return a {kind}, got "
            f"{type(receiver).__name__}: {receiver!r}. Make one in it, or use export.{builder}."
        )
    return receiver


def _local_init_op(scaffold: tf.compat.v1.train.Scaffold) -> tf.Operation:
    """What runs each time the graph is loaded, after its variables are restored."""
    local_init = scaffold.local_init_op
    if local_init is None:
        return v1.train.Scaffold.default_local_init_op()
    if isinstance(local_init, tf.Operation):
        return local_init
    return tf.group(*tf.nest.flatten(local_init))  # what a session also runs, as an assign


def _on_the_host() -> tf.compat.v1.ConfigProto:
    # Values are copied from file to file; an accelerator that something else uses has no part.
    config = v1.ConfigProto(device_count={"GPU": 0}, allow_soft_placement=True)
    config.graph_options.place_pruned_graph = True  # no device has a kernel for a CrossReplicaSum
    return config
