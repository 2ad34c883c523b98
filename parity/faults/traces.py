"""Reads the results of a training in its model_dir, to compare two trainings bit for bit."""

from __future__ import annotations

import collections
import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from parity.environment import IS_ORIGINAL, tf

__all__ = ["differences", "traces_of"]

_STAMP = re.compile(r"\b\d{10}\b")


def traces_of(folder: Path) -> dict[str, Any]:
    """Returns the results of a training.

    Args:
      folder: its model_dir, in which no training runs.

    Returns:
      JSON: the `values` of the newest checkpoint as hashes, the text of `checkpoint` as
      `checkpoints`, the names of all `files` except event files, without times; the values of
      `summaries` by folder, tag and step, the `exports` with the hashes of their variables, and
      the `next` examples of the input.
    """
    from parity.faults.killing_programs import next_examples

    newest = tf.train.latest_checkpoint(str(folder))
    state = tf.train.get_checkpoint_state(str(folder))
    listed_checkpoints = (
        [state.model_checkpoint_path, *state.all_model_checkpoint_paths] if state else []
    )
    step = newest.rpartition("-")[2] if newest else ""
    position = folder / f"input.ckpt-{step}"
    has_position = position.with_name(position.name + ".index").exists() and not IS_ORIGINAL
    return {
        "values": _hashes(newest) if newest else {},
        "checkpoints": [Path(path).name for path in listed_checkpoints],
        "files": sorted(_files(folder)),
        "summaries": {
            str(place.relative_to(folder)): _summaries(place, folder)
            for place in sorted({path.parent for path in folder.rglob("*.tfevents.*")})
        },
        "exports": {
            path.name: [
                _hashes(f"{export}/variables/variables")
                for export in sorted(path.iterdir())
                if _STAMP.fullmatch(export.name)
            ]
            for path in sorted(folder.glob("export/*"))
        },
        "next": next_examples(str(position)) if has_position else [],
    }  # fmt: skip


def _files(folder: Path) -> Iterable[str]:
    for path in folder.rglob("*"):
        if path.is_file() and "tfevents" not in path.name:
            yield _STAMP.sub("TIME", str(path.relative_to(folder)))


def _hashes(prefix: str) -> dict[str, str]:
    reader = tf.train.load_checkpoint(prefix)
    return {
        name: hashlib.sha256(reader.get_tensor(name).tobytes()).hexdigest()[:16]
        for name in sorted(reader.get_variable_to_shape_map())
    }


def _summaries(place: Path, folder: Path) -> dict[str, list[list[Any]]]:
    """Returns the steps and values of each tag, as TensorBoard shows them.

    A run that begins at a step replaces the values that earlier runs wrote from that step on. Two
    values of a tag at one step are both returned, because a step must not be written twice.
    """
    points_by_tag: dict[str, list[list[Any]]] = {}
    files = sorted(place.glob("*.tfevents.*"), key=lambda path: path.stat().st_mtime_ns)
    for file in files:
        for event in _events(file):
            is_start = event.session_log.status == tf.compat.v1.SessionLog.START
            if event.HasField("session_log") and is_start:
                for tag, points in points_by_tag.items():
                    points_by_tag[tag] = [point for point in points if point[0] < event.step]
            for value in event.summary.value:
                number = tf.make_ndarray(value.tensor) if value.HasField("tensor") else None
                text = str(value.simple_value if number is None else number)
                text = text.replace(str(folder), "")
                points_by_tag.setdefault(value.tag, []).append([event.step, text])
    return {tag: sorted(points) for tag, points in sorted(points_by_tag.items())}


def _events(file: Path) -> Iterable[Any]:
    try:
        yield from tf.compat.v1.train.summary_iterator(str(file))
    except tf.errors.DataLossError:  # a killed process was writing an event
        return


def differences(one: Mapping[str, Any], right: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the differences between two trainings' traces; [] if there are none.

    Args:
      one: the traces of an undisturbed run.
      right: the traces of another run.

    Returns:
      Pairs of a kind of difference and its place.
    """
    pairs = [
        (f"other {kind}", "")
        for kind in ("values", "checkpoints", "exports", "next")
        if one[kind] != right[kind]
    ]
    expected_files, actual_files = (
        collections.Counter(one["files"]),
        collections.Counter(right["files"]),
    )
    pairs += [("lacks files", name) for name in sorted(expected_files - actual_files)]
    pairs += [("leftovers", name) for name in sorted(actual_files - expected_files)]
    for place, tags in one["summaries"].items():
        others = right["summaries"].get(place, {})
        for tag, points in tags.items():
            pairs += _of_points(f"{place}/{tag}", points, others.get(tag, []))
    return pairs


def _of_points(where: str, expected_points: Any, actual_points: Any) -> Iterable[tuple[str, str]]:
    steps = [step for step, _ in actual_points]
    missing_steps = [step for step, _ in expected_points if step not in steps]
    if len(set(steps)) < len(steps):
        yield "summaries twice", f"{where} {steps}"
    if missing_steps:
        yield "summaries lost", f"{where} {missing_steps}"
    values = dict(map(tuple, expected_points))
    if any(values.get(step) != value for step, value in actual_points):
        yield "other summaries", where
