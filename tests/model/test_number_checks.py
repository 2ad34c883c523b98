import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator_bridge.model.number_checks import check_positive_integer, parse_iterations_per_loop

_SECONDS = {"s": 1, "m": 60, "h": 3600}


@given(st.integers(1, 10**12))
def test_a_number_counts_steps(steps):
    assert parse_iterations_per_loop(steps) == (steps, "count")
    assert parse_iterations_per_loop(str(steps)) == (steps, "count")


@given(st.integers(1, 10**6), st.sampled_from("smh"))
def test_a_unit_makes_it_a_time(value, unit):
    assert parse_iterations_per_loop(f"{value}{unit}") == (value * _SECONDS[unit], "seconds")


@pytest.mark.parametrize("bad", [0, -3, 1.5, True, None, "", "5 s", "s", "05", "5d", "1h30m", "5|"])
def test_anything_else_is_refused(bad):
    with pytest.raises(ValueError, match="Invalid TPUConfig `iterations_per_loop` value"):
        parse_iterations_per_loop(bad)


def test_positive_integer():
    check_positive_integer(np.int64(3), "x")
    with pytest.raises(TypeError, match="x must be int, got <class 'str'>: '3'"):
        check_positive_integer("3", "x")
    with pytest.raises(ValueError, match="x must be positive, got 0"):
        check_positive_integer(0, "x")
