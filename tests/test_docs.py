"""Commands and code of the documentation run as shown, and the names in it exist."""

from __future__ import annotations

import contextlib
import doctest
import functools
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import documents
import pytest
from absl import flags as absl_flags

import flags
from estimator_bridge.base import compatibility
from estimator_bridge.commands import cli
from models.common.registry import define_model_flags, settle
from models.lstm.sample import make_parser

ROOT = documents.ROOT
BY_NAME = {page.relative_to(ROOT).as_posix(): page for page in documents.PAGES}
each_page = pytest.mark.parametrize("page", BY_NAME.values(), ids=BY_NAME)
# Turns the process's TensorFlow back to 2018; other tests go on in this process.
OWN_PROCESS = "disable_v2_behavior()"
OPTIONAL = ("tensorflow_hub",)  # packages that some pages are about


def run_page(page):
    """Runs the Python blocks of a page, one after the other, as one program.

    Blocks share their variables. Where an output is shown, it has to be that; `...` in it stands
    for anything.
    """
    values = {"__name__": "__main__"}
    for block, expected in documents.programs(page):
        # Line numbers of a traceback are those of the page.
        source = "\n" * (block.line - 1) + block.text
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            run_source(compile(source, str(page), "exec"), values)
        if expected is not None:
            checker = doctest.OutputChecker()
            assert checker.check_output(expected, printed.getvalue(), doctest.ELLIPSIS), (
                f"{page.name}, line {block.line}: shown\n{expected}\nprinted\n{printed.getvalue()}"
            )


def run_source(code, values):
    try:
        exec(code, values)
    except SystemExit as stopped:  # how tf.app.run ends
        if stopped.code:
            raise


@each_page
def test_python_runs_as_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for package in OPTIONAL:
        if any(f"import {package}" in block.text for block, _ in documents.programs(page)):
            pytest.importorskip(package, reason=f"{page.name} needs {package}: see the page")
    if not any(OWN_PROCESS in block.text for block, _ in documents.programs(page)):
        run_page(page)
        return
    done = subprocess.run(
        [sys.executable, __file__, str(page)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@each_page
def test_commands_exist(page):
    for words in documents.commands(page):
        check_command(words)


def check_command(words):
    program, *arguments = words
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
        assert {a for a in arguments if "=" not in a} <= set(targets), words
    elif words[:2] == ["estimator-bridge", "run"]:
        assert cli.parse(arguments).program, words
    elif program == "estimator-bridge":
        with pytest.raises(SystemExit) as stopped:
            cli.main([*arguments, "--help"])
        assert stopped.value.code == 0, words
    elif program == "pip":
        assert arguments[0] == "install" or arguments[:2] == ["uninstall", "-y"], words
        names = {re.split(r"[<>=~]", a)[0] for a in arguments[1:]} - {"--upgrade", "-e", "-y"}
        packages = {"tensorboard", "tensorflow", "tf-keras", "path/to/this/repository", ".[models]"}
        packages |= {"setuptools", "tensorflow-hub", "tensorflow-tpu", "tensorflow-cpu"}
        packages |= {"path/to/this/repository/estimator_bridge/tensorflow_for_tpu"}
        packages |= {f"estimator-bridge[{name}]" for name in ("jax", "tpu-compile", "safetensors")}
        assert names <= packages, words
    elif program == "tensorboard":
        assert arguments[0].startswith("--logdir"), words
    elif arguments[:2] == ["-m", "models.lstm.sample"]:
        make_parser().parse_args(arguments[2:])
    elif arguments[:1] == ["-m"]:
        assert importlib.util.find_spec(arguments[1]) is not None, words
    elif words[:2] == ["python", "predict.py"]:
        cli.parse(["predict", *(w for w in arguments[1:] if not w.startswith("--model="))])
    else:
        assert words[:2] == ["python", "train.py"], f"the test does not know {words}"
        # An earlier run writes the file of --config.
        remaining = [w for w in arguments if w != "--help" and not w.startswith("--config=")]
        assert flags.parse_flags(remaining, flags_of_train(), settle) == ["train.py"]


def flags_of_train():
    values = absl_flags.FlagValues()
    flags.define_flags(values, paths={"data_dir": "data"})
    define_model_flags(values)
    return values


@each_page
def test_flags_that_the_text_names_exist(page):
    named = {
        flag
        for code in documents.inline_code(page)
        for flag in re.findall(r"(?<!\S)--(\w+)", code)
        if not code.startswith(("pip ", "tensorboard "))
    }
    flag_names = set(flags_of_train()) | {"flagfile", "help", "helpfull"}
    for command in ("check", "data", "predict", "rewrite", "run", "weights"):
        flag_names |= set(re.findall(r"--(\w+)", cli.help_of(command)))
    flag_names |= set(re.findall(r"--(\w+)", make_parser().format_help()))
    flag_names |= {f"no{name}" for name in flag_names}
    assert named <= flag_names


def test_train_py_defines_the_shared_flags():
    source = (ROOT / "train.py").read_text(encoding="utf-8")
    assert "flags.define_flags(" in source
    assert "define_model_flags()" in source
    assert "flags.parse_flags(argv, settle=settle)" in source


@each_page
def test_names_of_the_library_exist(page):
    import estimator_bridge

    for code in documents.inline_code(page):
        for name in re.findall(r"\beb\.((?:\w+\.)*\w+)", code):
            functools.reduce(getattr, name.split("."), estimator_bridge)


@each_page
def test_links_lead_somewhere(page):
    for link in documents.links(page):
        if not link.startswith("http"):
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            assert target.exists(), link
            assert not anchor or anchor in documents.anchors(target), link


@each_page
def test_files_that_the_text_names_exist(page):
    rooms = {path.name for path in (ROOT / "estimator_bridge").iterdir() if path.is_dir()}
    for code in documents.inline_code(page):
        if re.fullmatch(r"[\w./]+(\.py|\.md|/)", code):
            top = code.partition("/")[0]
            if top in rooms:
                assert (ROOT / "estimator_bridge" / code).exists(), code
            elif "/" in code and (ROOT / top).is_dir():
                assert (ROOT / code).exists(), code


def test_errors_are_quoted_as_they_are_said():
    sources = documents.strings_in_sources()
    phrases = documents.error_phrases(BY_NAME["docs/migration.md"])
    assert phrases
    assert [phrase for phrase in phrases if phrase not in sources] == []


def test_the_supported_versions_are_those_that_are_checked():
    oldest, untested = compatibility.OLDEST_TENSORFLOW, compatibility.FIRST_UNTESTED_TENSORFLOW
    supported = f"{oldest[0]}.{oldest[1]} to {untested[0]}.{untested[1] - 1}"
    assert f"TensorFlow {supported}" in BY_NAME["README.md"].read_text(encoding="utf-8")


def test_every_page_is_in_the_list_of_pages():
    pages = BY_NAME["docs/pages.md"]
    linked = {(pages.parent / link).resolve() for link in documents.links(pages)}
    assert set(BY_NAME.values()) - {BY_NAME["README.md"], pages} <= linked


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
