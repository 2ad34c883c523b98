"""The search for the largest batch that fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator_bridge.compile_for.batch_search import LargestBatch, Search, SearchEndError, Trial

AVAILABLE = 16 << 30


def search(largest, step, start, each=1 << 20, base=0, most_trials=24):
    """A search in a world where batches up to ``largest`` fit."""
    tried = []

    def attempt(size):
        assert size % step == 0
        assert size not in tried
        tried.append(size)
        return Trial(size <= largest, base + each * size)

    result = Search(attempt, step, AVAILABLE)
    result.run(start, most_trials)
    assert result.trials == len(tried)
    return result


@given(
    st.integers(0, 100_000),
    st.sampled_from([1, 8, 256]),
    st.integers(1, 100_000),
    st.integers(1 << 10, 1 << 22),
)
def test_the_largest_multiple_that_fits_is_found(largest, step, start, each):
    result = search(largest, step, start, each, most_trials=200)
    assert result.size == largest - largest % step
    assert result.too_large == result.size + step
    assert result.why_ended == ""


def test_a_straight_line_needs_few_sizes():
    each = 3 << 20
    largest = AVAILABLE // each
    result = search(largest, 1, 32, each)
    assert result.size == largest
    assert result.bytes == largest * each
    assert result.trials <= 14


def test_what_does_not_end_is_ended_and_said():
    result = search(1 << 60, 8, 8)
    assert result.too_large is None
    assert result.why_ended == "larger ones were not tried"
    assert search(77_777, 1, 1, most_trials=5).why_ended == "the search ended after 5 sizes"


def test_a_size_that_the_program_refuses_ends_the_search():
    def attempt(size):
        if size > 16:
            raise SearchEndError("the program has no batches of 32")
        return Trial(True, 1)

    result = Search(attempt, 8, AVAILABLE)
    result.run(8)
    assert (result.size, result.why_ended) == (16, "the program has no batches of 32")


@pytest.mark.parametrize(
    ("size", "too_large", "text"),
    [
        (64, 72, "batches of 64 fit (1 GiB of 16 GiB), batches of 72 do not; 5 sizes compiled"),
        (0, 8, "no batch fits, batches of 8 do not"),
    ],
)
def test_the_result_is_a_line(size, too_large, text):
    batch = LargestBatch("training", "v5e-8", size, too_large, 1 << 30, AVAILABLE, 5)
    assert text in str(batch)
