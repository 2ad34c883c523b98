"""A program is judged with the modules beside it that it imports."""

import os
from pathlib import Path

import pytest

from estimator_bridge.commands.cli import main
from estimator_bridge.migrate.local_imports import find_local_imports

OLD = "import tensorflow as tf\nx = tf.contrib.layers.flatten\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(files):
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


@pytest.mark.parametrize(
    ("files", "program", "imported"),
    [
        # Scripts side by side, as in BERT; through another, and in a circle.
        (
            {
                "run.py": "import modeling\nimport os, json\n",
                "modeling.py": "def f():\n    import optimization\n",
                "optimization.py": "import run, modeling\n",
                "other.py": "",
            },
            "run.py",
            ["modeling.py", "optimization.py"],
        ),
        # A package beside the script, with what its __init__.py imports.
        (
            {
                "run.py": "from nets.cnn import layers\n",
                "nets/__init__.py": "from . import util\n",
                "nets/util.py": "",
                "nets/cnn/__init__.py": "",
                "nets/cnn/layers.py": "from ..util import x\nfrom ...above import y\n",
                "above.py": "",
                "nets/unused.py": "",
            },
            "run.py",
            ["nets/__init__.py", "nets/cnn/__init__.py", "nets/cnn/layers.py", "nets/util.py",
             "above.py"],
        ),
        # A module of a package, run by `python -m`: absolute names begin above the package.
        (
            {
                "src/pkg/__init__.py": "",
                "src/pkg/train.py": "import pkg.data\nfrom pkg import model as m\n",
                "src/pkg/data.py": "",
                "src/pkg/model.py": "",
            },
            "src/pkg/train.py",
            ["src/pkg/__init__.py", "src/pkg/data.py", "src/pkg/model.py"],
        ),
        # Modules that cannot be read, and names that are not there.
        (
            {"run.py": "import broken, absent\nfrom . import beside\n", "broken.py": "def (",
             "beside.py": ""},
            "run.py",
            ["broken.py", "beside.py"],
        ),
        ({"run.py": "def ("}, "run.py", []),
    ],
)  # fmt: skip
def test_imports_are_found(folder, files, program, imported):
    write(files)
    assert find_local_imports([program]) == imported
    absolute = find_local_imports([str(folder / program)])
    assert [os.path.relpath(path, folder) for path in absolute] == imported


def test_what_is_named_excluded_or_a_folder_is_not_followed(folder):
    write({"a.py": "import b, third.c", "b.py": "import d", "d.py": "", "third/c.py": "import e"})
    assert find_local_imports(["a.py", "b.py"]) == ["third/c.py", "d.py"]
    assert find_local_imports(["a.py"], ["third"]) == ["b.py", "third/c.py", "d.py"]
    assert find_local_imports(["a.py"], ["third/*"]) == ["b.py", "d.py"]
    assert find_local_imports(["."]) == []


def test_a_notebook_imports_too(folder):
    cell = '{"cell_type": "code", "source": ["%matplotlib inline\\n", "import helpers"]}'
    write({"a.ipynb": f'{{"cells": [{cell}], "nbformat": 4}}', "helpers.py": ""})
    assert find_local_imports(["a.ipynb"]) == ["helpers.py"]


def test_check_names_the_imported_modules_that_need_a_change_and_follows_them(folder, capsys):
    write({"a b.py": "import old, new\n", "old.py": OLD, "new.py": "x = 1\n"})
    assert main(["check", "a b.py"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == (
        "Imported from here, and to be changed too: old.py (with --follow)"
    )
    assert main(["check", "--follow", "a b.py"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("Runs as it is under `estimator-bridge run`; ")
    assert " `rewrite` does all: 2 places.\n" in out
    assert "3 files, " in out and "or:   estimator-bridge rewrite --follow 'a b.py'\n" in out
    assert "Next: estimator-bridge run 'a b.py'\n" in out
    assert "Imported" not in out
    assert main(["check", "--format", "json", "a b.py"]) == 0
    assert "old.py" not in capsys.readouterr().out


def test_rewrite_names_them_and_takes_them_along(folder, capsys):
    write({"a.py": f"import old\n{OLD}", "old.py": OLD})
    assert main(["rewrite", "--write", "a.py"]) == 0
    assert Path("old.py").read_text() == OLD
    error = capsys.readouterr().err
    assert error == (
        "1 file: 1 written\nImported from here, and to be changed too: old.py (with --follow)\n"
    )
    assert main(["rewrite", "--write", "--follow", "a.py"]) == 0
    assert "contrib.layers.flatten" in Path("old.py").read_text()
    assert capsys.readouterr().err == "2 files: 1 written\n"
    assert main(["rewrite", "a.py"]) == 0
    assert "Imported" not in capsys.readouterr().err


def test_a_model_is_written_from_one_file(folder, capsys):
    write({"a.py": OLD})
    assert main(["rewrite", "--to", "eb-model", "--follow", "a.py"]) == 2
    assert "--follow does not go with --to eb-model" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "rewrite"])
def test_a_program_that_is_not_there_is_refused(folder, capsys, command):
    assert main([command, "--follow", "absent.py"]) == 2
    assert "absent.py does not exist" in capsys.readouterr().err
