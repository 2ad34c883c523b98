"""Writes a model as a bundle: a folder with its variables, its graph and its signatures."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from google.protobuf.any_pb2 import Any as Packed  # type: ignore[import-untyped]
from tensorflow.compat.v1 import logging

from estimator_bridge import own_files
from estimator_bridge_contrib.older_graphs import leave_out_later_parts
from estimator_bridge_contrib.session_bundle import constants, gc, manifest_pb2

__all__ = [
    "Exporter",
    "classification_signature",
    "generic_signature",
    "gfile_copy_callback",
    "regression_signature",
]

_v1 = tf.compat.v1


def gfile_copy_callback(files_to_copy: Mapping[Any, Any], export_dir_path: str | bytes) -> None:
    """Copies files into a folder, over those that are there.

    Args:
      files_to_copy: the files' names in the folder, by path.
      export_dir_path: the folder, which is made.
    """
    folder = os.fsencode(export_dir_path)
    logging.info("Write assets into: %s using gfile_copy.", folder)
    tf.io.gfile.makedirs(folder)
    for source, name in files_to_copy.items():
        path = os.path.join(folder, os.fsencode(name))
        logging.info("Copying asset %s to path %s.", source, path)
        tf.io.gfile.copy(source, path, overwrite=True)


def regression_signature(input_tensor: tf.Tensor, output_tensor: tf.Tensor) -> Any:
    """Returns the Signature of a model that predicts a number.

    Args:
      input_tensor: what is fed.
      output_tensor: the number.
    """
    signature = manifest_pb2.Signature()
    signature.regression_signature.input.tensor_name = input_tensor.name
    signature.regression_signature.output.tensor_name = output_tensor.name
    return signature


def classification_signature(
    input_tensor: tf.Tensor,
    classes_tensor: tf.Tensor | None = None,
    scores_tensor: tf.Tensor | None = None,
) -> Any:
    """Returns the Signature of a classifier.

    Args:
      input_tensor: what is fed.
      classes_tensor: the classes' names.
      scores_tensor: the classes' scores.
    """
    signature = manifest_pb2.Signature()
    kind = signature.classification_signature
    kind.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        kind.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        kind.scores.tensor_name = scores_tensor.name
    return signature


def generic_signature(name_tensor_map: Mapping[str, tf.Tensor]) -> Any:
    """Returns a Signature of tensors by name."""
    signature = manifest_pb2.Signature()
    for name, tensor in name_tensor_map.items():
        signature.generic_signature.map[name].tensor_name = tensor.name
    return signature


class Exporter:
    """Writes versions of a model. Call `init` once, and then `export` for each version.

    Args:
      saver: the saver of the variables; its limits on the number of files are not used.
    """

    def __init__(self, saver: Any):
        saver_def = saver.as_saver_def()
        saver_def.ClearField("max_to_keep")
        self._saver = _v1.train.Saver(saver_def=saver_def)
        self._has_init = False
        self._assets: dict[bytes, bytes] = {}
        self._copy_assets: Callable[[Mapping[Any, Any], Any], None] | None = None

    def init(
        self,
        graph_def: Any = None,
        init_op: tf.Operation | None = None,
        clear_devices: bool = False,
        default_graph_signature: Any = None,
        named_graph_signatures: Mapping[str, Any] | None = None,
        assets_collection: Sequence[tf.Tensor] | None = None,
        assets_callback: Callable[[Mapping[Any, Any], Any], None] | None = gfile_copy_callback,
    ) -> None:
        """Adds what loaders need to the collections of the default graph.

        Args:
          graph_def: the GraphDef to load for inference; by default the default graph.
          init_op: the operation to run after loading.
          clear_devices: whether the graph for inference has no devices.
          default_graph_signature: the Signature of the graph.
          named_graph_signatures: further ones, by name.
          assets_collection: constants with paths of files that the bundle contains.
          assets_callback: copies the files; it gets their new names by path, and the new folder.

        Raises:
          RuntimeError: `init` was called before.
          TypeError: init_op is no operation, or an asset no constant text.
          ValueError: an asset has no path.
        """
        assets = [(_path_of(tensor), tensor) for tensor in assets_collection or ()]
        self._assets.update((path, os.path.basename(path)) for path, _ in assets)
        if self._has_init:
            raise RuntimeError("init should be called only once; make a new Exporter.")
        self._has_init = True
        self._copy_assets = assets_callback
        if graph_def or clear_devices:
            _collect(constants.GRAPH_KEY, _for_inference(graph_def, clear_devices))
        if init_op:
            if not isinstance(init_op, tf.Operation):
                raise TypeError(f"init_op needs to be an Operation: {init_op}")
            _v1.add_to_collection(constants.INIT_OP_KEY, init_op)
        signatures = manifest_pb2.Signatures()
        if default_graph_signature:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        _collect(constants.SIGNATURES_KEY, signatures)
        for path, tensor in assets:
            asset = manifest_pb2.AssetFile(filename=os.path.basename(path))
            asset.tensor_binding.tensor_name = tensor.name
            _collect(constants.ASSETS_KEY, asset)

    def export(
        self,
        export_dir_base: str,
        global_step_tensor: Any,
        sess: Any = None,
        exports_to_keep: Callable[[list[gc.Path]], list[gc.Path]] | None = None,
    ) -> bytes:
        """Writes a version of the model.

        Args:
          export_dir_base: the folder of all versions.
          global_step_tensor: the global step, or its name; its value is the version.
          sess: the session with the variables.
          exports_to_keep: a filter of `gc` that says which versions stay; by default all.

        Returns:
          The new folder.

        Raises:
          RuntimeError: `init` was not called, or the version is there.
        """
        if not self._has_init:
            raise RuntimeError("init must be called first")
        base = export_dir_base.removesuffix("/")
        step = _v1.train.global_step(sess, global_step_tensor)
        folder = os.path.join(base, constants.VERSION_FORMAT_SPECIFIER % step)
        if tf.io.gfile.exists(folder):
            raise RuntimeError(
                "Overwriting exports can cause corruption and are not allowed. Duplicate export "
                f"dir: {folder}"
            )
        # A loader that watches the base sees the version when it is complete.
        token = own_files.new_token()
        staging = f"{folder}-tmp-{token}"
        temporary = os.path.join(staging, f"{token}.export")
        try:
            own_files.make_own_folder(staging, token)
            tf.io.gfile.makedirs(temporary)
            self._write(temporary, sess)
            if exports_to_keep:
                own_files.record_folder(temporary)
            if not own_files.move_new(temporary, folder):
                raise RuntimeError(f"Another process has exported the same version: {folder}")
        finally:
            own_files.remove_own_folder(staging)
        if exports_to_keep:
            _delete(base, exports_to_keep)
        return os.fsencode(folder)

    def _write(self, folder: str, session: Any) -> None:
        prefix = os.path.join(folder, constants.EXPORT_BASE_NAME)
        self._saver.save(session, prefix, write_meta_graph=False)
        with session.graph.as_default():
            graph = self._saver.export_meta_graph(strip_default_attrs=True)
        leave_out_later_parts(graph.graph_def)
        with tf.io.gfile.GFile(f"{prefix}.{constants.EXPORT_SUFFIX_NAME}", "wb") as file:
            file.write(graph.SerializeToString())
        if self._copy_assets and self._assets:
            assets = os.fsencode(os.path.join(folder, constants.ASSETS_DIRECTORY))
            tf.io.gfile.makedirs(assets)
            self._copy_assets(self._assets, assets)


def _for_inference(graph_def: Any, clear_devices: bool) -> Any:
    copy = _v1.GraphDef()
    copy.CopyFrom(graph_def or _v1.get_default_graph().as_graph_def())
    leave_out_later_parts(copy)
    for node in copy.node if clear_devices else ():
        node.device = ""
    return copy


def _collect(key: str, message: Any) -> None:
    packed = Packed()
    packed.Pack(message)
    _v1.add_to_collection(key, packed)


def _path_of(tensor: Any) -> bytes:
    if not isinstance(tensor, tf.Tensor):
        raise TypeError(f"An asset is no tensor: {tensor!r}. Give a tf.constant of a path.")
    if tensor.op.type != "Const" or tensor.dtype != tf.string:
        raise TypeError(f"Only constants of texts can be assets, not {tensor}.")
    values = tensor.op.get_attr("value").string_val
    if len(values) != 1:
        raise TypeError(f"Only scalars can be assets, not {tensor}.")
    if not values[0]:
        raise ValueError(f"invalid asset filepath tensor {tensor}: its text is empty.")
    return values[0]


def _delete(base: str, exports_to_keep: Callable[[list[gc.Path]], list[gc.Path]]) -> None:
    def parse(path: gc.Path) -> gc.Path | None:
        match = re.fullmatch(r"(\d{8})", os.path.basename(path.path.rstrip("/")))
        return path._replace(export_version=int(match.group(1))) if match else None

    old = gc.negation(exports_to_keep)(gc.get_paths(base, parse))
    own_files.log_once(
        base,
        "%s has exports that this version of the library did not write, or that have been changed "
        "since: %s. They stay.",
        [
            os.path.basename(path.path)
            for path in old
            if not own_files.remove_recorded_folder(path.path)
        ],
    )
