"""docs/evidence/programs.md lists the programs that CI runs; it cannot run third-party ones."""

import re
from pathlib import Path

from running_programs import ROOT, SCRIPTS

# What a program is made of, and is no program by itself.
PARTS = {"trainer/__init__.py", "trainer/model.py", "trainer/nets.py"}


def test_the_page_lists_our_programs():
    page = (ROOT / "docs" / "evidence" / "programs.md").read_text(encoding="utf-8")
    _, _, ours = page.partition("\n## Our own programs\n")
    listed = set(re.findall(r"`([\w/]+\.py)`", " ".join(re.findall(r"^\|([^|]+)\|", ours, re.M))))
    there = {path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.rglob("*.py")}
    assert listed == there - PARTS


def test_every_program_is_run_by_a_test():
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    for path in SCRIPTS.glob("*.py"):
        imported = f"import {path.stem}" in "".join(p.read_text() for p in SCRIPTS.glob("*.py"))
        assert imported or f'"{path.name}"' in tests, path.name
