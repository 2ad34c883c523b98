"""The canned estimators' names, numbers, tags and signatures are those of the real tf.estimator."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from golden_values import same
from goldens.canned import canned_cases as cases

from estimator_bridge.legacy.api_modules import api_module_v1, api_module_v2

GOLDENS = Path(__file__).parents[1] / "goldens" / "canned"


GOLDEN = json.loads((GOLDENS / "canned.json").read_text())
FACES = {"v1": api_module_v1(), "v2": api_module_v2()}


@pytest.mark.parametrize("case", cases.CASES)
@pytest.mark.parametrize("face", cases.FACES)
def test_all_that_a_user_sees_is_the_originals(face, case):
    seen = cases.observe(FACES[face], face, case)
    same(seen, GOLDEN[face][case], case)


@pytest.mark.parametrize("face", cases.FACES)
def test_a_checkpoint_of_the_original_goes_on(face, tmp_path):
    shutil.copytree(GOLDENS / f"{face}_checkpoint", tmp_path / "model")
    seen = cases.resumed(FACES[face], face, str(tmp_path / "model"))
    same(seen, GOLDEN[face]["resumed"], face)
