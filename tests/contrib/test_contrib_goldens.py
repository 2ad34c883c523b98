"""tf.contrib beside TensorFlow 1.15.5: each case gives what was recorded there.

The cases run in one process, as a TF1 program under `estimator-bridge run --tf1`.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from goldens.contrib.differences import ACCIDENTAL, DIFFERENT, WITHOUT_A_CASE

from estimator_bridge.legacy.contrib.namespaces import NAMESPACES

TESTS = Path(__file__).parents[1]
RECORDED = {
    path.stem: json.loads(path.read_text())
    for path in sorted((TESTS / "goldens" / "contrib").glob("*.json"))
}
CASES = {name: case for table in RECORDED.values() for name, case in table["cases"].items()}
SIGNATURES = {name: row for table in RECORDED.values() for name, row in table["signatures"].items()}
REASONS = {
    name.strip(): reason
    for reason, names in DIFFERENT.items()
    for name in names.strip().split("\n")
}
EXCUSED = {name: reason for reason, names in WITHOUT_A_CASE.items() for name in names.split()}


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("contrib")
    done = subprocess.run(
        [
            *[sys.executable, "-m", "estimator_bridge.cli", "run", "--tf1"],
            *["-m", "goldens.contrib.run_cases", str(folder), *RECORDED],
        ],
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    tables = [json.loads((folder / f"{name}.json").read_text()) for name in RECORDED]
    return {
        "cases": {name: row for table in tables for name, row in table["cases"].items()},
        "signatures": {name: row for table in tables for name, row in table["signatures"].items()},
    }


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
        wanted = expected.get("error") or expected["error at run time"]
        raised = got.get("error") or got.get("error at run time") or []
        return {} if wanted[0] in raised else {"error": (raised or "none", wanted)}
    parts = (got.keys() | expected.keys()) - {"text"}
    return {
        part: (got.get(part), expected.get(part))
        for part in parts
        if not close(got.get(part), expected.get(part))
    }


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_case_gives_what_the_original_gave(seen, name):
    found = differing(seen["cases"][name], CASES[name])
    if name in REASONS:
        assert found, f"does not differ: take it out of differences.py ({REASONS[name]})"
    else:
        assert not found, seen["cases"][name].get("text")


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_arguments_are_those_of_the_original(seen, name):
    def plain(row):
        """Names of starred parameters say nothing, and a class may be a function here."""
        return [each for each in row if each != "self" and not each.startswith("*")]

    named, ours = plain(SIGNATURES[name]), plain(seen["signatures"][name])
    objects = [each.endswith("=an object") for each in named]  # such a default says nothing
    cut = [
        [each.partition("=")[0] if is_object else each for each, is_object in zip(row, objects)]
        for row in (named, ours)
    ]
    assert cut[0] == cut[1]


def own_callables():
    """The callables that this library wrote, by full name: whether a case covers each."""
    covered = {name.partition(":")[0] for name in CASES}
    places = places_of(covered)
    return {
        f"{namespace}.{name}": f"{namespace}.{name}" in covered or place in places
        for namespace, found in NAMESPACES.items()
        if namespace != "slim"  # it has the names of layers, framework, losses and metrics
        for name, place in found.places.items()
        if place.startswith(("estimator_bridge.contrib", "estimator_bridge.legacy"))
        and callable(found.find(name))
    }


def test_every_own_callable_has_a_case():
    without = {name for name, is_covered in own_callables().items() if not is_covered}
    assert without == set(EXCUSED), "WITHOUT_A_CASE lists the callables without a case"


def test_the_page_counts_the_callables():
    own = own_callables()
    counted = f"Callables compared: {sum(own.values())} of {len(own)}."
    assert counted in (TESTS.parent / "docs" / "conformance.md").read_text(), counted


def places_of(names):
    """The paths of names: two names of one object need one case."""
    found = set()
    for full in names:
        namespace, _, name = full.rpartition(".")
        if namespace in NAMESPACES and name in NAMESPACES[namespace].places:
            found.add(NAMESPACES[namespace].places[name])
    return found


def test_reasons_name_cases():
    assert set(REASONS) <= set(CASES)
