import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge.export.export_folders import new_version
from estimator_bridge.training.exporters.export_cleanup import delete_old_exports, exports_in
from estimator_bridge.training.exporters.exporter import record_export


def test_exports_of_one_second_have_names_that_grow(tmp_path):
    names = []
    for _ in range(3):
        with new_version(str(tmp_path), now=1700000000.9) as version:
            assert os.listdir(version.temporary) == []
        names.append(os.path.basename(version.final))
    assert names == ["1700000000", "1700000001", "1700000002"] == sorted(os.listdir(tmp_path))


def test_two_that_are_written_at_once_are_kept_apart(tmp_path):
    now = 1700000007
    with new_version(str(tmp_path), now) as first, new_version(str(tmp_path), now) as second:
        for version in (first, second):
            Path(version.temporary, "of").write_text(version.temporary)
        # Nothing is seen that could be taken for a version; TensorFlow Serving reads numbers.
        assert all(name.startswith(f"temp-{now}-") for name in os.listdir(tmp_path))
    assert sorted(os.listdir(tmp_path)) == [str(now), str(now + 1)]
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


def exported(base, now):
    with new_version(str(base), now=now) as version:
        Path(version.temporary, "saved_model.pb").write_text("")
    record_export(version.final, base)
    return int(os.path.basename(version.final))


NOW = 1_700_000_000
JUMPS = {
    "back two hours": -7200,
    "forward two hours": 7200,
    "forward ten years": 10 * 365 * 86400,
    "back before 2001": 86400 - NOW,
    "forward beyond 2255": 10**10,
}


@pytest.mark.parametrize("jump", JUMPS.values(), ids=JUMPS)
def test_a_later_export_has_a_larger_number_whatever_the_clock_says(jump, tmp_path):
    """The largest number is served, and exporters delete the smallest."""
    times = [NOW, NOW, NOW + 5, NOW + jump, NOW + jump + 5, NOW + 60, NOW + 60]
    numbers = [exported(tmp_path, now) for now in times]
    assert numbers[:3] == [NOW, NOW + 1, NOW + 5]
    assert numbers == sorted(set(numbers))
    assert [int(os.path.basename(path)) for path in exports_in(tmp_path)] == numbers
    delete_old_exports(tmp_path, 1)
    assert os.listdir(tmp_path) == [str(numbers[-1])]


def test_after_a_gap_the_clock_counts_again(tmp_path):
    assert exported(tmp_path, NOW) == NOW
    (tmp_path / str(NOW)).rename(tmp_path / str(NOW - 60))
    assert exported(tmp_path, NOW) == NOW


@pytest.mark.parametrize("name", ["99999999999", "9999999999", "20240101", "1", "0", "mine"])
def test_a_users_own_folder_is_neither_counted_nor_deleted(name, tmp_path):
    (tmp_path / name).mkdir()
    numbers = [exported(tmp_path, now) for now in (NOW, NOW - 7200)]
    assert numbers == [NOW, NOW + 1]
    delete_old_exports(tmp_path, 1)
    assert sorted(os.listdir(tmp_path)) == sorted([name, str(NOW + 1)])


@settings(max_examples=50, deadline=None)
@given(
    times=st.lists(st.integers(-(10**10), 10**11), min_size=1, max_size=6),
    keep=st.integers(1, 4),
)
def test_the_newest_exports_stay(times, keep):
    with tempfile.TemporaryDirectory() as base:
        numbers = []
        for now in times:
            numbers.append(exported(base, now))
            delete_old_exports(base, keep)
            assert sorted(map(int, os.listdir(base))) == numbers[-keep:]
