"""The conformance page agrees with the kept scores."""

from __future__ import annotations

import json
import re

import pytest

from parity.contrib import docs as contrib_docs
from parity.harness import docs, names, page, records, test_files


def test_the_page_agrees_with_the_kept_scores():
    text = docs.page_with(docs.generated_parts())
    assert docs.PAGE.read_text(encoding="utf-8") == text, (
        "run: python -m parity.conformance --write-docs"
    )


def test_the_page_of_evidence_has_the_figures_of_the_kept_scores():
    evidence = (docs.PAGE.parent / "features.md").read_text(encoding="utf-8")
    parts = {**docs.generated_parts(), **contrib_docs.contrib_parts()}
    scores, headline = parts["scores"], parts["headline"].splitlines()[-1]
    whole, passed = re.findall(r"Of the (\d+) tests .*?, (\d+) pass here", scores)[0]
    tests = re.findall(r"these are (\d+ tests)", scores)[0]
    there, here = re.findall(r"Of the (\d+) tests .*?, (\d+) pass here", parts["contrib scores"])[0]
    most_used, passed_of_them = re.findall(r"\d+", headline)[:2]
    most = f"{passed_of_them} of {most_used}" if passed_of_them != most_used else f"all {most_used}"
    figures = {f"{passed} of {whole}", tests, most, f"{here} of {there}"}
    words = " ".join(evidence.replace(",", "").split())
    assert {each for each in figures if not re.search(rf"\b{each}\b", words)} == set()


def test_every_miss_has_a_reason():
    lines = docs.generated_parts()["misses"].splitlines()
    assert lines
    assert [line for line in lines if docs.UNEXPLAINED in line] == []


def test_reasons_are_of_files_that_are_run():
    reasons = json.loads(records.REASONS.read_text(encoding="utf-8"))
    assert set(reasons) <= set(test_files.FILES)


def score(passed, failed, private=0):
    return {"passed": passed, "passed_private": private, "failed": failed, "skipped": 0}


@pytest.fixture
def keep_records(monkeypatch, tmp_path):
    def keep(**files):
        for name, content in files.items():
            path = tmp_path / name
            path.write_text(json.dumps(content))
            monkeypatch.setattr(records, name, path)

    return keep


def test_only_misses_of_public_names_that_the_original_passes_count(keep_records):
    private = {"privates": ["gc.Path"]}
    here = {"gc_test.py": {"tf2": score(8, {"A.a": {}, "A.b": private, "A.c": {}}, private=1)}}
    there = {"gc_test.py": {"tf2": score(10, {"A.c": {}})}}
    keep_records(HERE=here, ORIGINAL=there, REASONS={"gc_test.py": {}})
    parts = docs.generated_parts()
    # 8 passed, one of them private; of the 3 that failed A.b is private and A.c fails there too.
    assert "Of the 8 tests" in parts["scores"]
    assert "7 pass here: 87.5 %" in parts["scores"]
    assert "| gc_test.py | tf2 | 10 | 8 | 2 | 1 | 0 |" in parts["scores"]
    assert "gc_test" not in parts["headline"]
    assert f"- {docs.UNEXPLAINED}: `A.a`" in parts["misses"]
    assert "- private: `gc.Path`: `A.b`" in parts["misses"]


def test_the_headline_adds_the_modes_and_tells_what_is_not_there_yet_apart(
    keep_records, monkeypatch
):
    later = {"missing": "estimator_bridge.experimental.Thing"}
    monkeypatch.setattr(docs, "LATER", {later["missing"]})
    here = {
        "training_test.py": {"tf2": score(6, {"A.a": {}, "A.b": later}), "v1": score(8, {})},
        "model_fn_test.py": {"tf2": score(0, {"(the file)": {}})},
    }
    there = {
        "training_test.py": {"tf2": score(8, {}), "v1": score(8, {})},
        "model_fn_test.py": {"tf2": score(5, {}, private=1)},
    }
    keep_records(HERE=here, ORIGINAL=there, REASONS={"model_fn_test.py": {"*": "x"}})
    parts = docs.generated_parts()
    lines = parts["headline"].splitlines()
    assert lines[2:5] == [
        "| model_fn_test.py | 5 | 0 | 4 | 0 | 0.0 % |",
        "| training_test.py | 8 + 8 | 6 + 8 | 16 | 14 | 87.5 % |",
        "| all of these | | | 20 | 14 | 70.0 % |",
    ]
    assert lines[-1] == "1 of the 6 that do not pass need a name that is not supported yet."
    assert "- not supported yet: `Thing`: `A.b`" in parts["misses"]


def test_what_passes_on_one_number_of_cores_alone_is_listed(keep_records):
    file, private = "tpu/tpu_estimator_test.py", {"privates": ["x"]}
    eight = {file: {"v1": score(5, {"A.a": {}, "A.b": private})}, "gc_test.py": {}}
    keep_records(HERE=eight, HERE_2_CORES={file: {"v1": score(6, {"A.b": private})}})
    lines = docs.generated_parts()["cores"].splitlines()
    assert lines[2:] == [
        f"| {file} | v1 | 5 | 1 | 1 | 6 | 0 | 1 |",
        "| all | | 5 | 1 | 1 | 6 | 0 | 1 |",
        "",
        "Pass only on 2 cores: `A.a`.",
    ]


def test_what_passes_on_emulated_cores_and_not_on_jax_is_listed(keep_records):
    file = "tpu/tpu_estimator_test.py"
    on_cores, on_jax = score(5, {"A.a": {}}), score(4, {"A.a": {}, "A.b": {}})
    keep_records(HERE_2_CORES={file: {"v1": on_cores}}, HERE_2_ON_JAX={file: {"v1": on_jax}})
    lines = docs.generated_parts()["jax"].splitlines()
    assert lines[2] == f"| {file} | v1 | 5 | 1 | 0 | 4 | 2 | 0 |"
    assert lines[-1] == "Pass only on 2 cores: `A.b`."


def test_reasons_of_what_does_not_fail(keep_records):
    here = {"gc_test.py": {"tf2": score(1, {}), "v1": score(1, {"A.a": {}})}}
    keep_records(
        HERE=here, REASONS={"gc_test.py": {"*.a": "x", "A.b": "y"}, "util_test.py": {"*": "z"}}
    )
    assert docs.reasons_of_nothing() == ["gc_test.py: A.b", "util_test.py: *"]


def test_a_page_without_its_marks(monkeypatch, tmp_path):
    path = tmp_path / "page.md"
    path.write_text("nothing")
    monkeypatch.setattr(page, "PAGE", path)
    with pytest.raises(ValueError, match="lacks the lines <!-- scores -->"):
        docs.page_with({"scores": "1"})


def test_every_name_is_there_but_what_comes_later():
    for place in (names.PUBLIC, names.STAND_INS, names.INSIDES):
        for module, targets in place.items():
            for name, target in targets.items():
                if target in names.LATER:
                    with pytest.raises(AttributeError, match=f"missing name {target}, for "):
                        names.resolve(module, name)
                else:
                    assert names.resolve(module, name) is not None
