"""The selections of tests: chosen by rules from recorded times, and up to date."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.selections import choice
from tooling.selections.recorder import write_seconds

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "selections"
SELECTIONS = ("core.txt", "every_room.txt", "fast.txt")
# `compile_for` needs jax, which the matrix does not install, and a compiler's minutes; the alias of
# `contrib` is tested with tf.contrib, beside the core.
WITHOUT = {
    "every_room.txt": {"compile_for"},
    "core.txt": {"compile_for", "contrib"},
}
# Packages whose tests are not named after them.
TESTED_IN = {
    "base": ("tests/test_compatibility.py", "tests/test_tpu_presence.py"),
    "commands": ("tests/test_cli.py", "tests/doctor/"),
    "v1": ("tests/test_api_modules.py",),
}


def entries(selection):
    return (FOLDER / selection).read_text(encoding="utf-8").splitlines()


def names_of_tests(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("selection", SELECTIONS)
def test_each_entry_exists_and_comes_once(selection):
    listed = entries(selection)
    assert len(set(listed)) == len(listed)
    for entry in listed:
        file, _, test = entry.partition("::")
        assert (ROOT / file).exists(), f"{selection}: {entry}"
        assert not test or test.partition("[")[0] in names_of_tests(ROOT / file), entry


@pytest.mark.parametrize("selection", ["core.txt", "every_room.txt"])
def test_each_package_of_the_library_is_in_it(selection):
    listed = entries(selection)
    packages = {path.parent.name for path in (ROOT / "estimator_bridge").glob("*/__init__.py")}
    for package in sorted(packages - WITHOUT[selection]):
        tested_in = TESTED_IN.get(package, (f"tests/{package}/", f"tests/test_{package}.py"))
        assert any(entry.startswith(tested_in) for entry in listed), f"{selection} lacks {package}"


def test_they_are_what_the_rules_choose_from_the_recorded_times():
    seconds = json.loads((FOLDER / "seconds.json").read_text(encoding="utf-8"))
    assert entries("core.txt") == choice.core(seconds), "run: python -m tooling.selections"
    assert entries("fast.txt") == choice.fast(seconds), "run: python -m tooling.selections"


FILES = st.builds(
    "tests/{}/test_{}.py".format,
    st.sampled_from(["graph", "tpu", "faults", "models"]),
    st.integers(0, 20),
)


@given(st.dictionaries(FILES, st.floats(0, 400, allow_nan=False)))
def test_a_selection_keeps_its_budget_and_leaves_no_package_out(seconds):
    core = choice.core(seconds)
    assert core == choice.longest_first(core, seconds)
    assert not [file for file in core if file.startswith(choice.NOT_CORE)]
    packages = {choice.package_of(f) for f in seconds if not f.startswith(choice.NOT_CORE)}
    assert {choice.package_of(file) for file in core} == packages
    beyond_the_cheapest = len(core) > len(packages)
    assert not beyond_the_cheapest or sum(seconds[f] for f in core) <= choice.CORE_SECONDS
    assert all(seconds[file] <= choice.FAST_FILE_SECONDS for file in choice.fast(seconds))


TEST_FILE = """
import subprocess, sys

def test_of_this_process():
    sum(range(3_000_000))

def test_of_a_child():
    subprocess.run([sys.executable, "-c", "sum(range(6_000_000))"], check=True)
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_the_recorder_counts_each_file_and_its_children(tmp_path, processes):
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(TEST_FILE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tooling.selections.recorder"]
    command += ["--record-seconds", "seconds.json", "--numprocesses", processes, "--rootdir", "."]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    result = subprocess.run(
        [*command, "--dist", "loadfile", "test_a.py", "test_b.py"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    seconds = json.loads((tmp_path / "seconds.json").read_text())
    assert set(seconds) == {"test_a.py", "test_b.py"}
    assert all(value > 0 for value in seconds.values())


def test_a_run_of_some_files_keeps_the_times_of_others_that_exist(tmp_path):
    (tmp_path / "test_a.py").touch()
    output = tmp_path / "seconds.json"
    output.write_text('{"test_a.py": 3.0, "test_b.py": 4.0, "test_gone.py": 5.0}')
    (tmp_path / "test_b.py").touch()
    write_seconds(output, {"test_b.py": 1.26}, tmp_path)
    assert json.loads(output.read_text()) == {"test_a.py": 3.0, "test_b.py": 1.3}
