"""The canned estimators' names, numbers, tags and signatures are those of the real tf.estimator."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from estimator_bridge.legacy.faces import face_v1, face_v2

GOLDENS = Path(__file__).parents[1] / "goldens_canned"
sys.path.insert(0, str(GOLDENS))  # scripts: they run under TF 2.15 too, without this package

import canned_cases as cases  # noqa: E402

GOLDEN = json.loads((GOLDENS / "canned.json").read_text())
FACES = {"v1": face_v1(), "v2": face_v2()}


def same(ours, theirs, where):
    """Asserts that two JSON values are the same, numbers to the accuracy of float32."""
    if isinstance(theirs, dict):
        assert sorted(ours) == sorted(theirs), where
        for key, value in theirs.items():
            same(ours[key], value, f"{where}/{key}")
    elif isinstance(theirs, list) and theirs and isinstance(theirs[0], (dict, str)):
        assert len(ours) == len(theirs), where
        for number, value in enumerate(theirs):
            same(ours[number], value, f"{where}/{number}")
    elif isinstance(theirs, str):
        assert ours == theirs, where
    else:
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6, err_msg=where)


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
