"""The comparison of two records finds differences."""

from __future__ import annotations

import numpy as np
import pytest

from parity import report
from parity.record import Record, load, save
from parity.rows import (
    CONTINUED,
    FACTS,
    NUMBERS,
    REPEATED,
    compare,
    compare_continued,
    compare_repeated,
    with_races,
)

KINDS = (
    "losses",
    "start",
    "weights",
    "looped",
    "evaluation",
    "predictions",
    "served",
    "outer_loop",
)


def a_record(**changes) -> Record:
    """A record with one number of each kind and empty facts."""
    record = Record({name: {"a": [1, 2]} for name in FACTS.values()}, {})
    record.facts["tensorflow"] = "2.15.1"
    for kind in KINDS:
        record.add(kind, {"x": np.array([1.0, 2.0], np.float32)})
    for kind, values in changes.items():
        record.add(kind, values)
    return record


def rows_of(got: Record, original: Record | None = None) -> dict:
    return {row.measure: row for row in compare(got, original or a_record())}


def test_equal_records_are_not_apart():
    rows = rows_of(a_record())
    assert list(rows) == [*NUMBERS, *FACTS]
    assert all(row.holds and row.difference == 0 and row.worst == "" for row in rows.values())


def test_a_fact_that_varies_in_the_original_is_told_and_allowed():
    here, original = a_record(), a_record()
    original.facts["event_tags"] = {".": {"loss": [4, 28]}}
    here.facts["event_tags"] = {".": {"loss": [4, 29]}}
    rows = compare(here, original)
    assert not all(row.holds for row in rows)
    repeats = [original, here, here]
    allowed = with_races(rows, here, repeats)
    assert all(row.holds for row in allowed)
    page = report.text({"mlp": allowed}, {}, "2.15.1", "2.21.0")
    assert "2 of 3 further runs of the original equal this side, its first not" in page
    assert "got [29] instead of [28]" in page
    assert "Differences above the tolerance" not in page
    assert with_races(rows, here, [original, original]) == rows


def test_a_program_without_an_outer_loop_has_no_row_of_it():
    got, original = a_record(), a_record()
    for side in (got, original):
        side.add("outer_loop", {})
        del side.facts["outer_loop"]
    assert len(rows_of(got, original)) == len(NUMBERS) + len(FACTS) - 2
    assert not rows_of(got)["train_and_evaluate"].holds
    assert not rows_of(got)["results of train_and_evaluate"].holds


def test_losses_are_relative_and_others_to_one_more():
    off = {"x": np.array([1.0, 2.0 + 2e-5], np.float32)}
    loss = rows_of(a_record(losses=off))["losses"]
    assert not loss.holds
    assert loss.difference == pytest.approx(1e-5, rel=0.02)
    assert "x[1]" in loss.worst
    prediction = rows_of(a_record(predictions=off))["predictions"]
    assert prediction.holds
    assert prediction.difference == pytest.approx(2e-5 / 3, rel=0.02)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "one side only: wanted"),
        ({"x": np.array([1.0, 2.0], np.float32), "y": np.zeros(1)}, "one side only: got"),
        ({"x": np.array([1.0], np.float32)}, "shape (1,)"),
        ({"x": np.array([1, 2])}, "int64"),
        ({"x": np.array([1.0, np.nan], np.float32)}, "got nan"),
        ({"x": np.array([np.inf, 2.0], np.float32)}, "got inf"),
    ],
)
def test_what_cannot_be_compared_is_too_far_apart(values, message):
    row = rows_of(a_record(evaluation=values))["evaluation"]
    assert not row.holds
    assert message in row.worst


def test_nan_on_both_sides_is_the_same():
    nan = {"x": np.array([np.nan], np.float32)}
    assert rows_of(a_record(served=nan), a_record(served=nan))["served answers"].difference == 0


def test_strings_are_equal_or_not():
    names = {"x": np.array([b"yes", b"no"])}
    original = a_record(predictions=names)
    assert rows_of(original, original)["predictions"].holds
    other = a_record(predictions={"x": np.array([b"yes", b"yes"])})
    assert "1 values differ" in rows_of(other, original)["predictions"].worst


def test_facts_that_differ_are_named():
    got = a_record()
    got.facts["files"] = {"a": [1, 3], "b": 4}
    row = rows_of(got)["files"]
    assert (row.difference, row.holds) == (2, False)
    assert row.worst == "/a: got [3] instead of [2]; /b: got 4, wanted nothing"
    got.facts["files"] = {"a": [2, 1]}
    assert rows_of(got)["files"].worst == "/a: got [2, 1], wanted [1, 2]"


def test_a_checkpoint_of_the_other_side():
    rows = compare_continued("here", a_record(), a_record(), only_values=False)
    assert [row.measure for row in rows] == [m for m in CONTINUED if m.startswith("here")]
    (row,) = compare_continued("original", a_record(), a_record(), only_values=True)
    assert row.measure == "original: evaluation"


def test_runs_of_the_original_that_give_other_numbers_are_counted():
    """Its record has nothing of this side's loop, and a race is no failure."""
    first = a_record(losses={"x": np.array([1.0, 2.0], np.float32)})
    del first.arrays["looped/x"]
    other = Record(dict(first.facts), {**first.arrays, "weights/x": np.array([1.0, 3.0], "f")})
    row = compare_repeated([first, other, first], first)
    assert (row.measure, row.difference, row.tolerance) == (REPEATED, 1.0, 3.0)
    assert row.holds and row.worst == "x[1]: got 3.0, wanted 2.0"


def test_the_report_on_tensorflow_1_shows_races():
    rows = {"mlp": [*compare(a_record(), a_record()), compare_repeated([a_record()], a_record())]}
    text = report.text_1x(rows, "1.15.5", "2.21.0")
    assert "| mlp | 0 of 1 |" in text.partition("## Races")[2]
    assert "| mlp | 0 | 0 | 0 |" in text.partition("## Names")[0]


def test_the_report_shows_what_is_too_far_apart():
    rows = {"good": compare(a_record(), a_record())}
    assert "differ**" not in report.text(rows, rows, "2.15.1", "2.21.0")
    off = a_record(weights={"x": np.array([1.0, 5.0], np.float32)})
    off.facts["files"] = {}
    rows["bad"] = compare(off, a_record())
    text = report.text(rows, rows, "2.15.1", "2.21.0")
    assert "| good | 0 | 0 | 0 |" in text
    assert "| good | 0 | equal |" in text.partition("## train_and_evaluate")[2]
    assert "| bad | 0 | 0 | **1.0e+00** |" in text
    assert "**1 differ**" in text
    assert "- bad, last variables: x[1]: got 5.0, wanted 2.0" in text


def test_a_record_is_read_as_it_was_written(tmp_path):
    written = a_record(
        evaluation={"all/errors/0": np.arange(3.0), "text": np.array([b"a"], object)}
    )
    save(tmp_path / "mlp", written)
    read = load(tmp_path / "mlp")
    assert read.facts == written.facts
    assert all(row.difference == 0 for row in compare(read, written))
    with pytest.raises(FileNotFoundError, match=r"parity\.run --out .* conv"):
        load(tmp_path / "conv")
