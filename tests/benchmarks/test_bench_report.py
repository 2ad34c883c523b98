"""The benchmarks' runner and report; the measurements take too long for a test."""

import json
import re
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from benchmarks import measure as measuring
from benchmarks.chart import draw, points
from benchmarks.measure import measure
from benchmarks.page import tables, with_tables
from benchmarks.process import MeasuredProcess
from benchmarks.reference_models import Pace, with_paces
from benchmarks.report import interval, lines, ratios, write_json
from benchmarks.workloads import HEADLINES, WORKLOADS, Workload
from models.common.registry import model_names

DOCS = Path(__file__).resolve().parents[2] / "docs"
MODELS = ("mnist", "gan", "resnet")
FIGURES = {"steps/s": {"here": [300.0, 100.0], "original": [100.0, 50.0]}}


class FakeProcess:
    instances: ClassVar[list] = []

    def __init__(self, python, program, way, options):
        self.start_time, self.way, self.orders = 1.0, way, []
        self.instances.append(self)

    def order(self, **order):
        self.orders.append(order)
        steps = order.get("steps", 0)
        measured = {"seconds": steps / 1000, "memory": 7.0} if steps else {"took, s": 0.5, **order}
        return {**measured, "cpu": steps / 500}

    def close(self):
        self.closed = True


@pytest.fixture
def processes(monkeypatch):
    monkeypatch.setattr(FakeProcess, "instances", [])
    monkeypatch.setattr(measuring, "MeasuredProcess", FakeProcess)
    return FakeProcess.instances


def test_ratios_are_of_the_same_round():
    assert ratios([300.0, 100.0], [100.0, 50.0]) == [2.0, 3.0]


@pytest.mark.parametrize("count, rank", [(1, 1), (5, 1), (6, 1), (8, 1), (9, 2), (20, 6), (30, 10)])
def test_the_interval_is_that_of_the_tables_of_statistics(count, rank):
    """Ranks of a 95 % interval of a median, as printed in books."""
    values = [float(i) for i in range(1, count + 1)]
    assert interval(values[::-1]) == (rank, count + 1 - rank)


def test_steps_run_in_processes_that_take_turns(processes):
    workload = Workload("w", "W", "steps", {}, ("here", "hand"))
    messages = []
    figures = measure(workload, {"here": "a", "hand": "b"}, 3, 0.5, messages.append)
    assert figures["steps/s"] == {"here": [1000.0] * 3, "hand": [1000.0] * 3}
    assert figures["CPU µs a step"]["here"] == [2000.0] * 3
    assert figures["memory"]["here"] == [7.0] * 3
    assert [p.way for p in processes] == ["here", "hand"]
    # Two orders warm up and tell how many steps half a second takes.
    assert all([o["steps"] for o in p.orders] == [200, 100, 500, 500, 500] for p in processes)
    assert all(p.closed for p in processes)
    assert messages == [f"W: round {i} of 3" for i in (1, 2, 3)]


def test_what_runs_once_gets_a_process_a_round_and_its_start(processes):
    workload = Workload("w", "W", "startup", {}, ("here", "original"), "once", share=0.5)
    figures = measure(workload, {"here": "a", "original": "b"}, 4, 1.0)
    assert figures["took, s"] == {"here": [0.5] * 2, "original": [0.5] * 2}
    assert figures["started"]["here"] == [1.0, 1.0]
    # What drifts while a round is measured hits each way first in turn.
    assert [p.way for p in processes] == ["original", "here", "here", "original"]


def test_a_measurement_that_was_cut_off_goes_on(processes):
    workload = Workload("w", "W", "startup", {}, ("here", "original"), "once")
    pythons, saved = {"here": "a", "original": "b"}, []

    def keep(figures):
        saved.append(json.dumps(figures))
        if len(saved) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(workload, pythons, 3, 1.0, keep=keep)
    assert len(processes) == 4
    earlier = json.loads(saved[-1])
    earlier["took, s"]["here"] = [0.25, 0.25, 9.0]  # the third is of a round that was cut off
    figures = measure(workload, pythons, 3, 1.0, figures=earlier)
    assert figures["took, s"] == {"here": [0.25, 0.25, 0.5], "original": [0.5] * 3}
    assert len(processes) == 6
    assert measure(workload, pythons, 3, 1.0, figures=figures) == figures
    assert len(processes) == 6


def test_figures_of_other_ways_are_measured_anew(processes):
    workload = Workload("w", "W", "startup", {}, ("here", "original"), "once")
    earlier = {"took, s": {"here": [9.0, 9.0], "original": [9.0, 9.0]}}
    for pythons in ({"here": "a"}, {"here": "a", "original": "b"}):
        figures = {"took, s": dict(earlier["took, s"])}
        if len(pythons) == 2:
            del figures["took, s"]["original"]
        measured = measure(workload, pythons, 1, 1.0, figures=figures)["took, s"]
        assert measured == {way: [0.5] for way in pythons}


def test_rows_say_how_many_rounds_they_are_of():
    content = {"workloads": {"mlp": {"title": "MLP", "figures": FIGURES}}}
    head, _, row = tables(content)["beside"].splitlines()
    assert (head.split("|")[-2].strip(), row.split("|")[-2].strip()) == ("rounds", "2")


def test_a_way_without_a_python_is_left_out(processes):
    workload = Workload("w", "W", "steps", {}, ("here", "original"))
    assert set(measure(workload, {"here": "a"}, 1, 0.1)["steps/s"]) == {"here"}


def test_a_measured_process_that_fails_says_why():
    process = MeasuredProcess(sys.executable, "no_such_program", "here", {})
    with pytest.raises(RuntimeError, match=r"no_such_program here .*code 1(.|\n)*ModuleNotFound"):
        process.order()
    process.close()


def test_the_report_names_both_and_the_ratio():
    text = "\n".join(lines("MLP", FIGURES))
    assert re.search(r"estimator_bridge +200\n", text)
    assert re.search(r"TF 2.15's Estimator +75 +here is 2.50 of it \(2.00 to 3.00\)", text)


def test_the_chart_turns_times_round(tmp_path):
    times = {"write, s": {"here": [2.0, 2.0], "original": [1.0, 4.0]}}
    workloads = {
        "checkpoint": {"title": "C", "figures": times},
        "conv32": {"title": "no headline", "figures": FIGURES},
        "mlp": {"title": "M", "figures": {**FIGURES, "CPU µs a step": FIGURES["steps/s"]}},
    }
    assert points(workloads) == [
        ("train an MLP", "original", 2.5, 2.0, 3.0),
        ("write 400 MB", "original", 1.25, 0.5, 2.0),
    ]
    draw(str(tmp_path / "chart.svg"), workloads, "a note")
    assert (tmp_path / "chart.svg").read_text().count("<svg") == 1


def test_figures_are_written_whole(tmp_path):
    path = tmp_path / "folder" / "figures.json"
    write_json(str(path), {"a": 1})
    write_json(str(path), {"a": 2})
    assert json.loads(path.read_text()) == {"a": 2}
    assert list(path.parent.iterdir()) == [path]


def test_headlines_are_metrics_that_were_measured():
    content = json.loads((DOCS / "performance.json").read_text(encoding="utf-8"))
    assert len(points(content["workloads"])) > 2 * len(HEADLINES) == 20
    assert len({title for title, *_ in points(content["workloads"])}) == 10


def test_each_workload_has_a_program():
    folder = Path(measuring.__file__).parent / "programs"
    used = {w.program_of(way) for w in WORKLOADS for way in w.ways}
    assert used == {p.stem for p in folder.glob("[!_]*.py")}
    assert len({w.name for w in WORKLOADS}) == len(WORKLOADS)


def test_the_page_says_what_the_figures_say():
    content = json.loads((DOCS / "performance.json").read_text(encoding="utf-8"))
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    assert {"beside", "settings", "cores"} <= set(tables(content))
    assert with_tables(page, content) == page


def test_the_page_of_models_has_the_paces_of_each_model():
    page = (DOCS.parent / "models" / "README.md").read_text(encoding="utf-8")
    table = page.partition("<!-- figures: models -->\n")[2].partition("<!-- end of figures -->")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    named = [re.match(r"\| `train\.py --model=(\w+)` \|", row)[1] for row in rows]
    assert named == list(model_names())
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        one, eight = (float(cell.replace(",", "")) for cell in cells[1:3])
        assert float(cells[3]) == pytest.approx(eight / one, abs=0.01 + 0.6 / one)
        assert re.fullmatch(r"\d+\.\d%, \d+\.\d%", cells[4])
        assert max(float(share.strip(" %")) for share in cells[4].split(",")) < 5
        assert re.fullmatch(r"(\d+ x )?\d+ steps on \d+ CPUs, load \d+\.\d before", cells[5])


def test_paces_become_rows_and_the_others_stay(monkeypatch):
    monkeypatch.setattr("benchmarks.reference_models.model_names", lambda: MODELS)
    page = "text\n<!-- figures: models -->\n<!-- end of figures -->\nmore\n"
    paces = {1: Pace(2000.4, 0.01), 8: Pace(1000.2, 0.0512)}
    page = with_paces(page, {"resnet": paces}, "once")
    page = with_paces(page, {"mnist": paces | {8: Pace(500.0, None)}}, "twice")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [
        "| `train.py --model=mnist` | 2,000 | 500 | 0.25 | 1.0%, unknown | twice |",
        "| `train.py --model=gan` |  |  |  |  | not measured yet |",
        "| `train.py --model=resnet` | 2,000 | 1,000 | 0.50 | 1.0%, 5.1% | once |",
    ]
    assert page.startswith("text\n<!-- figures: models -->\n| ")
    assert page.endswith("<!-- end of figures -->\nmore\n")


def test_xla_and_growth_have_tables_of_their_own():
    rates = {"here": [100.0, 100.0], "xla": [150.0, 250.0], "hand": [100.0, 50.0]}
    costs = {"x1": [1000.0, 1000.0], "x4": [500.0, 250.0]}
    sections = tables(
        {
            "workloads": {
                "xla_mlp": {"title": "M", "figures": {"steps/s": rates}},
                "growth_batch": {"title": "B", "figures": {"steps/s": costs}},
            }
        }
    )
    assert set(sections) == {"xla", "growth"}
    row = "| M | 100 | 2.00 (1.50 to 2.50) |  | 0.75 (0.50 to 1.00) |  | 2 |"
    assert row in sections["xla"].splitlines()
    # 4x the size costs 3x: the exponent is log 3 / log 4.
    assert "| B | 1 | 3.00 (2.00 to 4.00) |  |  | 0.79 | 2 |" in sections["growth"].splitlines()


def test_a_peer_without_a_column_of_figures_has_none():
    head = tables({"workloads": {"mlp": {"title": "M", "figures": FIGURES}}})["beside"]
    assert head.splitlines()[0] == "|  | here | here / TF 2.15's Estimator | rounds |"


def test_a_page_without_its_marks_is_refused():
    content = {"workloads": {"mlp": {"title": "M", "figures": FIGURES}}}
    with pytest.raises(ValueError, match="figures: beside"):
        with_tables("no marks", content)
