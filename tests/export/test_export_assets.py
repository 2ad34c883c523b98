"""Files that an exported graph reads."""

import os
import shutil
from pathlib import Path

import pytest
import tensorflow as tf

from estimator_bridge.export import build_raw_serving_input_receiver_fn
from estimator_bridge.export.saved_model import export_saved_model
from estimator_bridge.model import EstimatorSpec

v1 = tf.compat.v1
RECEIVER = build_raw_serving_input_receiver_fn({"word": tf.TensorSpec([None], tf.string)})


def reading(*files):
    """A call_model that looks words up in one file a mode, in order of the modes."""
    waiting = list(files)

    def call_model(features, labels, mode):
        del labels
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(waiting.pop(0)), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            default_value=-1,
        )  # fmt: skip
        ids = table.lookup(features["word"])
        return EstimatorSpec(mode, {"id": ids}, loss=tf.constant(0.0))

    return call_model


def words(folder, *lines):
    folder.mkdir()
    (folder / "words.txt").write_text("\n".join(lines) + "\n")
    return folder / "words.txt"


def export(base, call_model, *modes):
    return export_saved_model(str(base), call_model, dict.fromkeys(modes, RECEIVER), None).decode()


def looked_up(path, tag, key, word):
    loaded = tf.saved_model.load(path, tags=[tag])
    (signature,) = loaded.signatures.values()
    return signature(word=tf.constant([word]))[key].numpy().tolist()


def test_a_folder_that_was_moved_finds_its_files(tmp_path):
    file = words(tmp_path / "a", "no", "yes")
    path = export(tmp_path / "base", reading(file), "infer")
    file.unlink()
    moved = shutil.move(path, tmp_path / "elsewhere")
    assert os.listdir(tmp_path / "elsewhere" / "assets") == ["words.txt"]
    assert looked_up(str(moved), "serve", "id", "yes") == [1]
    with tf.Graph().as_default(), v1.Session() as session:
        meta = v1.saved_model.load(session, ["serve"], str(moved))
        signature = meta.signature_def["serving_default"]
        feeds = {signature.inputs["word"].name: ["yes", "no"]}
        assert session.run(signature.outputs["id"].name, feeds).tolist() == [1, 0]


def test_modes_share_a_file(tmp_path):
    first, second = words(tmp_path / "a", "no", "yes"), words(tmp_path / "b", "no", "yes")
    path = export(tmp_path / "base", reading(first, second), "eval", "infer")
    assert os.listdir(Path(path, "assets")) == ["words.txt"]
    assert looked_up(path, "eval", "predictions/id", "yes") == [1]
    assert looked_up(path, "serve", "id", "yes") == [1]


def test_different_files_of_one_name_are_an_error(tmp_path):
    first, second = words(tmp_path / "a", "no"), words(tmp_path / "b", "yes")
    with pytest.raises(ValueError, match=r"different files with the same name.*a/words.*b/words"):
        export(tmp_path / "base", reading(first, second), "eval", "infer")
    assert not (tmp_path / "base").exists()


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"reads the file '.*nowhere' .* which does not exist"):
        export(tmp_path / "base", reading(tmp_path / "nowhere"), "infer")
    assert not (tmp_path / "base").exists()
