"""The measurement of steps on JAX's device; here on a CPU, without a look at its times.

The benchmark silences TensorFlow's log when it is imported. So a fixture imports it: what tests
change in loggers is set back after each file.
"""

from __future__ import annotations

import importlib

import pytest

pytest.importorskip("jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'")
MODELS = {
    "mlp": ("MLP", {}, 3),
    "lstm": ("LSTM", {}, 2),
    "conv": ("Conv", {"batch": 8}, 2),
    "bert": ("Bert", {"batch": 2, "length": 8, "layers": 1, "size": 16, "words": 50}, 3),
}


@pytest.fixture(scope="module")
def accelerator():
    return importlib.import_module("benchmarks.accelerator")


@pytest.mark.parametrize("name", MODELS)
def test_each_network_by_hand_has_the_losses_of_the_estimator(name, accelerator):
    model, sizes, steps = MODELS[name]
    case = accelerator.Case(name, lambda: getattr(accelerator, model)(**sizes), steps)
    row = accelerator.measure(case, "jax:cpu:1", rounds=1)
    assert row.differs < 2e-5
    assert row.from_cpu is None
    assert row.flops > 0
    for secs in (row.here, row.hand, row.reading, row.alone):
        assert len(secs) == 1
        assert secs[0] > 0


def test_networks_that_would_not_end_in_time_are_named(accelerator, monkeypatch, capsys):
    secs = [0.004, 0.004], [0.003, 0.004], [0.005, 0.004], [0.002, 0.003]
    row = accelerator.Row(2.0, *secs, 1e-6, 2e-5, 989e9)
    secs = iter(range(0, 10_000, 100))
    monkeypatch.setattr(accelerator, "measure", lambda *_: row)
    monkeypatch.setattr(accelerator.time, "perf_counter", lambda: next(secs))
    accelerator.main(["--device", "jax:cpu:1", "--secs", "250"])
    out = capsys.readouterr().out
    assert accelerator.CASES["small"]["mlp"].title in out
    assert "Left out, as 250 s would not have sufficed: LSTM, 20 steps, batch 32, conv net" in out


def test_the_table_has_ratios_of_rounds_and_the_share_of_the_peak(accelerator):
    secs = [0.004, 0.002], [0.003, 0.002], [0.006, 0.003], [0.002, 0.001]
    row = accelerator.Row(2.0, *secs, 1e-6, 2e-5, 989e9)
    line = accelerator.table({"net": row}, "NVIDIA H100 80GB HBM3").splitlines()[2]
    assert line == (
        "| net | 3.000 | 0.88 (0.75 to 1.00) | 1.50 (1.50 to 1.50) | 0.50 (0.50 to 0.50) "
        "| 1 ± 1e-06 | 1 ± 2e-05 | 330 (33% of the peak) | 2.0 |"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--only", "mpl"], "no network 'mpl'; there are mlp, lstm, conv, bert, resnet"),
        (["--device", "gpu"], "--device gpu: no device of JAX. Write jax:1, or jax:cpu:1."),
    ],
)
def test_wrong_words_are_told_before_anything_is_measured(accelerator, words, message, capsys):
    with pytest.raises(SystemExit) as caught:
        accelerator.main(["--device", "jax:cpu:1", *words])
    assert message in capsys.readouterr().err + str(caught.value)
