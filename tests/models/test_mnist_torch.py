"""The digit classifier's weights in PyTorch give the same predictions; torch_xla trains it."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from task_runs import TaskRun, digits_as_bytes

from estimator_bridge.commands.cli import main
from models.common.errors import UserError

ROOT = Path(__file__).resolve().parent.parent.parent
NEEDED = "needs PyTorch: pip install 'estimator-bridge[torch]'"


def test_pytorch_predicts_the_same_from_a_checkpoints_weights(tmp_path, capsys):
    pytest.importorskip("torch", reason=NEEDED)
    from models.mnist_torch import accuracy
    from models.mnist_torch.model import NAMES, load, predict

    folders = f"--data_dir={tmp_path / 'data'}", f"--model_dir={tmp_path / 'run'}"
    trained = TaskRun("--model=mnist", "--nouse_tpu", "--train_steps=40", *folders).train()
    expected = np.stack([row["probabilities"] for row in trained.predict()])
    path = str(tmp_path / "digits.safetensors")
    arguments = ["--to", "safetensors", "--table", NAMES, "--output", path]
    assert main(["weights", "convert", str(tmp_path / "run"), *arguments]) == 0
    images, labels = digits_as_bytes(tmp_path / "data", 360)
    actual = predict(load(path, 8, 8), images)
    np.testing.assert_allclose(actual, expected, atol=1e-5)
    assert (actual.argmax(1) == expected.argmax(1)).all()
    assert accuracy.main([path]) == 0
    right = int(re.search(r"(\d+) of 360 test digits", capsys.readouterr().out)[1])
    assert right == (actual.argmax(1) == labels).sum()
    assert accuracy.main([str(tmp_path / "none.safetensors")]) == 1
    with pytest.raises(UserError, match="not the weights of this model for images of 28 by 28"):
        load(path, 28, 28)


@pytest.mark.skipif(
    importlib.util.find_spec("torch_xla") is None,
    reason="needs torch_xla: pip install 'estimator-bridge[torch-xla]'",
)
def test_torch_xla_trains_the_same_model():
    done = subprocess.run(
        [sys.executable, "-m", "models.mnist_torch.train_xla", "--epochs=8"],
        cwd=ROOT,
        env={**os.environ, "PJRT_DEVICE": "CPU"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    match = re.search(r"(\d) core, 8 epochs: accuracy ([\d.]+) of 360 test digits", done.stdout)
    assert match, done.stdout
    assert match[1] == "1"
    assert float(match[2]) > 0.9
