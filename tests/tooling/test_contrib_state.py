"""tf.contrib's tests are left out only while nothing that they depend on has changed."""

from __future__ import annotations

import pytest

from tooling import contrib_state

FILES = {
    "estimator_bridge_contrib/MANIFEST": "# used\nheads  # a package\nbase.errors\nown.*\n",
    "estimator_bridge_contrib/slim.py": "",
    "estimator_bridge/tensorflow_private/loops.py": "",
    "estimator_bridge/heads/head.py": "",
    "estimator_bridge/base/errors.py": "",
    "estimator_bridge/base/other.py": "",
    "estimator_bridge/own/part/file.py": "",
    "tests/contrib/goldens/slim.json": "{}",
    "tests/graph/test_cut.py": "",
}
WITHOUT_EFFECT = {"estimator_bridge/base/other.py", "tests/graph/test_cut.py"}


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / contrib_state.RECORD).write_text(contrib_state.digest(tmp_path) + "\n")
    assert contrib_state.have_passed(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_counts_if_the_tests_depend_on_it(root, name):
    with (root / name).open("a") as file:
        file.write("\n# changed\n")
    assert contrib_state.have_passed(root) == (name in WITHOUT_EFFECT)


def test_a_new_file_a_moved_one_and_another_tensorflow_count(root, monkeypatch):
    (root / "tests/contrib/test_new.py").touch()
    assert not contrib_state.have_passed(root)
    (root / "tests/contrib/test_new.py").unlink()
    assert contrib_state.have_passed(root)
    slim = root / "estimator_bridge_contrib/slim.py"
    slim.rename(slim.with_name("thin.py"))
    assert not contrib_state.have_passed(root)
    slim.with_name("thin.py").rename(slim)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "2.16.2")
    assert not contrib_state.have_passed(root)


def test_without_a_record_they_run(root):
    (root / contrib_state.RECORD).unlink()
    assert not contrib_state.have_passed(root)
