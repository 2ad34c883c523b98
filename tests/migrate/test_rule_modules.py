"""Each module of `rules/` holds one rule, and has a test module with cases of both kinds."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from estimator_bridge.migrate import rules
from estimator_bridge.migrate.registry import all_rules

TESTS = Path(__file__).parent / "rules"
MODULES = sorted(
    path.stem for path in Path(rules.__path__[0]).glob("*.py") if path.stem != "__init__"
)


def test_each_rule_has_a_test_module_and_each_test_module_a_rule():
    assert sorted(path.stem for path in TESTS.glob("test_*.py")) == [f"test_{m}" for m in MODULES]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_holds_one_rule(module):
    own = [r for r in all_rules().values() if r.check.__module__ == f"{rules.__name__}.{module}"]
    assert len(own) == 1 or (own and all(rule.on_files for rule in own))


@pytest.mark.parametrize("module", MODULES)
def test_a_test_module_has_cases_left_alone_and_cases_that_are_not(module):
    text = (TESTS / f"test_{module}.py").read_text(encoding="utf-8")
    cases = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    assert "test_left_alone" in cases
    assert cases & {"test_changed", "test_reported"}
    codes = [c for c, r in all_rules().items() if r.check.__module__.endswith(f".{module}")]
    assert [code for code in codes if code not in text] == []
