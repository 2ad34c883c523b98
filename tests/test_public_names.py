"""The public names of the packages, in dir(), in a type checker and in a repr."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.testing import ModelReport

PACKAGES = (
    "",
    "data",
    "experimental",
    "export",
    "heads",
    "inputs",
    "keras",
    "records",
    "runtime",
    "testing",
    "tpu",
    "tpu.experimental",
    "training",
    "v1",
    "weights",
)
SCREEN = 24 * 100
ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("package", PACKAGES)
def test_dir_shows_the_public_names(package):
    module = importlib.import_module(".".join(filter(None, ["estimator_bridge", package])))
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in dir(module))


PROGRAM = """
import estimator_bridge as eb
eb.Estimator
eb.tpu.TPUEstimator
eb.experimental.make_early_stopping_hook
eb.estimater
eb.tpu.TPUEstimater
eb.experimental.make_stopping_hook
"""


def test_a_misspelt_name_fails_a_type_check(tmp_path):
    pytest.importorskip("mypy", reason="there is none for Python 3.9")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", str(program)],  # with the repository's settings and cache
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    wrong = [line for line in done.stdout.splitlines() if "program.py" in line and "error" in line]
    assert [line.split(":")[1] for line in wrong] == ["6", "7", "8"], done.stdout
    assert 'Module has no attribute "estimater"' in wrong[0]


def model_fn(features, labels, mode, params):
    raise NotImplementedError


def test_a_repr_shows_what_was_chosen(tmp_path):
    assert repr(eb.RunConfig()) == "RunConfig()"
    config = eb.RunConfig("d", save_checkpoints_steps=3, tf_random_seed=0)
    assert repr(config) == "RunConfig(model_dir='d', tf_random_seed=0, save_checkpoints_steps=3)"
    assert repr(config.replace(save_checkpoints_secs=60, model_dir=None)) == (
        "RunConfig(tf_random_seed=0, save_checkpoints_secs=60)"
    )
    never = eb.RunConfig(save_checkpoints_steps=None, save_checkpoints_secs=None)
    assert repr(never) == ("RunConfig(save_checkpoints_steps=None, save_checkpoints_secs=None)")
    options = tf.compat.v1.ConfigProto(log_device_placement=True)
    assert repr(eb.RunConfig(session_config=options)) == (
        "RunConfig(session_config=ConfigProto(log_device_placement: true))"
    )
    assert repr(eb.tpu.TPUConfig()) == "TPUConfig()"
    tpu_config = eb.tpu.TPUConfig(iterations_per_loop=100, num_shards=8)
    assert repr(tpu_config) == "TPUConfig(iterations_per_loop=100, num_shards=8)"
    assert repr(eb.tpu.RunConfig()) == "RunConfig()"
    config = eb.tpu.RunConfig(tpu_config, master="emulated:8", log_step_count_steps=7)
    assert repr(config) == (
        "RunConfig(tpu_config=TPUConfig(iterations_per_loop=100, num_shards=8), "
        "log_step_count_steps=7, master='emulated:8')"
    )
    folder = str(tmp_path)
    assert repr(eb.Estimator(model_fn, folder, params={"rate": 0.1})) == (
        f"Estimator(model_fn=model_fn, model_dir={folder!r}, config=RunConfig(), "
        "params={'rate': 0.1})"
    )
    estimator = eb.tpu.TPUEstimator(
        model_fn, folder, eb.tpu.RunConfig(), use_tpu=False, train_batch_size=8
    )
    assert repr(estimator) == (
        f"TPUEstimator(model_fn=model_fn, model_dir={folder!r}, config=RunConfig(), "
        "train_batch_size=8, use_tpu=False)"
    )
    columns = [tf.feature_column.numeric_column("x")]
    assert repr(eb.LinearRegressor(columns, folder)) == (
        f"LinearRegressor(model_dir={folder!r}, config=RunConfig())"
    )


def test_a_report_fits_a_screen_and_has_the_details():
    weights = {f"layer_{i}/kernel": np.full([100, 100], 0.5) for i in range(50)}
    metrics = {f"metric_{i}": np.float32(i) for i in range(30)}
    report = ModelReport(
        losses={1: 0.25, 2: 0.25, 8: 0.25000001},
        weights=weights,
        rounding=dict.fromkeys(weights, 1e-7),
        metrics={1: metrics, 2: metrics},
        predictions={1: {"classes": np.zeros([32, 10], np.int64)}},
    )
    for shown in (str(report), repr(report)):
        assert len(shown) < SCREEN
        assert "passed on 1, 2 and 8 core(s)" in shown
        assert "500,000 numbers in 50 variable(s), which rounding moves by 1.0e-07" in shown
        assert "metric_7: 7" in shown
        assert "and 22 more" in shown
        assert "classes: int64 of shape (32, 10)" in shown
        assert "report.details()" in shown
    assert "metric_29" in report.details()
    assert "layer_49/kernel" in report.details()
