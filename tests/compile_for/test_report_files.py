"""Reports as pages and JSON, and reports that cannot be written."""

import dataclasses
import html.parser
import json
import os

import pytest

from estimator_bridge.compile_for import Finding, Refusal, Report, Request
from estimator_bridge.compile_for.batch_search import LargestBatch
from estimator_bridge.compile_for.out_of_memory import Buffer, OutOfMemory, read_sizes
from estimator_bridge.compile_for.report_file import write_report
from tests.compile_for.test_compiled_text import report as step_report

LINE = 'model.py:7: tf.layers.dense(x, 5, name="a<b")'
MEMORY = OutOfMemory(3 << 30, 2 << 30, (Buffer("features['x']", None, "f32[9,8]", 1 << 30),))
SLOW = Finding("Cast", "model.py:3: tf.cast(x, tf.float64)", "Cast to float32.")


@pytest.fixture
def report():
    step = step_report(optimal_seconds=3.27e-5 - 1)
    costs = tuple(dataclasses.replace(cost, line=LINE) for cost in step.costs)
    step = dataclasses.replace(step, costs=costs, float64=(SLOW,))
    refusal = Refusal("prediction", "v5e-8", "it needs more memory than the chip has", str(MEMORY),
                      MEMORY)  # fmt: skip
    batch = LargestBatch("training", "v5e-8", 5528, 5536, 15 << 30, 16 << 30, 9)
    return Report("v5e-8", {"jax": "0.10.2", "libtpu": "0.0.52"}, (step, refusal), (batch,))


class Page(html.parser.HTMLParser):
    """Text, open elements and what would be loaded."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.links = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.links += [v for k, v in attrs if k in ("src", "href") and not v.startswith("#")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_a_page_is_whole_loads_nothing_and_shows_what_counts(report, tmp_path):
    path = tmp_path / "report.html"
    write_report(report, str(path))
    page = Page(path.read_text(encoding="utf-8"))
    assert not page.open
    assert not page.links
    words = " ".join("".join(page.words).split())
    for shown in (
        "1 of 2 step(s) were not compiled.",
        "52.5 MFLOP",
        "model.py:7",
        'tf.layers.dense(x, 5, name="a<b")',
        "if the all-reduces overlap with the rest",
        "w2",
        "Cast to float32.",
        "Out of memory by at least 1 GiB",
        "features['x']",
        "5,528",
        "jax 0.10.2, libtpu 0.0.52",
    ):
        assert shown in words
    assert "prefers-color-scheme: dark" in path.read_text(encoding="utf-8")
    assert os.listdir(tmp_path) == ["report.html"]


def test_json_has_the_same(report, tmp_path):
    path = tmp_path / "report.json"
    write_report(report, str(path))
    values = json.loads(path.read_text())
    line = values["steps"][0]["roofline"]
    alone = max(line["compute"], line["memory"])
    assert line["seconds_in_turn"] == pytest.approx(alone + line["all_reduce"])
    assert line["seconds"] == pytest.approx(max(alone, line["all_reduce"]))
    assert values["steps"][1]["memory"]["missing"] == 1 << 30
    assert values["batches"][0]["size"] == 5528


def test_a_report_that_could_not_be_written_is_refused_first(tmp_path, monkeypatch):
    for name, message in (
        ("no/r.json", "does not exist"),
        ("r.txt", "must end in"),
        ("", "folder"),
    ):
        with pytest.raises(ValueError, match=message):
            Request.make("v5e-1", report=str(tmp_path / name))

    def refuse(path):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("estimator_bridge.compile_for.report_file.temporary_beside", refuse)
    with pytest.raises(ValueError, match="cannot be written: Read-only file system"):
        Request.make("v5e-1", report=str(tmp_path / "r.html"))


def test_a_page_that_fails_leaves_the_one_that_was_there(report, tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    path.write_text("before")

    def fail(*unused):
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        write_report(report, str(path))
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["report.json"]


@pytest.mark.parametrize(
    ("message", "sizes"),
    [
        (
            "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total "
            "memory required for HLO temporaries (1.5G) exceeds available HBM (512.00M).",
            (3 << 29, 1 << 29),
        ),
        ("Ran out of memory in memory space hbm. Used 2.00G of 1.00G hbm.", (2 << 30, 1 << 30)),
        ("RESOURCE_EXHAUSTED: something else", None),
    ],
)
def test_the_compilers_sizes_are_read(message, sizes):
    assert read_sizes(message) == sizes
