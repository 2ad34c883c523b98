"""The rule for the number of files, from 1 MB to 10 GB and beyond."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator_bridge.records import shards_for

MB = 10**6
GB = 1000 * MB
totals = st.integers(1 * MB, 10 * GB)


@given(totals)
def test_files_have_10_to_100_mb_unless_all_is_less(total):
    count = shards_for(total)
    size = total / count
    assert size <= 100 * MB
    assert count == 1 or size >= 10 * MB


@given(totals)
def test_there_are_64_files_if_their_size_allows_it(total):
    count = shards_for(total)
    if 640 * MB <= total <= 6400 * MB:
        assert count == 64
    elif total < 640 * MB:
        assert count == max(1, total // (10 * MB))  # no more fit
    else:
        assert count > 64
        assert count % 8 == 0  # hosts get equal numbers
        assert total / (count - 8) > 100 * MB or count - 8 <= 64  # and no more than needed


@given(totals, totals)
def test_more_data_has_no_fewer_files(one, other):
    assert shards_for(min(one, other)) <= shards_for(max(one, other))


@given(st.integers(0, 10**15), st.integers(0, 200))
def test_no_file_stays_empty(total, records):
    assert 1 <= shards_for(total, records) <= max(1, records)


@pytest.mark.parametrize(
    ("total", "count"),
    [(1 * MB, 1), (19 * MB, 1), (200 * MB, 20), (1 * GB, 64), (10 * GB, 104), (1000 * GB, 10000)],
)
def test_examples_of_the_documentation(total, count):
    assert shards_for(total) == count


def test_a_negative_size_is_an_error():
    with pytest.raises(ValueError, match="got -1 bytes and None records"):
        shards_for(-1)
