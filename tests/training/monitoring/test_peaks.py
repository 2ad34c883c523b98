"""Chips and their peaks, from the table of hardware."""

import json
from pathlib import Path

import pytest

from estimator_bridge.compile_for import chips
from estimator_bridge.runtime import default_strategy
from estimator_bridge.training.monitoring import peaks

FACTS = json.loads(Path(chips.__file__).with_name("hardware.json").read_text())


def test_each_fact_has_a_source():
    for fact in [*FACTS["tpus"], *FACTS["gpus"]]:
        assert fact["source"], fact["name"]
    assert all("https://" in gpu["source"] for gpu in FACTS["gpus"])


def test_gpus_are_found_by_their_drivers_names_alone():
    assert peaks.gpu_of("NVIDIA H200").name == "H200 SXM"
    assert peaks.gpu_of("Tesla T4").half_flops == 65e12
    assert peaks.gpu_of("NVIDIA A10G") is None  # a chip of its own


@pytest.mark.parametrize(
    ("gpu", "dtype", "tf32", "expected"),
    [
        ("A100 40GB", "float32", True, 156e12),
        ("A100 40GB", "bfloat16", True, 312e12),
        ("A100 40GB", "float32", False, None),
        ("T4", "float16", True, 65e12),
        ("T4", "float32", True, None),
        ("H200 SXM", "float64", True, None),
    ],
)
def test_the_peak_is_that_of_the_matrix_units_for_a_dtype(gpu, dtype, tf32, expected):
    rate = peaks.rate_of_gpu(chips.GPUS[gpu], dtype, tf32)
    assert rate.flops == expected
    assert bool(rate.about) == (expected is None)


@pytest.mark.parametrize(
    ("named", "expected"),
    [("v3-8", "TPU v3"), ("v5litepod-8", "TPU v5e"), ("v6e-1", "TPU v6e"), ("v9-8", "TPU")],
)
def test_a_tpu_is_known_by_the_name_of_its_slice(monkeypatch, named, expected):
    monkeypatch.setenv("TPU_ACCELERATOR_TYPE", named)
    monkeypatch.setattr(peaks, "is_on_tpu", lambda strategy: True)
    peak = peaks.peak_of(default_strategy(), {})
    assert peak.device == expected
    assert (peak.flops is None) == (expected == "TPU")


def test_a_cpu_has_no_peak():
    peak = peaks.peak_of(default_strategy(), {"float32": 1})
    assert (peak.device, peak.flops) == ("CPU", None)
