"""Reads the file of a SavedModel."""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf
from google.protobuf import message, text_format  # type: ignore[import-untyped]

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge.tensorflow_private.names import SavedModel

__all__ = ["get_saved_model_tag_sets", "read_saved_model"]

_BINARY, _TEXT = "saved_model.pb", "saved_model.pbtxt"


def read_saved_model(saved_model_dir: str) -> Any:
    """Reads saved_model.pb, or else saved_model.pbtxt.

    Args:
      saved_model_dir: the SavedModel's folder.

    Returns:
      The SavedModel message.

    Raises:
      OSError: there is no such file, or it cannot be parsed.
    """
    model = SavedModel()
    for name in (_BINARY, _TEXT):
        path = os.path.join(os.fsdecode(saved_model_dir), name)
        if not tf.io.gfile.exists(path):
            continue
        check_is_no_pipe(path)
        with tf.io.gfile.GFile(path, "rb") as file:
            content = file.read()
        try:
            if name == _BINARY:
                model.ParseFromString(content)
            else:
                text_format.Merge(content.decode(), model)
        except (message.DecodeError, text_format.ParseError) as error:
            raise OSError(f"Cannot parse file {path}: {error}.") from error
        return model
    raise OSError(
        f"SavedModel file does not exist at: {os.fsdecode(saved_model_dir)}/{{{_TEXT}|{_BINARY}}}"
    )


def get_saved_model_tag_sets(saved_model_dir: str) -> list[list[str]]:
    """Returns the tags of each graph of a SavedModel.

    Args:
      saved_model_dir: the SavedModel's folder.

    Raises:
      OSError: see ``read_saved_model``.
    """
    graphs = read_saved_model(saved_model_dir).meta_graphs
    return [list(graph.meta_info_def.tags) for graph in graphs]
