"""`estimator-bridge predict` reads inputs and models of an object store: here, ram://."""

import json

import pytest
import tensorflow as tf

from estimator_bridge.commands.cli import main

STORE = "ram://predict"


def write(path, content):
    tf.io.gfile.makedirs(path.rpartition("/")[0])
    with tf.io.gfile.GFile(path, "w") as file:
        file.write(content)


@pytest.fixture(scope="module")
def model():
    """A model that doubles, exported below a model_dir of the store."""
    signature = tf.function(lambda x: {"y": 2.0 * x}).get_concrete_function(
        tf.TensorSpec([None], tf.float32, name="x")
    )
    for time in ("100", "200"):
        tf.saved_model.save(tf.Module(), f"{STORE}/run/export/{time}", signatures=signature)
    write(f"{STORE}/in/a.jsonl", "".join(json.dumps({"x": x}) + "\n" for x in range(3)))
    write(f"{STORE}/in/more/b.jsonl", json.dumps({"x": 10}) + "\n")
    write(f"{STORE}/table.csv", "\ufeffx,id\n1,one\n2,two\n")
    return f"{STORE}/run"


def predict(model, output, *words):
    return main(["predict", "--model_dir", model, "--output", str(output), *words])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("in", [0, 2, 4, 20]),
        ("in/*.jsonl", [0, 2, 4]),
        ("in/more/b.jsonl", [20]),
        ("table.csv", [2, 4]),
    ],
)
def test_folders_patterns_and_files(model, tmp_path, capsys, source, expected):
    output = tmp_path / "out.jsonl"
    assert predict(model, output, "--input", f"{STORE}/{source}") == 0, capsys.readouterr().err
    assert [json.loads(line)["y"] for line in output.read_text().splitlines()] == expected
    assert f"SavedModel: {STORE}/run/export/200" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--input", f"{STORE}/none.csv"], "none.csv: no such file"),
        (["--input", f"{STORE}/none-*.csv"], "no file matches this pattern"),
        (["--input", f"{STORE}/table.csv", "--keep", "name"], "no column 'name' for --keep"),
    ],
)
def test_wrong_paths_and_names_are_refused(model, tmp_path, capsys, words, message):
    assert predict(model, tmp_path / "out.jsonl", *words) == 1
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_a_model_is_refused(model, tmp_path, capsys):
    words = ("--input", f"{STORE}/table.csv")
    assert predict(f"{STORE}/nowhere", tmp_path / "out.jsonl", *words) == 1
    assert f"{STORE}/nowhere: no such folder" in capsys.readouterr().err
