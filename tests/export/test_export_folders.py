import os
import shutil
from pathlib import Path

import pytest

from estimator_bridge.export.export_folders import new_version


def test_exports_of_one_second_have_names_that_grow(tmp_path):
    names = []
    for _ in range(3):
        with new_version(str(tmp_path), now=1000.9) as version:
            assert os.listdir(version.temporary) == []
        names.append(os.path.basename(version.final))
    assert names == ["1000", "1001", "1002"] == sorted(os.listdir(tmp_path))


def test_two_that_are_written_at_once_are_kept_apart(tmp_path):
    with new_version(str(tmp_path), now=7) as first, new_version(str(tmp_path), now=7) as second:
        for version in (first, second):
            Path(version.temporary, "of").write_text(version.temporary)
        # Nothing is seen that could be taken for a version; TensorFlow Serving reads numbers.
        assert all(name.startswith("temp-7-") for name in os.listdir(tmp_path))
    assert sorted(os.listdir(tmp_path)) == ["7", "8"]
    for version in (first, second):
        assert Path(version.final, "of").read_text() == version.temporary


@pytest.mark.parametrize("is_new", [True, False])
def test_a_failed_export_leaves_nothing(is_new, tmp_path):
    base = tmp_path / "base"
    if not is_new:
        base.mkdir()
    with pytest.raises(KeyError), new_version(str(base)) as version:
        Path(version.temporary, "half").write_text("")
        raise KeyError
    assert base.exists() != is_new
    assert os.listdir(tmp_path) == ([] if is_new else ["base"])
    assert is_new or os.listdir(base) == []


def test_a_later_export_has_a_larger_number_than_those_ahead_of_the_clock(tmp_path):
    """Exports within one second are named by the next seconds, and older ones may be deleted."""
    base = str(tmp_path)
    for _ in range(3):
        with new_version(base, now=100.0):
            pass
    shutil.rmtree(tmp_path / "100")
    with new_version(base, now=101.5) as version:
        pass
    assert version.final == f"{base}/103"
    (tmp_path / "9999999999").mkdir()  # a user's own name
    with new_version(base, now=200.0) as version:
        pass
    assert version.final == f"{base}/200"
