"""The rules' texts: the page made of them, and their examples as `rewrite` output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from migrate.rewritten import rewritten

from estimator_bridge.migrate.documentation import page
from estimator_bridge.migrate.registry import all_rules, rule

PAGE = Path(__file__).resolve().parents[2] / "docs" / "rules.md"
EXAMPLES = re.compile(r"Before:\n+```python\n(.*?)```\n+After:\n+```python\n(.*?)```", re.S)


def test_the_page_is_made_of_the_rules_texts():
    again = "run `python -m estimator_bridge.migrate.documentation > docs/rules.md`"
    assert PAGE.read_text(encoding="utf-8") == page(), again


@pytest.mark.parametrize("code", [c for c, r in all_rules().items() if not r.on_files])
def test_a_rules_example_is_what_rewrite_does(code):
    examples = EXAMPLES.findall(all_rules()[code].text)
    left_alone = re.findall(r"Left alone.*?```python\n(.*?)```", all_rules()[code].text, re.S)
    assert examples or left_alone, f"{code} shows no example"
    for before, after in examples:
        assert rewritten(before).strip() == after.strip()
    for source in left_alone:  # its comment stands there already
        assert rewritten(source).strip() == source.strip()


def test_a_code_is_taken_once():
    def check(module):
        """Finds nothing."""
        return ()

    with pytest.raises(ValueError, match="EB010: wanted EB and three digits, not yet taken"):
        rule("EB010", "another")(check)
