"""Loads a bundle into a session."""

from __future__ import annotations

import os
import re
from typing import Any

import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge_contrib.session_bundle import constants, manifest_pb2

__all__ = ["load_session_bundle_from_path", "maybe_session_bundle_dir"]

_v1 = tf.compat.v1


def maybe_session_bundle_dir(export_dir: str) -> bool:
    """Returns whether a folder has the graph of a bundle.

    Args:
      export_dir: the folder of a version, such as "model/00000123".
    """
    return tf.io.gfile.exists(os.path.join(export_dir, constants.META_GRAPH_DEF_FILENAME))


def load_session_bundle_from_path(
    export_dir: str, target: str = "", config: Any = None, meta_graph_def: Any = None
) -> tuple[Any, Any]:
    """Loads a bundle, which an `Exporter` wrote, here or in TensorFlow 1.

    It replaces the default graph; in eager code, the session has a graph of its own.

    Args:
      export_dir: the folder of a version.
      target: the session's target.
      config: the session's ConfigProto.
      meta_graph_def: the MetaGraphDef to use instead of the bundle's.

    Returns:
      A session with the variables, and the MetaGraphDef.

    Raises:
      RuntimeError: the folder has no graph, or not one graph for inference, or not one init_op.
    """
    graph = meta_graph_def or _read(export_dir)
    collections = graph.collection_def
    if constants.GRAPH_KEY in collections:
        packed = _only(collections[constants.GRAPH_KEY].any_list.value, "GraphDef", graph)
        packed.Unpack(graph.graph_def)
    loaded = _empty_graph()
    session = _v1.Session(target, graph=loaded, config=config)
    with loaded.as_default():
        saver = _v1.train.import_meta_graph(_with_plain_version(graph))
        variables = _variables(export_dir)
        if variables:
            saver.restore(session, os.path.join(export_dir, variables))
        if constants.INIT_OP_KEY in collections:
            _only(collections[constants.INIT_OP_KEY].node_list.value, "init op", graph)
            (init_op,) = _v1.get_collection(constants.INIT_OP_KEY)
            session.run([init_op], _assets(export_dir, collections))
    return session, graph


def _empty_graph() -> tf.Graph:
    if tf.executing_eagerly():
        return tf.Graph()
    _v1.reset_default_graph()
    return _v1.get_default_graph()


def _read(export_dir: str) -> Any:
    path = os.path.join(export_dir, constants.META_GRAPH_DEF_FILENAME)
    if not tf.io.gfile.exists(path):
        raise RuntimeError(
            f"Expected meta graph file missing {path}. Name the folder of one version, such as "
            "model/00000123."
        )
    check_is_no_pipe(path)
    with tf.io.gfile.GFile(path, "rb") as file:
        return _v1.MetaGraphDef.FromString(file.read())


def _with_plain_version(graph: Any) -> Any:
    """Returns a graph whose TensorFlow's version has only numbers; 0.12's was "0.12.head"."""
    numbers = re.match(r"\d+(\.\d+)*", graph.meta_info_def.tensorflow_version)
    plain = numbers.group() if numbers else ""
    if plain == graph.meta_info_def.tensorflow_version:
        return graph
    copy = _v1.MetaGraphDef()
    copy.CopyFrom(graph)
    copy.meta_info_def.tensorflow_version = plain
    return copy


def _only(values: Any, what: str, graph: Any) -> Any:
    if len(values) != 1:
        raise RuntimeError(f"Expected exactly one serving {what} in : {graph}")
    return values[0]


def _variables(export_dir: str) -> str:
    """Returns the saver's name of the variables' files, or "" if there are none."""

    def has(name: str) -> bool:
        return bool(tf.io.gfile.glob(os.path.join(export_dir, name)))

    if has(constants.VARIABLES_INDEX_FILENAME_V2):
        has_data = has(constants.VARIABLES_FILENAME_PATTERN_V2)
        return constants.VARIABLES_FILENAME if has_data else ""
    if has(constants.VARIABLES_FILENAME):
        return constants.VARIABLES_FILENAME
    sharded = constants.VARIABLES_FILENAME_PATTERN
    return sharded if has(sharded) else ""


def _assets(export_dir: str, collections: Any) -> dict[str, str]:
    """Returns the paths of the bundle's files, by the tensors to feed them to."""
    fed = {}
    if constants.ASSETS_KEY in collections:
        for packed in collections[constants.ASSETS_KEY].any_list.value:
            asset = manifest_pb2.AssetFile()
            packed.Unpack(asset)
            fed[asset.tensor_binding.tensor_name] = os.path.join(
                export_dir, constants.ASSETS_DIRECTORY, asset.filename
            )
    return fed
