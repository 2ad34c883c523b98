"""Reads and writes files of scores: counts, and the names of failing tests."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from parity.harness.outcomes import FileResult

__all__ = [
    "HERE",
    "HERE_2_CORES",
    "HERE_2_ON_JAX",
    "ORIGINAL",
    "REASONS",
    "Scores",
    "load",
    "load_json",
    "save",
    "update",
    "write_lines",
]

_FOLDER = Path(__file__).resolve().parents[1]
ORIGINAL = _FOLDER / "conformance_original.json"
HERE = _FOLDER / "conformance_here.json"
HERE_2_CORES = _FOLDER / "conformance_here_2_cores.json"  # of the TPU's files only
HERE_2_ON_JAX = _FOLDER / "conformance_here_2_on_jax.json"  # of these too
REASONS = _FOLDER / "conformance_reasons.json"

Scores = dict[str, dict[str, dict[str, Any]]]  # by file and mode; see FileResult.as_json


def load(path: Path) -> Scores:
    """Returns the scores in a file; none if the file does not exist."""
    return load_json(path)


def update(path: Path, results: Iterable[FileResult]) -> None:
    """Writes scores to a file, replacing those of the same test file and mode."""
    scores = load(path)
    for result in results:
        scores.setdefault(result.file, {})[result.mode] = result.as_json()
    path.write_text(_as_text(scores), encoding="utf-8")


def _as_text(scores: Scores) -> str:
    """Returns JSON with one line for each test, so that a changed test changes one line."""
    runs = []
    for file in sorted(scores):
        for mode in sorted(scores[file]):
            counts = dict(scores[file][mode])
            entries = [f"{_dump(test)}:{_dump(why)}" for test, why in counts.pop("failed").items()]
            failures = f"{{\n{_lines(entries)}}}" if entries else "{}"
            runs.append((file, f'"{mode}":{_dump(counts)[:-1]},"failed":{failures}}}'))
    files = [
        f"{_dump(file)}:{{\n{_lines(run for f, run in runs if f == file)}}}"
        for file in sorted(scores)
    ]
    return f"{{\n{_lines(files)}}}\n"


def load_json(path: Path) -> dict[str, Any]:
    """Returns the content of a file of JSON; none if the file does not exist."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_lines(path: Path, content: dict[str, Any]) -> None:
    """Writes JSON with a line for each key, sorted."""
    lines = [f"{_dump(key)}:{_dump(content[key])}" for key in sorted(content)]
    path.write_text(f"{{\n{_lines(lines)}}}\n", encoding="utf-8")


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _lines(items: Iterable[str]) -> str:
    return "".join(f"{item},\n" for item in items).removesuffix(",\n") + "\n"


def save(path: Path, results: Iterable[FileResult]) -> None:
    """Writes all outcomes with their tracebacks, for reading; they are not committed."""
    content = [
        {"file": r.file, "mode": r.mode, **dataclasses.asdict(o), "kind": o.kind}
        for r in results
        for o in r.outcomes
    ]
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
