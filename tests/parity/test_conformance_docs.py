"""The page about conformance says what the kept scores say."""

from __future__ import annotations

import json

import pytest

from parity.harness import docs, names, records, test_files


def test_the_page_agrees_with_the_kept_scores():
    page = docs.page_with(docs.generated_parts())
    assert docs.PAGE.read_text(encoding="utf-8") == page, (
        "run: python -m parity.conformance --write-docs"
    )


def test_every_miss_has_a_reason():
    lines = docs.generated_parts()["misses"].splitlines()
    assert lines
    assert [line for line in lines if docs.UNEXPLAINED in line] == []


def test_reasons_are_of_files_that_are_run():
    reasons = json.loads(records.REASONS.read_text(encoding="utf-8"))
    assert set(reasons) <= set(test_files.FILES)


def test_only_misses_of_public_names_that_the_original_passes_count(monkeypatch, tmp_path):
    def score(passed, failed, private=0):
        return {"passed": passed, "passed_private": private, "failed": failed, "skipped": 0}

    private = {"privates": ["gc.Path"]}
    here = {"gc_test.py": {"tf2": score(8, {"A.a": {}, "A.b": private, "A.c": {}}, private=1)}}
    there = {"gc_test.py": {"tf2": score(10, {"A.c": {}})}}
    for name, content in {"HERE": here, "ORIGINAL": there, "REASONS": {"gc_test.py": {}}}.items():
        path = tmp_path / name
        path.write_text(json.dumps(content))
        monkeypatch.setattr(records, name, path)
    parts = docs.generated_parts()
    # 8 passed, one of them private; of the 3 that failed A.b is private and A.c fails there too.
    assert "Of the 8 tests" in parts["scores"]
    assert "7 pass here: 87.5 %" in parts["scores"]
    assert "| gc_test.py | tf2 | 10 | 8 | 2 | 1 | 0 |" in parts["scores"]
    assert f"- {docs.UNEXPLAINED}: `A.a`" in parts["misses"]
    assert "- private: `gc.Path`: `A.b`" in parts["misses"]


def test_a_page_without_its_marks(monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing")
    monkeypatch.setattr(docs, "PAGE", page)
    with pytest.raises(ValueError, match="lacks the lines <!-- scores -->"):
        docs.page_with({"scores": "1"})


def test_stand_ins_are_there():
    for module, stands in names.STAND_INS.items():
        for name in stands:
            try:
                names.resolve(module, name)
            except AttributeError as error:
                assert "missing name estimator_bridge." in str(error), error
