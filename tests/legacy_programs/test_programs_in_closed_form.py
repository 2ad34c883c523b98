"""Old programs whose every step can be computed by hand; the second run resumes the first."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from running_programs import numbers, run_program


def plane(steps):
    """Momentum descent on `straight_line.py`'s points, each run from the first batch on."""
    x = (np.arange(72).reshape(24, 3) % 7 / 7.0).astype(np.float64)
    y = x @ np.array([1.0, -2.0, 3.0]) + 0.5
    weights, velocity = np.zeros(4), np.zeros(4)
    inputs = np.concatenate([x, np.ones([24, 1])], axis=1)
    for batch in steps:
        rows = slice(8 * batch, 8 * batch + 8)
        error = inputs[rows] @ weights - y[rows]
        velocity = 0.5 * velocity + 2 * inputs[rows].T @ error / 8
        weights = weights - 0.1 * velocity
    error = inputs @ weights - y
    return np.mean(error**2), np.mean(np.abs(error))


def test_deep_imports_and_a_one_shot_iterator(tmp_path):
    folder = tmp_path / "model"
    on_cpu = run_program("straight_line.py", "--model_dir", folder)
    assert numbers(on_cpu.line("steps")) == pytest.approx([4, *plane([0, 1, 2, 0])], rel=1e-4)
    on_cores = run_program(
        "straight_line.py", "--model_dir", folder, "--max_steps", 8, "--use_tpu", on_cores=True
    )
    assert numbers(on_cores.line("steps")) == pytest.approx([8, *plane([0, 1, 2, 0] * 2)], rel=1e-4)
    assert (on_cpu.line("from"), on_cores.line("from")) == ("0", "4")
    # Checkpoints are written behind the loop's back, at every second step.
    assert {path.stem for path in folder.glob("model.ckpt-*.index")} >= {
        f"model.ckpt-{step}" for step in (2, 4, 6, 8)
    }


def line_and_averages(steps):
    """Descent on `averaged.py`'s line, and the moving averages of its weights."""
    x = np.linspace(-1, 1, 16)
    weights = averages = np.array([1.0, 0.0])
    for _ in range(steps):
        error = weights[0] * x + weights[1] - (3 * x - 1)
        weights = weights - 0.2 * 2 * np.array([np.mean(error * x), np.mean(error)])
        averages = 0.75 * averages + 0.25 * weights
    return weights, averages


def test_moving_averages_are_what_is_evaluated(tmp_path):
    x = np.linspace(-1, 1, 16)
    for steps, arguments, on_cores in [(3, [], False), (6, ["--use-tpu"], True)]:
        done = run_program(
            "averaged.py", "--model-dir", tmp_path, "--max-steps", steps, *arguments,
            on_cores=on_cores,
        )  # fmt: skip
        weights, (slope, offset) = line_and_averages(steps)
        error = slope * x + offset - (3 * x - 1)
        assert numbers(done.line("mse")) == pytest.approx([np.mean(error**2)], rel=1e-4)
        assert numbers(done.line("y ")) == pytest.approx(
            list(slope * np.arange(5) + offset), rel=1e-4
        )
        saved = tf.train.load_checkpoint(str(tmp_path))
        assert saved.get_tensor("line/kernel").item() == pytest.approx(weights[0], rel=1e-5)
        assert saved.get_tensor("line/kernel/ExponentialMovingAverage").item() == pytest.approx(
            slope, rel=1e-5
        )


def test_hparams_are_params_and_a_patch_of_tensorflow_is_seen(tmp_path):
    x = np.arange(8) / 8
    for name, tpu, on_cores in [("cpu", [], False), ("cores", ["--tpu=a", "--num_shards=2"], True)]:
        done = run_program(
            "-m", "trainer.task", "--model_dir", tmp_path / name,
            "--hparams=learning_rate=0.25,units=1", "--job-dir=gs://for-the-cloud", *tpu,
            on_cores=on_cores,
        )  # fmt: skip
        slope = 0.0
        for _ in range(4):
            slope -= 0.25 * 2 * np.mean(x * x) * (slope - 2)
        error = np.mean((slope * x - 2 * x) ** 2)
        assert numbers(done.line("step")) == pytest.approx([4, error, 1.0], rel=1e-4)


def test_sessions_hooks_and_queues(tmp_path):
    rows = np.arange(12).reshape(6, 2) / 10
    total = 2 * rows.sum(0)
    weights, losses = np.zeros(2), []
    for _ in range(6):
        error = rows @ weights - rows.sum(1)
        # On a TPU, a hook that fetches a tensor of the model sees the first core's.
        losses.append(np.mean(error**2 if len(losses) < 3 else error[:3] ** 2))
        weights = weights - 0.5 * 2 * rows.T @ error / 6
        if len(losses) == 3:
            halfway = weights

    first = run_program("sessions.py", tmp_path, "")
    second = run_program("sessions.py", tmp_path, "grpc://10.0.0.9:8470", on_cores=True)
    for done in (first, second):
        assert numbers(done.line("total")) == pytest.approx(list(total))
        assert done.line("static") == "4 [None, 2]"
        assert done.line("tripled") == "6.0"
    assert second.log.count("the session for 'emulated:2' runs on this machine's CPU") == 1
    assert first.lines("first run") == [""]
    assert second.lines("first run") == []
    assert first.line("calls") == "['created at 0', 'ended at 3']"
    assert second.line("calls") == "['created at 3', 'ended at 6']"
    assert numbers(first.line("losses")) == pytest.approx(losses[:3], abs=2e-6)
    assert numbers(second.line("losses")) == pytest.approx(losses[3:], abs=2e-6)
    assert first.line("step") == "3 of model.ckpt-3"
    assert second.line("step") == "6 of model.ckpt-6"
    assert numbers(first.line("w ")) == pytest.approx(list(halfway), rel=1e-4)
    assert numbers(second.line("w ")) == pytest.approx(list(weights), rel=1e-4)
