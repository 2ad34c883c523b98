"""The user's line is outside of the libraries, wherever these are installed."""

import importlib
import sys
import zipfile

import pytest

from estimator_bridge.graph import user_line

SOURCE = "def call(function):\n    return function()\n"


@pytest.fixture
def places():
    user_line._library_places.cache_clear()
    yield user_line._library_places
    user_line._library_places.cache_clear()


@pytest.mark.parametrize("kind", ["folder", "archive", "link"])
def test_a_library_is_known_by_its_own_folder(kind, places, tmp_path, monkeypatch):
    """As `pip install --target` makes it, or as an archive on the path."""
    monkeypatch.setattr(user_line, "_LIBRARIES", ("some_library",))
    if kind == "archive":
        on_path = tmp_path / "libraries.zip"
        with zipfile.ZipFile(on_path, "w") as archive:
            archive.writestr("some_library/__init__.py", SOURCE)
    else:
        on_path = tmp_path / "anywhere"
        (tmp_path / "real" / "some_library").mkdir(parents=True)
        (tmp_path / "real" / "some_library" / "__init__.py").write_text(SOURCE)
        if kind == "link":
            on_path.symlink_to(tmp_path / "real")
        else:
            (tmp_path / "real").rename(on_path)
    monkeypatch.syspath_prepend(str(on_path))
    monkeypatch.delitem(sys.modules, "some_library", raising=False)
    library = importlib.import_module("some_library")
    line = sys._getframe().f_lineno + 2
    with pytest.raises(ZeroDivisionError) as caught:
        library.call(lambda: 1 / 0)  # this line is the user's; the library calls it
    assert f"test_user_line.py:{line}" in user_line.line_of_error(caught.value)
    with pytest.raises(TypeError) as caught:
        library.call(None)  # fails in the library
    assert f"test_user_line.py:{line + 3}" in user_line.line_of_error(caught.value)


def test_a_project_with_a_librarys_name_in_its_path_is_the_users(places, tmp_path):
    folder = tmp_path / "site-packages" / "tensorflow-models" / "tensorflow"
    folder.mkdir(parents=True)
    (folder / "train.py").write_text("1 / 0\n")
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile((folder / "train.py").read_text(), str(folder / "train.py"), "exec"))
    assert user_line.line_of_error(caught.value) == f"{folder / 'train.py'}:1: 1 / 0"
