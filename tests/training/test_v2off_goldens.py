"""Values of variables with v2 behavior off, compared with two originals.

The golden files hold what TensorFlow 2.15.1 with v2 behavior off and TensorFlow 1.15.5 showed in
each of several runs; see ``goldens/v2off/make_v2off.py``.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GOLDENS = Path(__file__).parents[1] / "goldens" / "v2off"
EXPECTED = {
    name: json.loads((GOLDENS / f"seen_{name}.json").read_text()) for name in ("2_15_1", "1_15_5")
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    path = tmp_path_factory.mktemp("v2off") / "seen.json"
    done = subprocess.run(
        [sys.executable, str(GOLDENS / "v2off_cases.py"), str(path), "--bridge"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return json.loads(path.read_text())


def _close(got, expected):
    if isinstance(expected, dict):
        return got.keys() == expected.keys() and all(_close(got[k], expected[k]) for k in expected)
    if isinstance(expected, list):
        return len(got) == len(expected) and all(map(_close, got, expected))
    return got == (pytest.approx(expected, rel=2e-6) if isinstance(expected, float) else expected)


@pytest.mark.parametrize("original", EXPECTED)
@pytest.mark.parametrize("name", EXPECTED["2_15_1"])
def test_a_program_sees_what_it_saw(seen, name, original):
    assert _close(seen[name], EXPECTED[original][name]), (seen[name], EXPECTED[original][name])
