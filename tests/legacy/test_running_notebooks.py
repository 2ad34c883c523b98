"""`estimator-bridge run notebook.ipynb` runs code cells, and reports the others."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from estimator_bridge.legacy.running.magics import plain_python
from estimator_bridge.legacy.running.notebooks import NotebookError, read_notebook

ROOT = str(Path(__file__).resolve().parents[2])


def notebook(*cells, as_lists=True, **metadata):
    """A notebook of nbformat 4 with code cells; text cells stand between them."""
    entries = [{"cell_type": "markdown", "metadata": {}, "source": ["# Text, no `%code`"]}]
    for cell in cells:
        text = textwrap.dedent(cell).strip("\n")
        source = text.splitlines(keepends=True) if as_lists else text
        entries.append({"cell_type": "code", "metadata": {}, "outputs": [], "source": source})
    return {"cells": entries, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def run(folder, content, *arguments, name="nb.ipynb", options=()):
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "estimator_bridge", "run", *options, name, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_cells_run_in_order_in_one_namespace_as_main(tmp_path):
    (tmp_path / "beside.py").write_text("x = unicode(3)\n")
    content = notebook(
        "import sys, beside\nvalue = 1",
        "",
        "value += 1\nprint(__name__, sys.argv, value, beside.x, '__file__' in globals())",
        "display('shown'); value",
        "class Kept: pass\nimport pickle; print(type(pickle.loads(pickle.dumps(Kept()))).__name__)",
        "import inspect\ndef f():\n    return 5\nprint(inspect.getsource(f).splitlines()[-1])",
    )
    done = run(tmp_path, content, "--x", "1")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "__main__ ['nb.ipynb', '--x', '1'] 2 3 False", "shown", "Kept", "    return 5",
    ]  # fmt: skip
    assert done.returncode == 0


def test_what_only_a_notebook_runs_is_passed_over_and_named(tmp_path):
    content = notebook(
        "%matplotlib inline\n!pip install \\\n    nothing\nx = 3\nif x:\n    %autoreload 2\nx?",
        "%%bash\nexit 1",
        "%%time\ny = x + 1\n%time z = y + 1",
        'text = """\n%d items\n!\n"""\nrest = (x\n% 2)\nprint(text % 2, y, z, rest)',
        "files = !ls\nprint(x != 4)",
    )
    done = run(tmp_path, content)
    assert done.stdout == "\n2 items\n!\n 4 5 1\nTrue\n", done.stderr
    assert done.stderr.splitlines() == [
        "estimator-bridge: nb.ipynb: skipped, because only a notebook can run these lines:",
        "  cell 1: %matplotlib inline",
        "  cell 1: !pip install \\",
        "  cell 1: %autoreload 2",
        "  cell 1: x?",
        "  cell 2: %%bash (the whole cell)",
        "  cell 3: %%time (its cell is run)",
        "  cell 3: %time z = y + 1 (its statement is run)",
        "  cell 5: files = !ls",
    ]


@pytest.mark.parametrize(
    ("cell", "code", "message"),
    [
        ("import sys\nsys.exit(7)", 7, ""),
        (
            "def f():\n    %time 1\n    return 1 / 0\nf()",
            1,
            'File "nb.ipynb, cell 2", line 4, in <',
        ),
        ("def f():\n    return 1 / 0\nf()", 1, '", line 2, in f\n    return 1 / 0'),
        ("x = (", 1, 'File "nb.ipynb, cell 2", line 1'),
        ("print 'x'", 1, "nb.ipynb, cell 2, is Python 2 source: convert it to Python 3."),
    ],
)
def test_how_it_ends(tmp_path, cell, code, message):
    done = run(tmp_path, notebook("print('first')", cell, "print('last')"))
    assert done.returncode == code
    assert message in done.stderr
    assert "estimator_bridge" not in done.stderr
    is_python = "SyntaxError" not in done.stderr
    assert done.stdout == ("first\n" if is_python else "")  # a broken cell is told of at once


def test_the_cells_tell_the_dialect_and_guard_imports(tmp_path):
    content = notebook(
        "%tensorflow_version 1.x\nimport tensorflow as tf",
        "try:\n  from tensorflow.contrib import nothing_of_it\nexcept ImportError:\n  print('ok')",
        """
        x = tf.placeholder(tf.float32, [2])
        with tf.Session() as session:
            print(tf.VERSION, session.run(x * 2, {x: [1, 2]}).tolist())
        tf.contrib.nothing_there
        """,
    )
    done = run(tmp_path, content, options=["-v"])
    assert done.stdout == "ok\n1.15.5 [2.0, 4.0]\n", done.stderr
    assert "a TF1 program (nb.ipynb: tf.contrib.nothing_there in line 4 of cell 3)" in done.stderr
    assert 'File "nb.ipynb, cell 3", line 4, in <module>' in done.stderr
    doubt = notebook("%tensorflow_version 1.x", "import tensorflow as tf\nprint(tf.__version__)")
    done = run(tmp_path, doubt, options=["-v"])
    assert done.stdout == "1.15.5\n"
    assert "a TF1 program (%tensorflow_version 1.x)" in done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "'nb.ipynb' is not a notebook: its JSON is broken (Expecting value: line 1"),
        ('{"cells": [', "its JSON is broken"),
        ("[1]", "wanted a JSON object with a list of `cells`, got list"),
        ('{"nbformat": 4}', "got ['nbformat']"),
        ('{"cells": [3]}', "item 1 of its cells is not a cell"),
        ('{"cells": [{"cell_type": "code", "source": 3}]}', "item 1 of its cells has no source"),
        (notebook(), "has no code cells: there is nothing to run"),
        (notebook("  \n"), "has no code cells: there is nothing to run"),
        (notebook("x <- 1", kernelspec={"language": "R"}), "is a notebook in r; only Python"),
    ],
)
def test_what_is_no_notebook_is_one_clear_error(tmp_path, content, message):
    path = tmp_path / "nb.ipynb"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(NotebookError) as raised:
        read_notebook(str(path), "nb.ipynb")
    assert message in str(raised.value)


def test_a_broken_notebook_from_the_command(tmp_path):
    done = run(tmp_path, "{")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("estimator-bridge run: 'nb.ipynb' is not a notebook: ")
    assert len(done.stderr.splitlines()) == 1


def test_older_formats_are_read(tmp_path):
    cell = {"cell_type": "code", "language": "python", "input": ["x = 1\n", "y = 2"]}
    text = {"cell_type": "markdown", "source": "none"}
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps({"nbformat": 3, "worksheets": [{"cells": [text, cell]}]}))
    assert read_notebook(str(path)).source == "x = 1\ny = 2"
    path.write_text(json.dumps(notebook("z = 3", as_lists=False)))
    assert read_notebook(str(path)).source == "z = 3"


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%time -r f(x)", "f(x)"),
        ("a = %time f(x)", "a = f(x)"),
        ("%prun -l 10 -s time f(x)", "f(x)"),
        ("%timeit f(x)", "pass"),
        ("%time", "pass"),
        ("?f", "pass"),
        ("f.g??", "pass"),
        ("a, b = !ls", "pass"),
        ("!!ls", "pass"),
        ("for x in y:\n\t!echo {x}\n\tz", "for x in y:\n\tpass\n\tz"),
        ("x = 1 + \\\n2\n!ls \\\n  -l\ny", "x = 1 + \\\n2\npass\n\ny"),
        ("'''\n!ls\n'''\n!ls", "'''\n!ls\n'''\npass"),
        ("%%capture out\nf()", "\nf()"),
        ("%%writefile f.py\nf()", ""),
        ("x % 3", "x % 3"),
        ("a[0] != 1", "a[0] != 1"),
    ],
)
def test_magics(cell, python):
    plain = plain_python(cell)
    ast.parse(plain.source)
    assert plain.source == python
    assert bool(plain.passed_over) == (cell != plain.source)
