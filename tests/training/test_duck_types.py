"""Objects that programs pass in need the public methods only, as under the real tf.estimator.

Savers, hooks, scaffolds, optimizers, heads and others that delegate, and mocks. The golden file,
and the program that made it, are in ``goldens/duck_types/``.
"""

import json
from pathlib import Path

import pytest
from golden_values import same
from goldens.duck_types import duck_cases

import estimator_bridge as eb

GOLDENS = Path(__file__).parents[1] / "goldens" / "duck_types"
RECORDED = json.loads((GOLDENS / "duck_types.json").read_text())


def test_every_case_has_a_golden():
    assert list(RECORDED) == list(duck_cases.CASES)


@pytest.mark.parametrize("name", RECORDED)
def test_objects_of_programs_work_as_with_the_original(name):
    same(duck_cases.run(name, eb), RECORDED[name], name)
