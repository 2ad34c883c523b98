"""Reads the results of a run in a form in which two runs can be compared.

The same functions read the original's folders and those of this library.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "checkpoint_list",
    "event_tags",
    "files",
    "flat",
    "predictions",
    "served",
    "shapes",
    "signatures",
    "weights",
]

EVENTS = "events.out.tfevents."


def files(folder: Path) -> list[str]:
    """Returns every file below a folder, sorted, event files without time and host.

    The hidden records of this library, by which exporters know their own exports, are left out.
    """
    names = set()
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.startswith(".estimator_bridge."):
            name = EVENTS + "*" if path.name.startswith(EVENTS) else path.name
            names.add(path.relative_to(folder).with_name(name).as_posix())
    return sorted(names)


def checkpoint_list(model_dir: Path) -> dict[str, Any]:
    """Returns the content of the ``checkpoint`` file, with its paths unchanged."""
    text = (model_dir / "checkpoint").read_text()
    return {
        "latest": re.findall(r'^model_checkpoint_path: "(.*)"$', text, re.MULTILINE)[0],
        "all": re.findall(r'^all_model_checkpoint_paths: "(.*)"$', text, re.MULTILINE),
    }


def shapes(prefix: str) -> dict[str, list[Any]]:
    """Returns the variables of a checkpoint: name to [dtype, shape]."""
    reader = tf.train.load_checkpoint(prefix)
    types = reader.get_variable_to_dtype_map()
    shapes = reader.get_variable_to_shape_map()
    return {name: [types[name].name, list(shapes[name])] for name in sorted(shapes)}


def weights(prefix: str) -> dict[str, np.ndarray]:
    """Returns the variables of a checkpoint, with slots and global_step: name to value."""
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def event_tags(model_dir: Path) -> dict[str, dict[str, list[int]]]:
    """Returns the summaries in each folder's event files: folder to tag to the steps written.

    Rates (``global_step/sec``, ``examples/sec``) are listed without steps: the original's counter
    fetches the global step while it is incremented, so one run writes at 9 and the next at 8.
    """
    tags_by_folder: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(model_dir.rglob(EVENTS + "*")):
        folder = path.parent.relative_to(model_dir).as_posix()
        for event in tf.train.summary_iterator(str(path)):
            for value in event.summary.value:
                rate = value.tag.endswith("/sec")
                tags_by_folder[folder][value.tag] += [] if rate else [event.step]
    return {
        folder: {tag: sorted(steps) for tag, steps in sorted(tags.items())}
        for folder, tags in sorted(tags_by_folder.items())
    }


def flat(results: Any, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Yields the values in nested dicts, lists and tuples with their paths: ``all/errors/0``."""
    if isinstance(results, dict):
        items = sorted(results.items())
    elif isinstance(results, (list, tuple)):
        items = list(enumerate(results))
    else:
        yield path, np.asarray(results)
        return
    for key, value in items:
        yield from flat(value, f"{path}/{key}" if path else str(key))


def predictions(examples: Iterable[Any]) -> dict[str, np.ndarray]:
    """Returns the results of ``predict``, dicts or arrays, as one array a key."""
    rows = [row if isinstance(row, dict) else {"prediction": row} for row in examples]
    return {key: np.stack([row[key] for row in rows]) for key in rows[0]}


def signatures(export: Path) -> dict[str, Any]:
    """Returns the signatures of a SavedModel: inputs and outputs as key to [tensor, dtype, shape].

    An unknown size is -1, an unknown shape None.
    """

    def shape(info: Any) -> list[int] | None:
        rank_is_unknown = info.tensor_shape.unknown_rank
        return None if rank_is_unknown else [size.size for size in info.tensor_shape.dim]

    def describe(tensors: Any) -> dict[str, list[Any]]:
        return {
            key: [info.name, tf.as_dtype(info.dtype).name, shape(info)]
            for key, info in sorted(tensors.items())
        }

    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.loader.load(session, ["serve"], str(export))
        return {
            name: {
                "method": signature.method_name,
                "inputs": describe(signature.inputs),
                "outputs": describe(signature.outputs),
            }
            for name, signature in sorted(model.signature_def.items())
        }


def served(export: Path, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
    """Returns the outputs of the signatures with these inputs: ``SIGNATURE/KEY`` to a value.

    Classification and regression signatures name their only input ``inputs``.

    Raises:
      ValueError: no signature has these inputs.
    """
    outputs = {}
    only = {"inputs": next(iter(inputs.values()))} if len(inputs) == 1 else inputs
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.loader.load(session, ["serve"], str(export))
        for name, signature in model.signature_def.items():
            signature_inputs = only if set(signature.inputs) == {"inputs"} else inputs
            if set(signature.inputs) == set(signature_inputs):
                feeds = {
                    signature.inputs[key].name: value for key, value in signature_inputs.items()
                }
                fetches = {key: info.name for key, info in signature.outputs.items()}
                for key, value in session.run(fetches, feeds).items():
                    outputs[f"{name}/{key}"] = value
        if not outputs:
            raise ValueError(
                f"None of the signatures {sorted(model.signature_def)} has the inputs "
                f"{sorted(inputs)}: let the program's SERVED name those of one of them."
            )
    return outputs
