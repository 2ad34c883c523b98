"""The bench of small behaviors: its parts, and a sample of its cases against recorded outcomes."""

from __future__ import annotations

import json
import stat
import sys
import textwrap
from pathlib import Path

import pytest
from forking import run_python

from parity.differential import __main__ as command
from parity.differential import outcome, recorded, verdicts
from parity.differential.catalogue import FOLDER, Case, catalogue, select_cases
from parity.differential.comparison import differences
from parity.differential.side import run_side

CASES = catalogue()

# Of each theme the cases that say most in little time; the command runs them all.
SAMPLE = [
    "dtypes",
    "read_after_write",
    "assign_validate_shape_false",
    "while_tensorarray",
    "accumulators",
    "namedtuple_features",
    "two_get_next",
    "max_steps_reached",
    "feeds",
    "stop_requests",
    "final_ops",
    "eval_result_types",
    "eval_summaries",
    "clipping",
    "predict_labels_given",
    "export_no_outputs",
    "hooks_and_listeners",
    "run_config",
    "keras_layer_in_closure",
    "warm_start_renamed_variables",
    "scaffold_init_fn",
    "checkpoint_state_file",
    "pair_in_turns",
    "tpu_scaffold_fn",
    "linear_regressor",
    "keras_sequential",
    "keras_weights_of_model_are_the_start",
    "draw_with_feed",
    "trained_without_hooks_batches",
    "hooks_of_every_place",
    "summaries_in_scopes",
    "spec_arguments",
    "listeners_in_outer_loop",
]


@pytest.mark.parametrize(
    ("original", "here"),
    [
        ([1.0, {"a": 2}], [1.00001, {"a": 2}]),
        (0.0, 1e-6),
        ("raised KeyError < LookupError", "raised MissingKey < KeyError < LookupError"),
        ("Thing: remark: at one address", "Thing: remark: at another"),
        (outcome.no_more([2, 3]), outcome.no_more([1, 3])),
        (outcome.no_less(2), outcome.no_less(4)),
        (
            {"raised": "raised A", "message": "remark: x"},
            {"raised": "raised A", "message": "remark: "},
        ),
    ],
)
def test_what_counts_as_the_same(original, here):
    assert differences(original, here) == []


@pytest.mark.parametrize(
    ("original", "here", "place"),
    [
        ([1.0, {"a": 2.0}], [1.0, {"a": 2.001}], "[1]/a: 2.0, here 2.001"),
        ([1, 2], [1], ": [1, 2], here [1]"),
        ({"a": 1}, {"b": 1}, "/a: only in the original: 1"),
        (True, 1, ": true, here 1"),
        (None, 0, ": null, here 0"),
        ("raised MissingKey < KeyError", "raised KeyError < LookupError", "MissingKey"),
        ("raised KeyError", "a value", "a value"),
        ("Thing: remark: x", "Other: remark: x", "Other"),
        (outcome.no_more([1, 2]), outcome.no_more([1, 3]), "no more than[1]: 2, here 3"),
        (outcome.no_less([1, 2]), outcome.no_less([1, 1]), "no less than[1]: 2, here 1"),
        (outcome.no_more([1, 2]), outcome.no_more([1]), "no more than: [1, 2], here [1]"),
    ],
)
def test_what_counts_as_a_difference(original, here, place):
    assert place in differences(original, here)[0]


def test_outcomes_are_json_without_temporary_places(tmp_path, monkeypatch):
    monkeypatch.setattr(outcome.tempfile, "gettempdir", lambda: str(tmp_path))

    def case(folder):
        return {"where": f"{folder}/model.ckpt-3", 3: (float("nan"), b"x", {1})}

    observed = outcome.of(case, str(tmp_path / "tmpabcdefgh"))
    assert observed == {"where": "FOLDER/model.ckpt-3", "3": ["nan", "x", [1]]}

    def fails(folder):
        raise FileNotFoundError(f"nothing in {folder}")

    observed = outcome.of(fails, str(tmp_path / "tmpabcdefgh"))
    assert observed["raised"].startswith("raised FileNotFoundError < OSError < ")
    assert observed["message"] == "remark: nothing in FOLDER"


# Speaks as worker.py does; a case's name says how it behaves.
WORKER = """\
    #!{python}
    import json, os, sys, time

    report = os.fdopen(int(sys.argv[sys.argv.index("--report") + 1]), "w", buffering=1)
    assert sys.argv[sys.argv.index("--mode") + 1] == "v2off"
    is_spent = False
    for theme, name, times in json.loads(sys.stdin.read()):
        for i in range(times):
            if is_spent:
                print(json.dumps(dict(event="spent")), file=report)
                sys.exit()
            is_spent = name == "spends"
            print(json.dumps(dict(event="start", case=name)), file=report)
            if name == "crashes":
                os._exit(7)
            if name == "hangs":
                time.sleep(600)
            value = i % 2 if name == "races" else theme
            row = dict(event="end", case=name, outcome=value, seconds=0.1)
            print(json.dumps(row), file=report)
"""


@pytest.fixture
def fake_python(tmp_path):
    path = tmp_path / "python"
    path.write_text(textwrap.dedent(WORKER).format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_hangs_and_crashes_are_outcomes_and_lose_no_other_case(fake_python):
    cases = [
        Case("first", "theme"),
        Case("elsewhere", "theme", only="v2on"),
        Case("crashes", "theme"),
        Case("hangs", "theme", seconds=1.0),
        Case("spends", "theme"),
        Case("races", "theme", races="two threads"),
        Case("last", "theme"),
    ]
    watched = []
    outcomes = run_side(
        fake_python, cases, "v2off", repeat=3, watch=lambda name, *rest: watched.append(name)
    )
    assert outcomes == {
        "first": [(1, "theme")],
        "crashes": [(1, {"crash": 7})],
        "hangs": [(1, {"hang": True})],
        "spends": [(1, "theme")],
        "races": [(2, 0), (1, 1)],
        "last": [(1, "theme")],
    }
    assert watched == ["first", "crashes", "hangs", "spends", "races", "races", "races", "last"]


def test_a_python_may_be_named_by_a_relative_path(fake_python, monkeypatch):
    monkeypatch.chdir(Path(fake_python).parent)
    assert run_side("./python", [Case("a", "theme")], "v2off") == {"a": [(1, "theme")]}


def test_a_python_that_cannot_start_is_an_error(tmp_path):
    path = tmp_path / "python"
    path.write_text("#!/bin/sh\necho no TensorFlow; exit 3\n")
    path.chmod(0o755)
    with pytest.raises(RuntimeError, match=r"ended with 3 between two cases:\nno TensorFlow"):
        run_side(str(path), [Case("a", "theme")], "v2on")


def judged(here, original, *, tf1=None, modes=(), mode="v2off"):
    references = {"v2on": {"a": original}, "v2off": {"a": original}}
    if tf1:
        references[recorded.TF1] = {"a": tf1}
    table = {"a": verdicts.Expected(list(modes), "Numbers", "it differs")} if modes else {}
    return verdicts.judge(Case("a", "theme", races="r"), mode, here, references, table)


@pytest.mark.parametrize(
    ("here", "original", "more", "kind"),
    [
        ([(1, 5)], [(1, 5)], {}, verdicts.AGREES),
        ([(1, 5)], [(1, 6)], {}, verdicts.DIFFERS),
        ([(1, 5)], [(3, 6), (1, 5)], {}, verdicts.AGREES),
        ([(1, 5), (1, 7)], [(3, 6), (1, 5)], {}, verdicts.DIFFERS),
        ([(1, 5)], [(1, 6)], {"modes": ["v2off"]}, verdicts.DOCUMENTED),
        ([(1, 5)], [(1, 6)], {"modes": ["v2on"]}, verdicts.DIFFERS),
        ([(1, 5)], [(1, 5)], {"modes": ["v2off"]}, verdicts.STALE),
        ([(1, 5)], [(1, 6)], {"tf1": [(1, 5)]}, verdicts.AGREES_WITH_TF1),
        ([(1, 5)], [(1, 6)], {"tf1": [(1, 5)], "mode": "v2on"}, verdicts.DIFFERS),
        ([(1, 5)], [(1, 6)], {"mode": "cores"}, verdicts.DIFFERS),
    ],
)
def test_verdicts(here, original, more, kind):
    assert judged(here, original, **more).kind == kind


def test_a_case_that_tf1_cannot_run_says_nothing_about_it():
    lacking = [(1, {"raised": "raised AttributeError < Exception", "message": ""})]
    assert judged([(1, 5)], [(1, 5)], tf1=lacking).with_tf1 is None
    assert judged([(1, 5)], [(1, 5)], tf1=[(1, 6)]).with_tf1 is False


def test_recorded_outcomes_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "GOLDENS", tmp_path)
    outcomes = [(2, {"x": 0.123456789, "message": "remark: long"}), (1, None)]
    references = {"v2on": {"a": outcomes}, "v2off": {"a": outcomes, "b": [(1, 3)]}}
    recorded.save(references, {"theme": ["a", "b"]})
    expected = [(2, {"x": 0.1234568, "message": "remark: "}), (1, None)]
    assert recorded.load() == {"v2on": {"a": expected}, "v2off": {"a": expected, "b": [(1, 3)]}}
    assert len((tmp_path / "theme.json").read_text().splitlines()) == 8
    assert recorded.merged(expected, [(1, None), (1, 4)]) == [*expected[:1], (2, None), (1, 4)]


def test_a_recording_that_fails_leaves_the_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "theme.json"
    recorded.write_whole(path, "old")
    texts = []

    def replaced(self, target):
        texts.append((path.read_text(), self.read_text()))
        raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(recorded.Path, "replace", replaced)
        with pytest.raises(OSError, match="killed"):
            recorded.write_whole(path, "new")
    assert texts == [("old", "new")]
    recorded.write_whole(path, "new")
    assert path.read_text() == "new"
    assert list(tmp_path.glob("*.json")) == [path]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_case"], "no such case: no_such_case; name a case or one of the themes"),
        (["--modes", "v3"], "--modes takes v2on, v2off or both; got v3"),
        (["--record"], "--record keeps what an original gives"),
        (["--report", "hooks"], "leave their names out"),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(arguments, message, capsys):
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert message in capsys.readouterr().err


def test_cases_are_chosen_by_name_and_by_theme():
    names = {case.name for case in select_cases(["pairs", "order"])}
    assert {"order", "pair_in_turns"} <= names
    assert {CASES[name].theme for name in names} == {"pairs", "hooks"}


def test_there_are_as_many_cases_as_the_page_says():
    page = (FOLDER.parents[2] / "docs" / "evidence" / "differential.md").read_text()
    assert f"{len(CASES)} cases" in page
    assert len(CASES) >= 316


@pytest.mark.parametrize("mode", ["v2on", "v2off"])
def test_each_case_has_a_recorded_outcome(mode):
    outcomes = recorded.load()[mode]
    assert [case.name for case in CASES.values() if case.runs_in(mode)] == [
        name for name in CASES if name in outcomes
    ]


def test_goldens_are_of_cases_and_small():
    for path in recorded.GOLDENS.iterdir():
        names = json.loads(path.read_text())
        assert {CASES[name].theme for name in names} == {path.stem}
        assert path.stat().st_size < 100_000


def test_each_expected_difference_is_of_a_case_and_in_a_section():
    for name, entry in verdicts.expected().items():
        assert entry.why
        assert entry.modes
        assert set(entry.modes) <= {"v2on", "v2off", "cores"}, name
        assert all(CASES[name].runs_in(mode) for mode in entry.modes), name


def test_a_section_that_is_not_there_is_refused(tmp_path, monkeypatch):
    table = tmp_path / "differences.json"
    table.write_text(json.dumps({"order": {"modes": ["v2on"], "section": "Nowhere", "why": "x"}}))
    monkeypatch.setattr(verdicts, "_TABLE", table)
    with pytest.raises(ValueError, match=r"sections that differences\.md does not have.*Nowhere"):
        verdicts.expected()


def test_a_case_begins_with_a_graph_of_its_own():
    program = """
import tensorflow.compat.v1 as tf
from parity.differential import world
world.enter("v2off", 0)
tf.get_default_graph().finalize()
print(world.begin_case(), tf.constant(1).name)

def predict():
    with tf.Graph().as_default() as graph:
        graph.finalize()
        yield 1
        yield 2

open_one = predict()
next(open_one)
print(world.begin_case())
del open_one
print(world.begin_case(), tf.constant(1).name)
"""
    done = run_python(["-c", program])
    assert (done.returncode, done.stdout) == (0, "True Const:0\nFalse\nTrue Const:0\n"), done.stderr


def test_the_sample_is_of_every_theme():
    assert {CASES[name].theme for name in SAMPLE} == {case.theme for case in CASES.values()}


@pytest.fixture(scope="module", params=["v2on", "v2off"])
def sample(request):
    """The sample's verdicts in a mode, by case: one process."""
    cases = [CASES[name] for name in SAMPLE]
    results = run_side(sys.executable, cases, request.param)
    references, table = recorded.load(), verdicts.expected()
    return [
        verdicts.judge(CASES[name], request.param, outcomes, references, table)
        for name, outcomes in results.items()
    ]


def test_the_sample_gives_what_the_original_gave(sample):
    bad = [verdict for verdict in sample if verdict.kind in verdicts.BAD]
    assert bad == []
    assert len(sample) > 20
