"""A refused release says what to correct."""

import pytest

from tooling.matrix.claims import PAIRS
from tooling.release import (
    IN_SDIST,
    ReleaseError,
    check_changelog,
    check_matrix,
    check_sdist,
    check_wheel,
)

WHEEL = [
    *("estimator_bridge/__init__.py", "estimator_bridge/py.typed"),
    *("estimator_bridge_contrib/__init__.py", "estimator_bridge_contrib/py.typed"),
    "eb-1.dist-info/METADATA",
]


def test_a_dated_entry_of_the_version_is_needed():
    check_changelog("# Changes\n\n## 1.2.0 (2026-03-04)\n", "1.2.0")
    with pytest.raises(ReleaseError, match=r"no entry '## 1.2.0'"):
        check_changelog("# Changes\n\n## 1.2.01 (2026-03-04)\n", "1.2.0")
    with pytest.raises(ReleaseError, match="by the date of the release"):
        check_changelog("# Changes\n\n## 1.2.0 (unreleased)\n", "1.2.0")


def test_each_claimed_pair_was_tested():
    held = {"checks": {"tests": {"passed": 3, "failed": [], "cpu_seconds": 1}}}
    failed = {"checks": {"tests": {"passed": 3, "failed": ["a"], "cpu_seconds": 1}}}
    rows = {pair.name: held for pair in PAIRS}
    check_matrix(rows)
    rows[PAIRS[0].name] = failed
    del rows[PAIRS[-1].name]
    with pytest.raises(ReleaseError, match=rf"row of {PAIRS[0].name}, {PAIRS[-1].name}\. Run"):
        check_matrix(rows)


def test_a_wheel_installs_the_package_alone():
    check_wheel(WHEEL)
    with pytest.raises(ReleaseError, match=r"also holds models.*make clean"):
        check_wheel([*WHEEL, "models/__init__.py"])
    with pytest.raises(ReleaseError, match=r"lacks estimator_bridge.py\.typed"):
        check_wheel([name for name in WHEEL if "typed" not in name])


def test_an_sdist_holds_the_project():
    names = [f"estimator_bridge-1/{name}" for name in IN_SDIST]
    check_sdist(names)
    with pytest.raises(ReleaseError, match=r"lacks Makefile; see MANIFEST\.in"):
        check_sdist([name for name in names if "Makefile" not in name])
