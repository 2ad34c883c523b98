"""The comparison of clusters with parameter servers; the clusters take too long for a test."""

from __future__ import annotations

import numpy as np
import pytest

from parity.servers import Run, are_alike, loss_of, table

ORIGINAL, HERE = "TensorFlow 2.15.1", "here"
SHAPES = {"bias": (1,), "global_step": ()}
LINES = {"chief 0": ("Calling model_fn.",), "ps 0": ("Start Tensorflow server.",)}


def runs(*losses, shapes=SHAPES, lines=LINES):
    return [Run(loss, 300 + i, shapes, lines) for i, loss in enumerate(losses)]


def test_rows_of_a_table_in_two_parts_are_in_the_order_of_its_parts():
    odd_rows_last = np.repeat([[-9.0], [9.0]], 10, axis=0) * [1, 0, 0, 0]
    values = {"embedding/table": odd_rows_last, "weights": np.eye(4)[:, :1], "bias": np.zeros(1)}
    assert loss_of(values.__getitem__) == pytest.approx(np.log1p(np.exp(-9)), rel=1e-6)


def test_ranges_that_overlap_are_alike():
    sides = {ORIGINAL: runs(0.1, 0.3), HERE: runs(0.2, 0.4)}
    assert are_alike(sides)
    assert list(table(sides)) == [
        "| 2 runs a side | loss, median (range) | last global step |",
        "| --- | --- | --- |",
        "| TensorFlow 2.15.1 | 0.200000 (0.100000 to 0.300000) | 300 to 301 |",
        "| here | 0.300000 (0.200000 to 0.400000) | 300 to 301 |",
        "",
        "In all 4 runs the checkpoint's names and shapes are equal, and so are the log lines of "
        "the chief, the workers and the servers.",
    ]


@pytest.mark.parametrize(
    ("here", "differing"),
    [
        (runs(0.5), None),
        (runs(0.2, shapes={**SHAPES, "more": (2,)}), "shapes"),
        (runs(0.2, lines={**LINES, "ps 0": ()}), "ps 0"),
    ],
)
def test_what_differs_is_named(here, differing):
    sides = {ORIGINAL: runs(0.1, 0.3), HERE: here}
    assert not are_alike(sides)
    last = list(table(sides))[-1]
    # The number of runs is twice that of the side here.
    assert ("Not equal" in last) == bool(differing)
    assert not differing or last == f"Not equal in all 2 runs: {differing}."
