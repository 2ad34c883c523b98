"""The commands: output, files, exit codes, and unreadable files."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import pytest

from estimator_bridge.commands.cli import main
from estimator_bridge.migrate import options

OLD = (
    "import tensorflow as tf\n\nx = tf.contrib.layers.conv2d\ny = tf.contrib.learn.run_experiment\n"
)
NEW = (
    "from estimator_bridge.legacy import contrib\nimport tensorflow.compat.v1 as tf\n\n"
    "x = contrib.layers.conv2d\n# EB014: tf.contrib.learn.run_experiment no longer exists. Use "
    "tf.estimator.train_and_evaluate\n# with TrainSpec and EvalSpec.\n"
    "y = tf.contrib.learn.run_experiment\n"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_check_names_file_line_column_rule_and_what_to_do(folder, capsys):
    (folder / "a.py").write_text(OLD)
    (folder / "b.py").write_text("import numpy as np\nx = np.float32(1)\n")
    assert main(["check", "--verbose", "."]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == (
        "./a.py:3:5: EB012 [rewritten automatically] tf.contrib.layers.conv2d has moved. Write "
        "contrib.layers.conv2d, with `from estimator_bridge.legacy import contrib`."
    )
    assert lines[2].startswith("./a.py:4:5: EB014 [unavailable] tf.contrib.learn.run_experiment no")
    assert lines[-2] == "./a.py: 2 rewritten automatically, 1 unavailable"
    assert lines[-1] == "2 files, 6 lines: 2 rewritten automatically, 1 unavailable"
    assert main(["check", "--verbose", "b.py"]) == 0
    assert capsys.readouterr().out == "1 file, 2 lines: nothing found\n"


def test_check_sums_up_each_rule_and_names_the_next_command(folder, capsys):
    (folder / "a b.py").write_text(OLD + "z = tf.contrib.layers.flatten\n")
    (folder / "c.py").write_text("import numpy as np\nx = np.float32(1)\n")
    assert main(["check", "a b.py", "c.py"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "`rewrite` does all but 1 of 4 places."
    assert lines[2:5] == [
        "unavailable: 1",
        "  EB014    1  a name that no longer exists",
        "              a b.py:4:5: tf.contrib.learn.run_experiment no longer exists. Use "
        "tf.estimator.train_and_evaluate with TrainSpec and EvalSpec.",
    ]
    assert lines[6] == "rewritten automatically: 3"
    assert [line.split()[:2] for line in (lines[7], lines[9])] == [["EB012", "2"], ["EB010", "1"]]
    assert lines[8].lstrip().startswith("a b.py:3:5: tf.contrib.layers.conv2d has moved. Write ")
    assert lines[12:] == [
        "2 files, 7 lines, findings in 1; --verbose lists each",
        "Next: estimator-bridge rewrite 'a b.py' c.py",
        "(shows the change; with --write, makes it)",
    ]
    assert main(["check", "c.py"]) == 0
    assert capsys.readouterr().out == "Nothing to change.\n\n1 file, 2 lines\n"


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        (
            "import tensorflow as tf\nx = tf.Session\n",
            "Runs as it is under `estimator-bridge run`; for plain Python, `rewrite` does all: "
            "1 place.",
        ),
        ("x = {}.iteritems()\n", "`rewrite` does all: 1 place."),
        ("x = 1\nprint 'a', x\n", "1 place for a person, and nothing for `rewrite`."),
    ],
)
def test_the_first_line_of_check_is_a_verdict(folder, capsys, source, verdict):
    (folder / "a.py").write_text(source)
    assert main(["check", "a.py"]) == 1
    assert capsys.readouterr().out.startswith(f"{verdict}\n\n")


def test_rewrite_shows_or_writes_and_a_second_time_does_nothing(folder, capsys):
    file = folder / "a.py"
    file.write_text(OLD)
    file.chmod(0o754)
    assert main(["rewrite", "a.py"]) == 1
    assert file.read_text() == OLD
    diff = capsys.readouterr().out
    assert diff.startswith("--- a/a.py\n+++ b/a.py\n")
    assert "+x = contrib.layers.conv2d\n" in diff
    assert main(["rewrite", "--write", "a.py"]) == 1  # tf.contrib.learn.run_experiment is left
    assert capsys.readouterr().err == "1 file: 1 written, 1 place left for a person\n"
    assert file.read_text() == NEW
    assert stat.S_IMODE(file.stat().st_mode) == 0o754
    assert os.listdir(folder) == ["a.py"]
    assert main(["rewrite", "a.py"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["rewrite", "--write", "a.py"]) == 1
    file.write_text("".join(NEW.splitlines(True)[:-3]))
    assert main(["rewrite", "--write", "a.py"]) == 0


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "cp1251"])
def test_a_file_keeps_its_encoding(folder, encoding):
    letters = "ж" if encoding == "cp1251" else "é"
    head = "" if encoding == "utf-8-sig" else f"# -*- coding: {encoding} -*-\n"
    (folder / "a.py").write_bytes(f"{head}x = '{letters}'; y = xrange(2)\n".encode(encoding))
    assert main(["rewrite", "--write", "a.py"]) == 0
    after = f"{head}x = '{letters}'; y = range(2)\n"
    assert (folder / "a.py").read_bytes() == after.encode(encoding)


def test_files_of_tools_and_links_are_passed_over(folder, capsys):
    (folder / "a_pb2.py").write_text(OLD)
    (folder / "b.py").write_text(
        "# Generated by the protocol buffer compiler.  DO NOT EDIT!\n" + OLD
    )
    (folder / "c.py").write_text("x = 1\n")
    os.symlink("a_pb2.py", folder / "d.py")
    os.symlink(".", folder / "loop")
    assert main(["check", "."]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Nothing to change.\n\nworks as is: 2\n  EB004    2  ")
    assert "./loop: passed over: a link to a folder\n" in text
    assert text.endswith(
        "./d.py: passed over: a link\n"
        "5 files, 1 lines, 4 passed over, findings in 2; --verbose lists each\n"
    )
    assert main(["check", "--verbose", "."]) == 0
    assert "5 files, 1 lines, 4 passed over: 2 works as is" in capsys.readouterr().out
    assert main(["rewrite", "--write", "."]) == 0
    log = capsys.readouterr().err
    assert "./a_pb2.py: passed over: made by a tool" in log
    assert "./b.py: passed over: made by a tool" in log
    assert "./d.py: passed over: a link\n" in log
    assert "./loop: passed over: a link to a folder\n" in log
    assert log.endswith("5 files: 0 written, 4 passed over\n")
    assert (folder / "a_pb2.py").read_text() == OLD


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name a file or a folder"),
        (["nosuch.py"], "nosuch.py does not exist"),
        (["."], ". contains no Python"),
        ([".", "--select", "EB999"], "no rule has the code or prefix 'EB999'"),
    ],
)
@pytest.mark.parametrize("command", ["check", "rewrite"])
def test_wrong_usage_is_one_line(folder, capsys, command, arguments, words):
    assert main([command, *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"estimator-bridge {command}: {words}")
    assert error.count("\n") == 1


def test_rules_are_chosen_by_arguments_comments_and_configuration(folder, capsys):
    (folder / "a.py").write_text(
        "import numpy as np\nx = np.float\ny = xrange(1)  # eb: ignore[EB03]\n"
    )

    def codes(*arguments):
        main(["check", "a.py", "--format", "json", *arguments])
        (file,) = json.loads(capsys.readouterr().out)["files"]
        return [finding["rule"] for finding in file["findings"]]

    assert codes() == ["EB040"]
    assert codes("--ignore", "EB04") == []
    (folder / "pyproject.toml").write_text('[tool.estimator-bridge]\nignore = ["EB04"]\n')
    assert codes() == []
    assert codes("--ignore", "EB001") == ["EB040"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('ignroe = ["EB04"]', "has no setting 'ignroe'; it has dialect, exclude, ignore, select"),
        ('ignore = "EB04"', "ignore is a list of strings, not 'EB04'"),
        ('dialect = "tf3"', "dialect is 'tf1' or 'tf2', not 'tf3'"),
        ("ignore =", "is not valid TOML"),
    ],
)
def test_wrong_configuration_is_one_line(folder, capsys, table, words):
    (folder / "a.py").write_text("x = 1\n")
    (folder / "pyproject.toml").write_text(f"[tool.estimator-bridge]\n{table}\n")
    assert main(["check", "a.py"]) == 2
    assert words in capsys.readouterr().err


def test_without_a_reader_of_toml_the_configuration_says_what_to_install(folder, monkeypatch):
    (folder / "pyproject.toml").write_text("[tool.estimator-bridge]\n")
    monkeypatch.setattr(options, "_toml", lambda: None)
    with pytest.raises(options.ConfigurationError, match="pip install tomli"):
        options.read_configuration(str(folder))
    (folder / "pyproject.toml").write_text("[tool.other]\n")
    assert options.read_configuration(str(folder)) == options.Options()


def test_github_gets_commands(folder, capsys):
    (folder / "a.py").write_text(OLD)
    main(["check", "a.py", "--format", "github"])
    text = capsys.readouterr().out
    assert "::error file=a.py,line=4,col=5,title=EB014%2C unavailable::tf.contrib.learn." in text
    assert "::warning file=a.py,line=3,col=5,title=EB012" in text


def test_sarif_has_what_its_schema_wants(folder, capsys):
    """The whole output was valid by the official schema of 2.1.0, which is not kept here."""
    (folder / "a b.py").write_text(OLD)
    (folder / "ä.py").write_text("x = xrange(1)\nprint(unicode)\n")
    assert main(["check", ".", "--format", "sarif"]) == 1
    log = json.loads(capsys.readouterr().out)
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "estimator-bridge"
    assert [rule["id"] for rule in rules] == ["EB010", "EB012", "EB014", "EB030"]
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in rules)
    places = []
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        region = place["region"]
        assert region["startLine"] >= 1 and region["startColumn"] >= 1
        places.append((place["artifactLocation"]["uri"], region["startLine"], result["level"]))
    assert places == [
        ("a%20b.py", 1, "warning"), ("a%20b.py", 3, "warning"), ("a%20b.py", 4, "error"),
        ("%C3%A4.py", 1, "warning"), ("%C3%A4.py", 2, "warning"),
    ]  # fmt: skip


def test_a_reader_that_stops_early_is_no_error(folder):
    (folder / "a.py").write_text("x = xrange(1)\n" * 5000)
    shown = [sys.executable, "-m", "estimator_bridge", "check", "--verbose", "a.py"]
    process = subprocess.Popen(shown, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    _, error = process.communicate(timeout=300)
    assert (process.returncode, error) == (1, b"")


def test_a_file_that_changes_meanwhile_is_not_written(folder, capsys, monkeypatch):
    from estimator_bridge.migrate import atomic_writes

    (folder / "a.py").write_text(OLD)
    write = atomic_writes.write_whole

    def write_late(path, content, before):
        (folder / "a.py").write_text("changed = 1\n")
        write(path, content, before)

    monkeypatch.setattr(atomic_writes, "write_whole", write_late)
    assert main(["rewrite", "--write", "a.py"]) == 1
    assert "has changed since it was read" in capsys.readouterr().err
    assert (folder / "a.py").read_text() == "changed = 1\n"
    assert os.listdir(folder) == ["a.py"]


def test_neither_command_loads_tensorflow(folder):
    (folder / "a.py").write_text(OLD)
    cell = {"cell_type": "code", "source": OLD}
    (folder / "b.ipynb").write_text(json.dumps({"cells": [cell], "nbformat": 4}))
    program = (
        "import sys\nfrom estimator_bridge.commands.cli import main\n"
        "assert [main([command, '.']) for command in ('check', 'rewrite')] == [1, 1]\n"
        "assert not {'tensorflow', 'numpy', 'keras'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, cwd=folder)


def test_a_file_that_is_read_only_stays_as_it_is(folder, capsys):
    (folder / "a.py").write_text(OLD)
    (folder / "a.py").chmod(0o444)
    assert main(["rewrite", "--write", "a.py"]) == 1
    log = capsys.readouterr().err
    assert "a.py is read-only: make it writable, and run the command again\n" in log
    assert "1 file: 0 written" in log
    assert (folder / "a.py").read_text() == OLD
    assert os.listdir(folder) == ["a.py"]


def test_where_a_new_name_comes_from_is_said(folder, capsys):
    (folder / "a.py").write_text(
        "import tensorflow as tf\nx = tf.contrib.layers.flatten, tf.estimator.Estimator\n"
    )
    assert main(["check", "a.py"]) == 1
    text = capsys.readouterr().out
    imported = "`from estimator_bridge.legacy import contrib`"
    assert f"Write contrib.layers.flatten, with {imported}.\n" in text
    assert "Write eb.v1.Estimator.\n" in text


def test_a_file_is_rewritten_once_and_links_stay(folder, capsys):
    (folder / "src").mkdir()
    (folder / "src" / "a.py").write_text("x = xrange(1)\n")
    os.symlink("src", folder / "other")
    os.symlink("src/a.py", folder / "b.py")
    os.symlink("..", folder / "src" / "up")
    os.symlink("/nowhere.py", folder / "src" / "broken.py")
    assert main(["rewrite", "--write", "b.py", "src/a.py", "other", "src"]) == 0
    log = capsys.readouterr().err
    assert log.splitlines()[-1] == "5 files: 1 written, 4 passed over"
    assert os.readlink(folder / "b.py") == "src/a.py"
    assert (folder / "src" / "a.py").read_text() == "x = range(1)\n"


def test_a_kill_leaves_the_old_file(folder):
    for name in ("a.py", "b.py"):
        (folder / name).write_text("x = xrange(1)\n")
    program = (
        "import os, signal\nfrom estimator_bridge.commands.cli import main\n"
        "from estimator_bridge.migrate import atomic_writes\ncopy = atomic_writes.shutil.copymode\n"
        "def killed(source, target):\n    if source.endswith('b.py'):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n    copy(source, target)\n"
        "atomic_writes.shutil.copymode = killed\nmain(['rewrite', '--write', '.'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, cwd=folder)
    assert done.returncode == -9
    assert (folder / "a.py").read_text() == "x = range(1)\n"
    assert (folder / "b.py").read_text() == "x = xrange(1)\n"
    assert main(["rewrite", "--write", "."]) == 0  # what was left beside it is no source
    assert (folder / "b.py").read_text() == "x = range(1)\n"
