"""The supported versions are those of the matrix, and pages agree with its results."""

from __future__ import annotations

import dataclasses
import re

import documents
import pytest
import setuptools

from estimator_bridge.base import compatibility
from tooling.matrix import checks, page
from tooling.matrix.__main__ import sources
from tooling.matrix.claims import PAIRS, WHEELS, Pair, parse_pair

ROOT = documents.ROOT
FIRST, LAST = compatibility.OLDEST_TENSORFLOW, compatibility.FIRST_UNTESTED_TENSORFLOW
TENSORFLOWS = [f"2.{minor}" for minor in range(FIRST[1], LAST[1])]
ENDS = sorted({pair.python for pair in PAIRS}, key=lambda version: int(version[2:]))
PYTHONS = [f"3.{minor}" for minor in range(int(ENDS[0][2:]), int(ENDS[-1][2:]) + 1)]


@pytest.fixture(scope="module")
def recorded():
    return page.read_results()


@pytest.fixture
def setup_arguments(monkeypatch):
    captured = {}
    monkeypatch.setattr(setuptools, "setup", lambda **arguments: captured.update(arguments))
    monkeypatch.chdir(ROOT)
    exec(compile((ROOT / "setup.py").read_text(), str(ROOT / "setup.py"), "exec"),
         {"__name__": "setup", "__file__": str(ROOT / "setup.py")})  # fmt: skip
    return captured


def test_each_claimed_tensorflow_is_in_the_matrix():
    assert list(WHEELS) == TENSORFLOWS


def test_setup_claims_the_pythons_of_the_matrix(setup_arguments):
    above = f"3.{int(ENDS[-1][2:]) + 1}"
    assert setup_arguments["python_requires"] == f">={ENDS[0]},<{above}"
    prefix = "Programming Language :: Python :: 3."
    named = [name for name in setup_arguments["classifiers"] if name.startswith(prefix)]
    assert [name.rpartition(" ")[2] for name in named] == PYTHONS


@pytest.mark.parametrize("path", ["README.md", "docs/migration.md", "docs/versions.md"])
def test_pages_name_the_versions_of_the_matrix(path):
    text = " ".join((ROOT / path).read_text(encoding="utf-8").split())
    tensorflows = set(re.findall(r"TensorFlow (2\.\d+ to 2\.\d+)", text))
    pythons = set(re.findall(r"\b(3\.\d+ to 3\.\d+)", text))
    assert tensorflows == {f"{TENSORFLOWS[0]} to {TENSORFLOWS[-1]}"}
    assert pythons == {f"{ENDS[0]} to {ENDS[-1]}"}


def test_what_has_no_release_for_the_lowest_python_is_asked_for_above_it(setup_arguments):
    """With mypy unmarked, no installation of [tests] on Python 3.9 could be resolved."""
    (mypy,) = [name for name in setup_arguments["extras_require"]["tests"] if "mypy" in name]
    assert mypy.endswith("; python_version>='3.10'")


def test_make_takes_the_pythons_of_the_matrix():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    lowest, above = int(ENDS[0][2:]), int(ENDS[-1][2:]) + 1
    assert f"(3, {lowest}) <= sys.version_info < (3, {above})" in text
    assert f"TensorFlow {TENSORFLOWS[0]} to {TENSORFLOWS[-1]} needs {ENDS[0]} to {ENDS[-1]}" in text


def test_each_recorded_pair_is_claimed_and_held(recorded):
    """A release needs all of them: see tooling/release.py."""
    assert set(recorded) <= {pair.name for pair in PAIRS}
    for name, row in recorded.items():
        assert page.passed(row), f"{name}: {row['checks']}"


def test_each_row_has_the_versions_of_its_pair(recorded):
    for pair in PAIRS:
        if pair.name not in recorded:
            continue
        versions = recorded[pair.name]["versions"]
        for package, release in {
            "tensorflow": pair.tensorflow,
            "tf-keras": pair.tensorflow,
            "python": pair.python,
        }.items():
            assert versions[package].startswith(f"{release}."), (pair, package)


def test_the_page_is_made_from_the_results(recorded):
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.with_table(text, recorded) == text


def test_the_table_tells_which_pairs_were_run():
    check = {"passed": 20, "failed": [], "cpu_seconds": 30}
    versions = {"tensorflow": "2.16.2", "python": "3.9.18", "tf-keras": "2.16.0", "numpy": "1.26.4"}
    environment = {"seconds": 78, "megabytes": 2206}
    row = {
        "versions": versions,
        "environment": environment,
        "checks": {"tests": check, "train": check},
    }
    lines = page.table({"tf2.16-py3.9": row}).splitlines()
    assert lines[2] == (
        "| 2.16.2 | 3.9.18 | 2.16.0 | 1.26.4 | 20 passed, 0 failed | 20 steps | 60 s "
        "| 78 s, 2.2 GB |"
    )
    assert [line for line in lines if "not run yet" in line] == lines[3:]
    assert len(lines[3:]) == len(PAIRS) - 1


def test_a_row_with_a_failure_or_with_nothing_run_does_not_pass():
    held = dataclasses.asdict(checks.Result(3, (), 1))
    failed = dataclasses.asdict(checks.Result(3, ("tests.test_x::test_y",), 1))
    nothing = dataclasses.asdict(checks.Result(0, (), 1))
    assert page.passed({"checks": {"tests": held, "train": held}})
    assert not page.passed({"checks": {"tests": held, "train": failed}})
    assert not page.passed({"checks": {"tests": nothing, "train": held}})


def test_pairs_are_read_from_the_command_line():
    assert parse_pair("2.20:3.13") == Pair("2.20", "3.13")
    with pytest.raises(ValueError, match=r"'2.16:3.13' is not a pair.*2.16:3.9, 2.16:3.12"):
        parse_pair("2.16:3.13")


def test_the_digest_follows_the_library(monkeypatch, tmp_path):
    monkeypatch.setattr("tooling.matrix.__main__.ROOT", tmp_path)
    module = tmp_path / "estimator_bridge" / "a.py"
    module.parent.mkdir()
    module.write_text("x = 1\n")
    before = sources()
    module.write_text("x = 2\n")
    assert sources() != before
    module.write_text("x = 1\n")
    assert sources() == before
