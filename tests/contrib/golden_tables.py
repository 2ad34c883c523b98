"""The recorded cases of tf.contrib, run here, and what differs from TensorFlow 1.15.5.

A group of tables runs in one process, as a TF1 program under `estimator-bridge run --tf1`.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

from contrib_goldens.differences import ACCIDENTAL, DIFFERENT, OTHER_ARGUMENTS

__all__ = [
    "CASES",
    "DOCS",
    "HERE",
    "REASONS",
    "RECORDED",
    "SIGNATURES",
    "Group",
    "check_arguments",
    "check_case",
    "compared_arguments",
]

HERE = Path(__file__).parent
DOCS = Path(__file__).parents[2] / "docs" / "contrib"
RECORDED = {
    path.stem: json.loads(path.read_text())
    for path in sorted((HERE / "contrib_goldens").glob("*.json"))
}
CASES = {name: case for table in RECORDED.values() for name, case in table["cases"].items()}
SIGNATURES = {name: row for table in RECORDED.values() for name, row in table["signatures"].items()}
REASONS = {
    name.strip(): reason
    for reason, names in DIFFERENT.items()
    for name in names.strip().split("\n")
}
# The start of a table's name, by the group of tables that it is in; "" is that of all others.
_STARTS = {"learn": ("learn", "estimators", "factorization"), "rnn": ("rnn",)}
_STARTS["seq2seq"] = ("seq2seq", "legacy_seq2seq")
_STARTS["timeseries"] = ("timeseries",)
_STARTS["distributions"] = ("distribution", "bijectors", "multivariate_normals", "sinh_arcsinh")
_STARTS["models"] = ("quantize", "model_pruning", "constrained_optimization", "layers")


class Group:
    """Some of the tables, which one test file compares.

    Args:
      name: a key of _STARTS, or "" for the tables that are in no other group.

    Attributes:
      tables: the tables' names.
      cases: the names of their cases, sorted.
      signatures: the names of their callables, sorted.
    """

    def __init__(self, name=""):
        others = tuple(start for starts in _STARTS.values() for start in starts)
        starts = _STARTS.get(name, others)
        self.tables = [
            each
            for each in RECORDED
            if each.startswith(starts) == bool(name) and each != "absent"  # recorded only
        ]
        self.cases, self.signatures = (
            sorted(row for each in self.tables for row in RECORDED[each][part])
            for part in ("cases", "signatures")
        )

    def run(self, folder):
        """Returns what the tables' cases gave here: "cases" and "signatures", each by name."""
        done = subprocess.run(
            [
                *[sys.executable, "-m", "estimator_bridge", "run", "--tf1"],
                *["-m", "contrib_goldens.run_cases", str(folder), *self.tables],
            ],
            cwd=HERE,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                # As in 1.15.5. TensorFlow 2.21's corrupts memory at times, see docs/versions.md.
                "TF_ENABLE_ONEDNN_OPTS": "0",
            },
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-5000:]
        tables = [json.loads((folder / f"{name}.json").read_text()) for name in self.tables]
        results = {
            part: {name: row for table in tables for name, row in table[part].items()}
            for part in ("cases", "signatures")
        }
        new = results["cases"].keys() - set(self.cases)
        assert not new, f"record under TensorFlow 1.15.5, see run_cases.py: {sorted(new)}"
        return results


def close(got, expected):
    """Whether two observations are the same, up to rounding and to accidental names."""
    if isinstance(expected, dict):
        return (
            isinstance(got, dict)
            and got.keys() == expected.keys()
            and all(close(got[key], expected[key]) for key in expected)
        )
    if isinstance(expected, list):
        return (
            isinstance(got, list) and len(got) == len(expected) and all(map(close, got, expected))
        )
    if isinstance(expected, float) and isinstance(got, (int, float)):
        return math.isclose(got, expected, rel_tol=2e-4, abs_tol=2e-5)
    if isinstance(expected, str) and isinstance(got, str) and is_accidental(expected):
        return True
    return got == expected


def is_accidental(name):
    return name.rpartition("/")[2].partition(":")[0].rstrip("_0123456789") in ACCIDENTAL


def differing(got, expected):
    """The parts that differ, as pairs of this library's and the original's."""
    if "error" in expected or "error at run time" in expected:
        kinds = expected.get("error") or expected["error at run time"]
        raised = got.get("error") or got.get("error at run time") or []
        return {} if kinds[0] in raised else {"error": (raised or "none", kinds)}
    parts = (got.keys() | expected.keys()) - {"text"}
    return {
        part: (got.get(part), expected.get(part))
        for part in parts
        if not close(got.get(part), expected.get(part))
    }


def check_case(seen, name):
    """Asserts that a case gave what the original gave, or differs if differences.py lists it."""
    differences = differing(seen["cases"][name], CASES[name])
    if name in REASONS:
        assert differences, f"does not differ: take it out of differences.py ({REASONS[name]})"
    else:
        assert not differences, seen["cases"][name].get("text")


def compared_arguments(ours, named):
    """Returns what is compared of two signatures; further parameters at the end are left out."""

    def plain(row):
        """Names of starred parameters say nothing, and a class may be a function here."""
        return [each for each in row if each != "self" and not each.startswith("*")]

    ours, named = plain(ours), plain(named)
    objects = [each.endswith("=an object") for each in named]  # such a default says nothing
    here, there = (
        [each.partition("=")[0] if is_object else each for each, is_object in zip(row, objects)]
        for row in (ours, named)
    )
    return here, there


def check_arguments(seen, name):
    """Asserts that a callable has the original's parameters, or differs as differences.py lists."""
    here, there = compared_arguments(seen["signatures"][name], SIGNATURES[name])
    if any(name in names.split() for names in OTHER_ARGUMENTS.values()):
        assert here != there, "does not differ: take it out of OTHER_ARGUMENTS"
    else:
        assert here == there
