"""Private names of Estimator's modules: what libraries import, beside TensorFlow 2.15's own.

The golden files, and the program that made them, are in ``goldens_library/``.
"""

from __future__ import annotations

import json
from pathlib import Path

import engine
import pytest

GOLDENS = Path(__file__).parents[1] / "goldens_library"
PARAMETERS = json.loads((GOLDENS / "parameters.json").read_text())
EXPECTED = json.loads((GOLDENS / "library.json").read_text())

OBSERVE = """
    import json, sys
    import estimator_bridge
    estimator_bridge.install()
    sys.path.insert(0, sys.argv[1])
    import library_cases
    from estimator_bridge.legacy.library.names import LIBRARY_NAMES
    found = {
        f"{path}.{name}": library_cases.parameters(getattr(library_cases.module(path), name))
        for path, names in LIBRARY_NAMES.items() for name in names
    }
    print("FOUND " + json.dumps([found, library_cases.run_all()]))
"""


@pytest.fixture(scope="module")
def observed():
    lines = engine.run_program(OBSERVE, [str(GOLDENS)])
    (found,) = [line for line in lines if line.startswith("FOUND ")]
    return json.loads(found[len("FOUND ") :])


def test_every_name_is_called_as_in_the_original(observed):
    parameters, _ = observed
    assert list(parameters) == sorted(parameters, key=list(parameters).index)
    assert set(parameters) == set(PARAMETERS), "run goldens_library/make_library.py again"
    differing = {
        name: (found, PARAMETERS[name])
        for name, found in parameters.items()
        if PARAMETERS[name] not in (found, "not in 2.15")
    }
    assert differing == {}


@pytest.mark.parametrize("case", EXPECTED)
def test_names_behave_as_in_the_original(observed, case):
    def same(here, there):
        if isinstance(there, float) and isinstance(here, (int, float)):
            return here == pytest.approx(there, rel=1e-3, abs=1e-5)
        if isinstance(there, dict) and isinstance(here, dict):
            if "error" in there:
                return here.get("error") == there["error"]
            return here.keys() == there.keys() and all(same(here[k], there[k]) for k in there)
        if isinstance(there, list) and isinstance(here, list):
            return len(here) == len(there) and all(map(same, here, there))
        return here == there

    here, there = observed[1][case], EXPECTED[case]
    assert same(here, there), f"here: {here}\nthere: {there}"
