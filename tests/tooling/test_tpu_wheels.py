"""The tables of tensorflow-tpu and of wrong environments agree with their recorded results."""

import pytest

from estimator_bridge.base.tpu_wheels import libtpu_command, unfit_libtpu
from tooling.matrix import tpu_wheels, wrong_environments


@pytest.mark.parametrize("tool", [tpu_wheels, wrong_environments])
def test_the_page_has_the_recorded_table(tool):
    page = tool.PAGE.read_text(encoding="utf-8")
    assert tool.with_table(page, tool.read_results()) == page


def results_by_libtpu():
    for name, row in tpu_wheels.read_results().items():
        wheel, _, python = name.partition(":")
        for libtpu, result in row["libtpu"].items():
            yield wheel, tuple(map(int, python.split("."))), libtpu, result["outcome"]


def test_doctor_warns_of_each_libtpu_that_ended_the_process():
    results = list(results_by_libtpu())
    # On some Pythons a wheel ends the process whatever libtpu there is.
    broken = {(w, p) for w, p, libtpu, o in results if (libtpu, o) == (tpu_wheels.NONE, "ends")}
    ending = [
        (wheel, libtpu)
        for wheel, python, libtpu, outcome in results
        if outcome == "ends" and (wheel, python) not in broken
    ]
    assert len(ending) > 10
    for wheel, libtpu in ending:
        assert f"ends the process when it is imported with libtpu {libtpu}" in unfit_libtpu(
            wheel, libtpu
        )


def test_doctor_lets_each_libtpu_that_was_imported_be():
    for wheel, _, libtpu, outcome in results_by_libtpu():
        if outcome == "imports" and libtpu != tpu_wheels.NONE:
            assert unfit_libtpu(wheel, libtpu) is None


@pytest.mark.parametrize("wheel", ["2.16.2", "2.17.1"])
def test_a_wheel_for_which_no_libtpu_was_found_is_to_be_replaced(wheel):
    recorded = [libtpu for w, _, libtpu, o in results_by_libtpu() if (w, o) == (wheel, "imports")]
    assert set(recorded) == {tpu_wheels.NONE}
    for text in (unfit_libtpu(wheel, "0.0.20"), libtpu_command(wheel)):
        assert text.endswith('tensorflow_for_tpu" && pip install "tf-keras~=2.20.0"')


def test_the_advised_libtpu_was_imported_with_each_python():
    imported = {
        (wheel, python, libtpu)
        for wheel, python, libtpu, outcome in results_by_libtpu()
        if outcome == "imports" and libtpu != tpu_wheels.NONE
    }
    pairs = {(wheel, python) for wheel, python, _ in imported}
    assert ("2.20.0", (3, 12)) in pairs
    for wheel, python in pairs:
        libtpu = libtpu_command(wheel, python).rpartition("==")[2]
        assert (wheel, python, libtpu) in imported


def test_a_cell_has_the_tried_releases_in_their_order():
    row = {
        "libtpu": {
            "0.0.52": {"outcome": "ends"},
            "none": {"outcome": "imports"},
            "0.0.9": {"outcome": "imports"},
            "0.0.10": {"outcome": "imports"},
            "0.0.31": {"outcome": "not on the index for this Python"},
        }
    }
    assert tpu_wheels.cell(row, imports=True) == "none, 0.0.9, 0.0.10"
    assert tpu_wheels.cell(row, imports=False) == "0.0.52"


def test_the_lines_of_a_page_are_those_of_the_block_with_the_stand_in():
    page = "```sh\npip a\n```\n```sh\npip b\npip install x/tensorflow_for_tpu\nls\n```\n"
    lines = wrong_environments.documented_lines(page)
    assert lines == ["pip b", "pip install x/tensorflow_for_tpu"]


def test_the_lines_of_a_report_are_its_last_ones_or_those_of_a_note():
    problems = "Problems\n  to fix  a. Run: x\n\n"
    report = f"{problems}Run these lines, in this order\n  pip a\n  pip b\n\nNot ready"
    assert wrong_environments.advice_of(report) == ["pip a", "pip b"]
    note = "Problems\n  note  tensorflow-tpu finds no TPU without libtpu. Run: pip c\n\nReady"
    assert wrong_environments.advice_of(note) == ["pip c"]


def test_the_lines_of_the_page_are_those_that_were_typed():
    page = wrong_environments.PAGE.read_text(encoding="utf-8")
    row = wrong_environments.read_results()[wrong_environments.AS_DOCUMENTED]
    assert row["installed_by"] == wrong_environments.documented_lines(page)
    assert any("tensorflow_for_tpu" in line for line in row["installed_by"])
    assert row["import"]["outcome"] == "imports" and row["import"]["kernels"]


def test_at_least_ten_environments_were_made_wrong():
    rows = wrong_environments.read_results().values()
    assert sum(row["damaged"] == 1 for row in rows) >= 10


def test_each_recorded_case_ended_in_a_working_environment():
    recorded = wrong_environments.read_results()
    assert set(recorded) <= set(wrong_environments.CASES)
    table = wrong_environments.table(recorded)
    for name in recorded:
        (line,) = [line for line in table.splitlines() if line.startswith(f"| {name} |")]
        assert line.endswith("| works |"), line
