"""Which tests cover a file: by import, by a name of its own, by its name, by its package."""

from __future__ import annotations

import pytest

from tooling.tests_of import tests_of as covering


@pytest.fixture
def repository(tmp_path):
    for name, text in {
        "library/graph/cut.py": "def cut_in_two(): ...\ndef shared(): ...\n",
        "library/graph/sew.py": "def shared(): ...\n",
        "library/graph/__init__.py": "",
        "library/silent.py": "def _private(): ...\n",
        "tests/graph/test_cut.py": "",
        "tests/graph/test_words.py": "bridge.cut_in_two(cloth)\nbridge.shared()\n",
        "tests/other/test_cut.py": "from library.graph.sew import shared\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_by_name_and_by_a_name_of_its_own(repository):
    expected = ["tests/graph/test_cut.py", "tests/graph/test_words.py"]
    assert covering("library/graph/cut.py", repository) == expected


def test_by_import_alone_where_a_name_is_of_two_modules(repository):
    assert covering("library/graph/sew.py", repository) == ["tests/other/test_cut.py"]


def test_by_the_package_where_nothing_names_the_module(repository):
    expected = ["tests/graph/test_cut.py", "tests/graph/test_words.py"]
    assert covering("library/graph/__init__.py", repository) == expected
    assert covering("library/silent.py", repository) == []


def test_what_is_no_module_is_refused(repository):
    with pytest.raises(FileNotFoundError, match=r"no module at library/gone\.py"):
        covering("library/gone.py", repository)
