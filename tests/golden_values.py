"""Compares values with those of a golden file."""

from __future__ import annotations

import numpy as np

__all__ = ["same"]


def same(ours, theirs, where):
    """Asserts that two JSON values are equal, numbers to the accuracy of float32."""
    if isinstance(theirs, dict):
        assert sorted(ours) == sorted(theirs), where
        for key, value in theirs.items():
            same(ours[key], value, f"{where}/{key}")
    elif isinstance(theirs, list) and theirs and not _numbers(theirs):
        assert len(ours) == len(theirs), where
        for number, value in enumerate(theirs):
            same(ours[number], value, f"{where}/{number}")
    elif isinstance(theirs, str):
        assert ours == theirs, where
    else:
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6, err_msg=where)


def _numbers(values):
    while isinstance(values, list) and values:
        kinds = {type(value) for value in values}
        if dict in kinds or str in kinds:
            return False
        values = values[0]
    return True
