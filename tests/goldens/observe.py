"""What a run leaves behind, in a form that two runs can be compared by.

The same functions look at the original's folders when the golden files are made and at the
bridge's when they are compared.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["checkpoint_list", "event_tags", "files", "predictions", "shapes", "weights"]

EVENTS = "events.out.tfevents."


def files(model_dir: Path) -> list[str]:
    """Every file below a folder, sorted; an event file's time and host are left out of its name."""
    names = set()
    for path in model_dir.rglob("*"):
        if path.is_file():
            name = EVENTS + "*" if path.name.startswith(EVENTS) else path.name
            names.add(path.relative_to(model_dir).with_name(name).as_posix())
    return sorted(names)


def checkpoint_list(model_dir: Path) -> dict[str, Any]:
    """What the ``checkpoint`` file says, its paths as they are written there."""
    text = (model_dir / "checkpoint").read_text()
    return {
        "latest": re.findall(r'^model_checkpoint_path: "(.*)"$', text, re.MULTILINE)[0],
        "all": re.findall(r'^all_model_checkpoint_paths: "(.*)"$', text, re.MULTILINE),
    }


def shapes(prefix: str) -> dict[str, list[Any]]:
    """The variables of a checkpoint: name to [dtype, shape]."""
    reader = tf.train.load_checkpoint(prefix)
    types = reader.get_variable_to_dtype_map()
    found = reader.get_variable_to_shape_map()
    return {name: [types[name].name, list(found[name])] for name in sorted(found)}


def weights(prefix: str) -> dict[str, np.ndarray]:
    """The variables of a checkpoint: name to value, slots and global_step among them."""
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def event_tags(model_dir: Path) -> dict[str, dict[str, list[int]]]:
    """The summaries in each folder's event files: folder to tag to the steps written.

    Rates (``global_step/sec``, ``examples/sec``) are listed without steps: the original's counter
    fetches the global step while it is being raised, so one run writes at 9 and the next at 8.
    """
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(model_dir.rglob(EVENTS + "*")):
        folder = path.parent.relative_to(model_dir).as_posix()
        for event in tf.train.summary_iterator(str(path)):
            for value in event.summary.value:
                rate = value.tag.endswith("/sec")
                found[folder][value.tag] += [] if rate else [event.step]
    return {
        folder: {tag: sorted(steps) for tag, steps in sorted(tags.items())}
        for folder, tags in sorted(found.items())
    }


def predictions(examples) -> dict[str, np.ndarray]:
    """The dicts that ``predict`` yields, one an example, as one array a key."""
    rows = list(examples)
    return {key: np.stack([row[key] for row in rows]) for key in rows[0]}
