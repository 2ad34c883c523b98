"""The table of what is supported is the one that the documentation shows."""

from __future__ import annotations

import importlib
from pathlib import Path

from estimator_bridge.legacy import contrib
from estimator_bridge.legacy.running.supported import table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "supported.md"


def test_the_documentation_shows_the_table():
    again = "run `estimator-bridge run --list-supported > docs/supported.md`"
    assert PAGE.read_text(encoding="utf-8") == table() + "\n", again


def test_every_name_of_the_table_is_there():
    for namespace in contrib.NAMESPACES:
        module = importlib.import_module(f"{contrib.__name__}.{namespace}")
        assert module.__all__, namespace
        for name in module.__all__:
            assert getattr(module, name) is not None, f"{namespace}.{name}"
