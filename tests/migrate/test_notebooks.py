"""Notebooks: their cells are checked and rewritten; the rest of the file is unchanged."""

from __future__ import annotations

import json

import pytest

from estimator_bridge.commands.cli import main

CELLS = [
    "%tensorflow_version 1.x\n!pip install x\nimport tensorflow as tf\n\n%matplotlib inline\n",
    "# Words",
    "if True:\n    %time a = 1\n    layers = tf.contrib.layers.conv2d\nfiles = !ls \\\n  -l",
    "%%bash\nls tf.contrib.layers",
    "%%time\nx = tf.contrib.learn.run_experiment\ny = 'é'",
]


def notebook(cells, **more):
    all_cells = []
    for number, source in enumerate(cells):
        kind = "markdown" if source.startswith("# ") else "code"
        cell = {"cell_type": kind, "metadata": {"z": 1, "a": 2.50}}
        if kind == "code":
            cell |= {"execution_count": number, "outputs": [{"text": ["tf.contrib.layers\n"]}]}
        all_cells.append({**cell, "source": source.splitlines(keepends=True)})
    return {"nbformat_minor": 0, "nbformat": 4, "metadata": {}, "cells": all_cells, **more}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_findings_name_cell_and_line(folder, capsys):
    (folder / "a.ipynb").write_text(json.dumps(notebook(CELLS)))
    assert main(["check", "--verbose", "a.ipynb"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("]")[0] for line in lines[:3]] == [
        "a.ipynb cell 1:3:8: EB010 [rewritten automatically",
        "a.ipynb cell 2:3:14: EB012 [rewritten automatically",
        "a.ipynb cell 4:2:5: EB014 [unavailable",
    ]
    main(["check", "a.ipynb", "--format", "sarif"])
    result = json.loads(capsys.readouterr().out)["runs"][0]["results"][1]
    assert result["properties"] == {
        "severity": "rewritten automatically", "cell": 2, "line": 3, "column": 14
    }  # fmt: skip
    assert "region" not in result["locations"][0]["physicalLocation"]


@pytest.mark.parametrize("layout", [{"indent": 1}, {"indent": 2, "ensure_ascii": False}, {}])
def test_cells_are_rewritten_and_the_rest_keeps_its_bytes(folder, capsys, layout):
    file = folder / "a.ipynb"
    content = json.dumps(notebook(CELLS), **layout).replace("2.5", "25.0e-1") + "\n"
    file.write_text(content, encoding="utf-8")
    assert main(["rewrite", "a.ipynb"]) == 1
    diff = capsys.readouterr().out
    assert "+import tensorflow.compat.v1 as tf\n" in diff
    assert " !pip install x\n" in diff and "estimator-bridge:" not in diff
    assert main(["rewrite", "--write", "a.ipynb"]) == 1  # one name is left for a person
    after = file.read_text(encoding="utf-8")
    sources = ["".join(cell["source"]) for cell in json.loads(after)["cells"]]
    assert sources == [
        "%tensorflow_version 1.x\n!pip install x\nimport estimator_bridge as eb\n"
        "from estimator_bridge.legacy import contrib\nimport tensorflow.compat.v1 as tf\n"
        "tf.disable_v2_behavior()\n\n%matplotlib inline\n",
        CELLS[1],
        CELLS[2].replace("tf.contrib", "contrib"),
        CELLS[3],
        "%%time\n# EB014: tf.contrib.learn.run_experiment no longer exists. Use "
        "tf.estimator.train_and_evaluate\n# with TrainSpec and EvalSpec.\n"
        "x = tf.contrib.learn.run_experiment\ny = 'é'",
    ]
    # With the old sources put back, and in the file's layout, it is the old file.
    back = json.loads(after)
    for cell, source in zip(back["cells"], CELLS):
        cell["source"] = source.splitlines(keepends=True)
    assert json.dumps(back, **layout).replace("2.5", "25.0e-1") + "\n" == content
    assert main(["rewrite", "a.ipynb"]) == 0
    assert file.read_text(encoding="utf-8") == after


def test_sources_that_are_one_text_and_old_formats(folder):
    sheet = {"cells": [{"cell_type": "code", "input": "x = xrange(3)\n", "language": "python"}]}
    (folder / "a.ipynb").write_text(json.dumps({"worksheets": [sheet], "nbformat": 3}))
    assert main(["rewrite", "--write", "a.ipynb"]) == 0
    after = json.loads((folder / "a.ipynb").read_text())
    assert after["worksheets"][0]["cells"][0]["input"] == "x = range(3)\n"


@pytest.mark.parametrize(
    ("content", "code", "place", "words"),
    [
        ("{", "EB003", "a.ipynb:1:1", "its JSON is broken"),
        ("[]", "EB003", "a.ipynb:1:1", "wanted a JSON object"),
        (json.dumps(notebook([])), "EB003", "a.ipynb:1:1", "has no code cells"),
        (json.dumps(notebook(["x"], metadata={"kernelspec": {"language": "R"}})), "EB003",
         "a.ipynb:1:1", "is a notebook in r"),
        (json.dumps(notebook(["x = 1", "\nprint 'a'"])), "EB002", "a.ipynb cell 2:2:1",
         "is Python 2: a print statement"),
        (json.dumps(notebook(["x = 1", "x = (", "y"])), "EB001", "a.ipynb cell 2:1:1",
         "is not Python 3"),
    ],
)  # fmt: skip
def test_a_broken_notebook_is_named_and_left(folder, capsys, content, code, place, words):
    (folder / "a.ipynb").write_text(content)
    assert main(["check", "--verbose", "a.ipynb"]) == 1
    line = capsys.readouterr().out.splitlines()[0]
    assert line.startswith(f"{place}: {code} [by hand] a.ipynb ")
    assert words in line
    assert main(["rewrite", "--write", "a.ipynb"]) == 1
    assert (folder / "a.ipynb").read_text() == content


@pytest.mark.parametrize(("version", "rules"), [("1.x", {"EB010", "EB011"}), ("2.x", {"EB011"})])
def test_the_version_that_a_notebook_asks_for_counts(folder, capsys, version, rules):
    cell = f"%tensorflow_version {version}\nimport tensorflow as tf\ntf.estimator.Estimator\n"
    (folder / "a.ipynb").write_text(json.dumps(notebook([cell])))
    main(["check", "a.ipynb", "--format", "json"])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert {finding["rule"] for finding in file["findings"]} == rules
