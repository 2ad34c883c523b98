"""docs/check_and_rewrite.md shows what the commands print, and the hooks are commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from estimator_bridge.commands.cli import main
from estimator_bridge.migrate.documentation import page as rules_page
from estimator_bridge.migrate.options import read_configuration

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "check_and_rewrite.md").read_text(encoding="utf-8")
PROGRAM = re.search(r"```py\n(.*?)```", PAGE, re.S)[1]
SESSIONS = re.findall(r"```text\n\$ estimator-bridge (.*?)\n(.*?)```", PAGE, re.S)


@pytest.mark.parametrize(("command", "shown"), SESSIONS)
def test_the_page_shows_what_is_printed(tmp_path, monkeypatch, capsys, command, shown):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM)
    assert main(shlex.split(command)) == 1
    assert capsys.readouterr().out.strip() == shown.strip()


def test_the_pages_configuration_is_read(tmp_path):
    table = re.search(r"```toml\n(.*?)```", PAGE, re.S)[1]
    (tmp_path / "pyproject.toml").write_text(table)
    options = read_configuration(str(tmp_path))
    assert (options.select, options.exclude) == (("EB01", "EB03"), ("third_party/*",))
    assert table in rules_page()


def test_the_hooks_are_commands(tmp_path, monkeypatch, capsys):
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"^  entry: estimator-bridge (.+)$", hooks, re.M)
    assert entries == ["check", "rewrite --write"]
    assert re.findall(r"^- id: (.+)$", hooks, re.M) == re.findall(r"^      - id: (.+)$", PAGE, re.M)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("import os\n")
    for entry in entries:
        assert main([*shlex.split(entry), "train.py"]) == 0
