"""predict.py takes checkpoints of models/: of the model that run.yaml or --model names."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from task_runs import TaskRun, digits_as_bytes

from estimator_bridge.commands.cli import parse
from estimator_bridge.commands.predict import run_predict
from models.common.serving import exporting

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of mnist with its checkpoint and run.yaml; and images as JSON lines."""
    folder = tmp_path_factory.mktemp("digits")
    folders = f"--data_dir={folder / 'data'}", f"--model_dir={folder / 'run'}"
    run = TaskRun("--model=mnist", "--nouse_tpu", "--train_steps=30", *folders).train()
    (folder / "run" / "run.yaml").write_text(f"model: mnist\ndata_dir: {folder / 'data'}\n")
    images, _ = digits_as_bytes(folder / "data", 20)
    lines = [json.dumps({"image": image.tolist()}) for image in images]
    (folder / "digits.jsonl").write_text("\n".join(lines))
    return folder, run


def predict(capsys, *words, model=None):
    arguments = parse(["predict", *map(str, words)])
    arguments.model = model
    code = run_predict(arguments, exporting, "predict.py")
    output = capsys.readouterr()
    return code, output.out, output.err


def test_a_checkpoint_predicts_what_the_estimator_predicts(trained, capsys):
    folder, run = trained
    code, out, errors = predict(
        capsys, "--model_dir", folder / "run", "--input", folder / "digits.jsonl"
    )
    assert code == 0, errors
    assert f"Checkpoint of mnist: {folder / 'run' / 'model.ckpt-30'}" in errors
    actual = np.array([json.loads(line)["probabilities"] for line in out.splitlines()])
    expected = np.stack([row["probabilities"] for row in run.predict(20)])
    np.testing.assert_allclose(actual, expected, atol=1e-5)


def test_without_its_data_and_run_yaml_the_model_is_named(trained, capsys, tmp_path, monkeypatch):
    folder, _ = trained
    other = tmp_path / "other"
    other.mkdir()
    for path in (folder / "run").glob("model.ckpt-30*"):
        (other / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    words = ("--model_dir", other / "model.ckpt-30", "--input", folder / "digits.jsonl")
    code, _, errors = predict(capsys, *words)
    assert code == 1
    assert "a checkpoint has weights and no model" in errors
    code, out, errors = predict(capsys, *words, model="mnist")
    assert code == 0, errors
    assert len(out.splitlines()) == 20
    assert sorted(os.listdir(tmp_path)) == ["other"]


def test_a_checkpoint_of_another_model_is_refused(trained, capsys):
    folder, _ = trained
    code, _, errors = predict(
        capsys, "--model_dir", folder / "run", "--input", folder / "digits.jsonl", model="gan"
    )
    assert code == 1
    assert "generator/dense0/" in errors


def test_predict_py_says_nothing_of_tensorflow(trained):
    folder, _ = trained
    environment = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}
    done = subprocess.run(
        [sys.executable, "predict.py", "--model_dir", folder / "run",
         "--input", folder / "digits.jsonl"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 20
    checkpoint, progress = done.stderr.splitlines()
    assert checkpoint == f"Checkpoint of mnist: {folder / 'run' / 'model.ckpt-30'}"
    assert progress.startswith("20 records predicted, ")


def test_predict_py_starts(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "predict.py"), "--model_dir", "none", "--input", "none.csv"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("predict.py: none.csv: no such file")
    assert len(done.stderr.splitlines()) == 1
