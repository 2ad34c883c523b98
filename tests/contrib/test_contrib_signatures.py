"""Each public callable of tf.contrib that is here accepts the arguments of 1.15.5."""

import json
import os
import subprocess
import sys

import pytest
from contrib_goldens.differences import OTHER_ARGUMENTS, OTHER_ARGUMENTS_OF_TENSORFLOW
from golden_tables import DOCS, HERE, SIGNATURES, compared_arguments

FOLDER = HERE / "contrib_goldens" / "signatures"
RECORDED = json.loads((FOLDER / "contrib_signatures.json").read_text())
DIFFERENT = {
    name
    for reasons in (OTHER_ARGUMENTS, OTHER_ARGUMENTS_OF_TENSORFLOW)
    for names in reasons.values()
    for name in names.split()
}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    path = tmp_path_factory.mktemp("signatures") / "here.json"
    subprocess.run(
        [
            *[sys.executable, "-m", "estimator_bridge", "run", "--tf1"],
            *["-m", "contrib_goldens.signatures.make_contrib_signatures", str(path)],
        ],
        cwd=HERE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        timeout=600,
        check=True,
    )
    return json.loads(path.read_text())


def test_arguments_of_1_15_5_are_accepted(here):
    different = set()
    count = 0
    for namespace, functions in RECORDED.items():
        for name in functions.keys() & here.get(namespace, {}).keys():
            count += 1
            ours, theirs = compared_arguments(here[namespace][name], functions[name])
            if ours != theirs:
                different.add(f"{namespace}.{name}")
    assert different == DIFFERENT & {f"{n}.{each}" for n in RECORDED for each in RECORDED[n]}
    assert count > 1100


def test_the_page_has_each_name_whose_arguments_differ():
    page = (DOCS / "differences.md").read_text()
    assert [name for name in sorted(DIFFERENT) if f"`contrib.{name}`" not in page] == []


def test_recorded_arguments_are_those_of_the_cases():
    for full, row in SIGNATURES.items():
        namespace, _, name = full.rpartition(".")
        assert RECORDED.get(namespace, {}).get(name, row) == row
