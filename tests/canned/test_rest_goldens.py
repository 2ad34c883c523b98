"""RNN, k-means and SDCA estimators continue from weights as the real tf.estimator does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from golden_values import same
from goldens.canned import rest_cases as cases

from estimator_bridge.legacy.api_modules import api_module_v1, api_module_v2

GOLDENS = Path(__file__).parents[1] / "goldens" / "canned"


GOLDEN = json.loads((GOLDENS / "rest.json").read_text())
FACES = {"v1": api_module_v1(), "v2": api_module_v2()}


@pytest.mark.parametrize("case", cases.CASES)
def test_what_a_user_sees_is_the_originals(case):
    face = cases.CASES[case][0]
    golden = dict(GOLDEN[face][case])
    seen = cases.observe(FACES[face], case, golden.pop("start"))
    same(seen, golden, case)


@pytest.mark.parametrize("case", cases.CASES)
def test_new_variables_have_the_originals_names_shapes_and_types(case):
    face = cases.CASES[case][0]
    expected = GOLDEN[face][case]["start"]
    actual = cases.start(FACES[face], case)
    described = [
        {name: (kind, np.shape(value)) for name, (kind, value) in side.items()}
        for side in (actual, expected)
    ]
    assert described[0] == described[1]
    if "kmeans" in case:  # its seeds are of its own
        values = [
            {k: v for k, v in side.items() if k != cases.RACES.get(case)}
            for side in (actual, expected)
        ]
        same(values[0], values[1], case)
