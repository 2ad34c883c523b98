"""Metrics are read from event files, even truncated ones."""

from __future__ import annotations

import glob
import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from estimator_bridge.training.event_files import read_eval_metrics
from estimator_bridge.training.metrics import write_results

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def write(folder, *evaluations):
    with tf.Graph().as_default():
        for step, metrics in evaluations:
            write_results(str(folder), {**metrics, "global_step": step}, "a checkpoint")
    v1.summary.FileWriterCache.clear()


def test_metrics_by_step_from_several_files(tmp_path):
    write(tmp_path, (20, {"loss": 3.0, "accuracy": 0.5}))
    (first,) = glob.glob(str(tmp_path / "*"))
    os.rename(first, str(tmp_path / "zzz.tfevents.1"))
    write(tmp_path, (10, {"loss": 4.0}), (30, {"loss": 2.0}))
    metrics = read_eval_metrics(tmp_path)
    assert list(metrics) == [10, 20, 30]
    assert metrics[20] == {"loss": 3.0, "accuracy": 0.5}


def test_no_folder_and_an_empty_one(tmp_path):
    assert read_eval_metrics(tmp_path / "none") == {}
    assert read_eval_metrics(tmp_path) == {}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(cut=st.integers(0, 1000))
def test_file_that_breaks_off_anywhere(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("eval")
    write(folder, *[(step, {"loss": float(step)}) for step in range(1, 6)])
    (path,) = glob.glob(str(folder / "*"))
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(content[:cut])
    metrics = read_eval_metrics(folder)
    assert list(metrics) == list(range(1, 6))[: len(metrics)]
    assert all(values == {"loss": step} for step, values in metrics.items())
    if cut >= len(content):
        assert len(metrics) == 5
