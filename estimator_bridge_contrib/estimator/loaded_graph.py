"""Imports one graph of a SavedModel into the default graph."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.reference_variables import TracedGraph
from estimator_bridge.graph.snapshot import node_name
from estimator_bridge_contrib.estimator.resource_graph import with_resource_variables

__all__ = ["LoadedGraph", "import_graph"]

_v1 = tf.compat.v1
_ASSETS = _v1.saved_model.ASSETS_KEY
_MAIN_OPS = (_v1.saved_model.MAIN_OP_KEY, _v1.saved_model.LEGACY_INIT_OP_KEY)
_TRAIN_OP = "saved_model_train_op"  # TensorFlow has no public name for it
_INIT_SIGNATURE = "__saved_model_init_op"
# A builder of SavedModels expects them to be empty.
_BUILDERS = (*_MAIN_OPS, _ASSETS, _TRAIN_OP)


class LoadedGraph:
    """The parts of an imported graph.

    Args:
      outputs: the signature's outputs, by key.
      train_op: the operation of a training step; None if there is none.
      local_init_op: the operation that runs each time the graph is loaded; None if there is none.
    """

    def __init__(self, outputs: dict[str, tf.Tensor], train_op: Any, local_init_op: Any):
        self.outputs, self.train_op, self.local_init_op = outputs, train_op, local_init_op


def import_graph(
    meta_graph: Any, signature: Any, inputs: Mapping[str, tf.Tensor], folder: str
) -> LoadedGraph:
    """Imports a graph, with its collections.

    Its assets are the files in the SavedModel's folder. In a traced graph its reference variables
    become resources.

    Args:
      meta_graph: the MetaGraphDef; it stays as it is.
      signature: its SignatureDef.
      inputs: the tensors that replace nodes, by the node's name.
      folder: the SavedModel's folder.

    Raises:
      RuntimeError: several operations are the training step.
      TypeError: a table's entries are part of the checkpoint.
      ValueError: a variable has the name of an operation that is already in the graph.
    """
    _check_tables(meta_graph)
    graph = tf.compat.v1.get_default_graph()
    graph_copy = type(meta_graph)()
    graph_copy.CopyFrom(meta_graph)
    _use_own_assets(graph_copy, folder)
    references: set[str] = set()
    if isinstance(graph, TracedGraph):
        graph_copy, references = with_resource_variables(graph_copy)
    names = _renamed(graph_copy, {operation.name for operation in graph.get_operations()})
    replaced = {}
    for name, tensor in inputs.items():
        # A control edge has a name of its own in a GraphDef.
        replaced[names.get(name, name)] = replaced["^" + names.get(name, name)] = tensor
    # A strategy opens variable scopes later, when the graph is finalized: they are made here.
    with _v1.variable_scope(_v1.get_variable_scope()):
        _v1.train.import_meta_graph(graph_copy, input_map=replaced)
    if isinstance(graph, TracedGraph):  # not before: it finds the handles by their names
        graph.references |= references
    outputs = {
        key: graph.get_tensor_by_name(_rename(info.name, names))
        for key, info in signature.outputs.items()
    }
    steps = _v1.get_collection(_TRAIN_OP)
    if len(steps) > 1:
        raise RuntimeError(
            f"Multiple ops found in the train_op collection: {[step.name for step in steps]}. "
            "Export a model with one train_op."
        )
    loaded = LoadedGraph(outputs, steps[0] if steps else None, _main_op(graph_copy, names))
    for key in _BUILDERS:
        _v1.get_collection_ref(key).clear()
    return loaded


def _main_op(meta_graph: Any, names: Mapping[str, str]) -> Any:
    for key in _MAIN_OPS:
        ops = _v1.get_collection(key)
        if ops:
            return ops[0]
    signature = meta_graph.signature_def.get(_INIT_SIGNATURE)
    if signature is None:
        return None
    (info,) = signature.outputs.values()
    return _v1.get_default_graph().get_operation_by_name(_rename(node_name(info.name), names))


def _use_own_assets(meta_graph: Any, folder: str) -> None:
    """Lets the constants that name assets name the files in the SavedModel's folder."""
    files = {
        node_name(each.tensor_info.name): os.path.join(folder, "assets", each.filename)
        for each in _assets(meta_graph)
    }
    for node in meta_graph.graph_def.node:
        if node.name in files and node.op == "Const":
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(files[node.name], tf.string))


def _assets(meta_graph: Any) -> list[Any]:
    """Returns the AssetFileDefs, which are in a field or in a collection."""
    assets = list(meta_graph.asset_file_def)
    collections = meta_graph.collection_def
    for packed in collections[_ASSETS].any_list.value if _ASSETS in collections else ():
        asset = type(meta_graph)().asset_file_def.add()
        packed.Unpack(asset)
        assets.append(asset)
    return assets


def _check_tables(meta_graph: Any) -> None:
    """Refuses tables whose entries belong to the checkpoint: a graph's file does not say how."""
    collections, key = meta_graph.collection_def, _v1.GraphKeys.SAVEABLE_OBJECTS
    if key in collections and collections[key].node_list.value:
        name = collections[key].node_list.value[0]
        raise TypeError(
            f"Can't convert Operation '{name}' to Tensor. Its entries are part of the "
            "checkpoint, and SavedModelEstimator restores variables only. Keep such entries in "
            "variables, or in a vocabulary file."
        )


def _renamed(meta_graph: Any, used_names: set[str]) -> dict[str, str]:
    """Gives other names to nodes whose names are taken; returns these by old name."""
    own = {node.name for node in meta_graph.graph_def.node}
    names = {}
    for name in sorted(own & used_names):
        number = 1
        while f"{name}_{number}" in own | used_names:
            number += 1
        names[name] = f"{name}_{number}"
        used_names.add(names[name])
    if not names:
        return {}
    for node in meta_graph.graph_def.node:
        if node.name in names and node.op in ("VarHandleOp", "Variable", "VariableV2"):
            raise ValueError(
                f"The SavedModel's variable {node.name!r} has the name of an operation of input_fn "
                f"or of another model. Give that operation another name."
            )
        node.name = names.get(node.name, node.name)
        node.input[:] = [_rename(input_name, names) for input_name in node.input]
        groups = node.attr["_class"].list.s if "_class" in node.attr else []
        groups[:] = [b"loc:@" + _rename(each[5:].decode(), names).encode() for each in groups]
    for collection in meta_graph.collection_def.values():
        if collection.WhichOneof("kind") == "node_list":
            node_names = collection.node_list.value
            node_names[:] = [_rename(each, names) for each in node_names]
    return names


def _rename(reference: str, names: Mapping[str, str]) -> str:
    """Renames the node of a reference, such as "a", "a:1" or "^a"."""
    name = node_name(reference)
    return reference.replace(name, names[name], 1) if name in names else reference
