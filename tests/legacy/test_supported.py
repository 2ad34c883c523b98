"""The table of supported names equals the documentation's."""

from __future__ import annotations

from pathlib import Path

import pytest

from estimator_bridge.legacy.running.supported import table
from estimator_bridge_contrib.namespaces import NAMESPACES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "contrib" / "supported.md"


def test_the_documentation_shows_the_table():
    again = "run `estimator-bridge run --list-supported > docs/contrib/supported.md`"
    assert PAGE.read_text(encoding="utf-8") == table() + "\n", again


@pytest.mark.parametrize("namespace", NAMESPACES.values(), ids=NAMESPACES)
def test_every_name_of_the_table_is_there(namespace):
    module = namespace.load()
    assert module.__all__ == namespace.names == dir(module)
    for name in namespace.names:
        assert getattr(module, name) is not None, name
    assert not set(namespace.names) & set(namespace.unsupported)
