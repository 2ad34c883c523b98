"""`estimator-bridge predict`: each kind of input and output, and what is refused."""

import base64
import contextlib
import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge import prediction
from estimator_bridge.commands.cli import main
from estimator_bridge.records.framing import FOOTER, HEADER

v1 = tf.compat.v1


def example(**values):
    kinds = {bytes: "bytes_list", int: "int64_list", float: "float_list"}
    lists = {"bytes_list": tf.train.BytesList, "int64_list": tf.train.Int64List,
             "float_list": tf.train.FloatList}  # fmt: skip
    features = {}
    for name, value in values.items():
        many = value if isinstance(value, list) else [value]
        kind = kinds[type(many[0])]
        features[name] = tf.train.Feature(**{kind: lists[kind](value=many)})
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def write_records(path, records):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """SavedModels: of tensors, of one batch size, of pixels, and of serialized Examples."""
    folder = tmp_path_factory.mktemp("models")
    module = tf.Module()
    module.weight = tf.Variable(2.0)

    def scaled(x, word):
        checked = tf.debugging.assert_less(x, 100.0, message="x is 100 or more")
        with tf.control_dependencies([checked]):
            return {"sum": module.weight * tf.reduce_sum(x, 1), "x": x, "word": word}

    def pixels(image):
        return {"mean": tf.reduce_mean(tf.cast(image, tf.float32), [1, 2])}

    def decoded(image):
        def one(content):
            return tf.reduce_mean(tf.cast(tf.io.decode_png(content, 1), tf.float32))

        return {"mean": tf.map_fn(one, image, fn_output_signature=tf.float32)}

    def save(name, function, **specs):
        traced = tf.function(function).get_concrete_function(
            *(tf.TensorSpec(*spec, name=key) for key, spec in specs.items())
        )
        tf.saved_model.save(module, str(folder / name), signatures=traced)

    save("tensors", scaled, x=([None, 2], tf.float32), word=([None], tf.string))
    save("fixed", scaled, x=([4, 2], tf.float32), word=([4], tf.string))
    save("pixels", pixels, image=([None, 2, 3], tf.uint8))
    save("files", decoded, image=([None], tf.string))

    columns = [tf.feature_column.numeric_column("age"), tf.feature_column.numeric_column("n")]

    def model_fn(features, labels, mode):
        total = v1.feature_column.linear_model(features, columns)
        return eb.EstimatorSpec(
            mode,
            predictions={"total": total[:, 0] + features["age"][:, 0]},
            loss=tf.reduce_sum(total),
            train_op=v1.train.get_global_step().assign_add(1),
        )

    estimator = eb.Estimator(model_fn, str(folder / "run"))
    estimator.train(lambda: {"age": tf.constant([[1.0]]), "n": tf.constant([[1.0]])}, steps=1)
    spec = {"age": tf.io.FixedLenFeature([1], tf.float32),
            "n": tf.io.FixedLenFeature([1], tf.int64, 7)}  # fmt: skip
    receiver = eb.export.build_parsing_serving_input_receiver_fn(spec)
    estimator.export_saved_model(str(folder / "run" / "export"), receiver)
    return folder


def predict(*arguments):
    return main(["predict", *map(str, arguments)])


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_json_lines_in_and_out_in_order(models, tmp_path, capsys):
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    write_lines(source, [{"x": [i, 1], "word": f"w{i}", "id": i} for i in range(10)])
    code = predict("--model_dir", models / "tensors", "--input", source, "--output", output,
                   "--batch_size", 3, "--keep", "id")  # fmt: skip
    assert code == 0, capsys.readouterr().err
    assert rows_of(output) == [
        {"id": i, "sum": 2.0 * (i + 1), "word": f"w{i}", "x": [i, 1.0]} for i in range(10)
    ]
    assert "10 records predicted" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_csv_in_and_out(models, tmp_path):
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text('\ufeffword,x\nred,"[1, 2]"\n\n"a, b","[3, 4.5]"\n', encoding="utf-8")
    assert predict("--model_dir", models / "tensors", "--input", source, "--output", output,
                   "--outputs", "word,sum,x") == 0  # fmt: skip
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [
        {"word": "red", "sum": "6.0", "x": "[1.0, 2.0]"},
        {"word": "a, b", "sum": "15.0", "x": "[3.0, 4.5]"},
    ]


def test_records_in_and_lines_on_standard_output(models, tmp_path, capsys):
    source = tmp_path / "in.tfrecord"
    write_records(source, [example(x=[1.0, float(i)], word=b"\xff") for i in range(3)])
    assert predict("--model-dir", models / "tensors", "--input", source) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["sum"] for row in rows] == [2.0, 4.0, 6.0]
    assert base64.b64decode(rows[0]["word"]["b64"]) == b"\xff"


def test_a_model_of_one_batch_size_gets_full_batches(models, tmp_path, capsys):
    source = tmp_path / "in.jsonl"
    write_lines(source, [{"x": [i, 0], "word": {"b64": "YQ=="}} for i in range(5)])
    assert predict("--model_dir", models / "fixed", "--input", source) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["sum"], row["word"]) for row in rows] == [(2.0 * i, "a") for i in range(5)]


@pytest.mark.parametrize("model", ["pixels", "files"])
def test_a_folder_of_images(models, tmp_path, capsys, model):
    for name, value in (("b.png", 200), ("a.png", 100)):
        image = tf.io.encode_png(np.full([2, 3, 1], value, np.uint8))
        (tmp_path / name).write_bytes(image.numpy())
    (tmp_path / "notes.md").write_text("not an image")
    assert predict("--model_dir", models / model, "--input", tmp_path, "--keep", "file") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        {"file": str(tmp_path / "a.png"), "mean": 100.0},
        {"file": str(tmp_path / "b.png"), "mean": 200.0},
    ]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tfrecord"])
def test_a_model_that_parses_examples_takes_each_kind(models, tmp_path, capsys, kind):
    """Integers become floats where the model wants those; a value left out is its default."""
    source = tmp_path / f"in.{kind}"
    if kind == "jsonl":
        write_lines(source, [{"age": 40, "n": 3, "name": "x"}, {"age": 41.5}])
    elif kind == "csv":
        source.write_text("name,age,n\nx,40,3\ny,41.5,\n")
    else:
        write_records(source, [example(age=40.0, n=3), example(age=41.5)])
    assert predict("--model_dir", models / "run", "--input", source) == 0
    output = capsys.readouterr()
    assert [json.loads(line)["total"] for line in output.out.splitlines()] == [40.0, 41.5]
    assert f"SavedModel: {models / 'run' / 'export'}" in output.err


BAD_LINES = (
    '{"x": [1, 2], "word": "fine"}',
    "{broken",
    '{"x": [1, 2, 3], "word": "long"}',
    '{"x": ["a", 2], "word": "text"}',
    '{"word": "missing"}',
    '{"x": [500, 2], "word": "refused by the model"}',
    '{"x": [3, 4], "word": "last"}',
)
REASONS = (
    "line 2: not JSON",
    "line 3: input 'x' has the shape [3], want [2]",
    "line 4: input 'x' has ['a', 2], want float32 [2]",
    "line 5: no value for the model's input 'x'; it has word",
    "line 6: the model cannot compute it:",
)


def test_bad_records_are_named_and_left_out_when_asked(models, tmp_path, capsys):
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join(BAD_LINES))
    code = predict("--model_dir", models / "tensors", "--input", source, "--output", output,
                   "--skip_bad_records")  # fmt: skip
    errors = capsys.readouterr().err
    assert code == 0, errors
    assert [row["word"] for row in rows_of(output)] == ["fine", "last"]
    for reason in REASONS:
        assert f"left out: {source}, {reason}" in errors
    assert "2 records predicted" in errors
    assert "5 left out" in errors


@pytest.mark.parametrize("number", range(len(REASONS)))
def test_a_bad_record_ends_the_command_and_nothing_is_written(models, tmp_path, capsys, number):
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n" * (number + 1) + BAD_LINES[number + 1])
    code = predict("--model_dir", models / "tensors", "--input", source, "--output", output)
    assert code == 1
    errors = capsys.readouterr().err
    assert f"{source}, {REASONS[number]}" in errors
    assert "With --skip_bad_records" in errors
    assert os.listdir(tmp_path) == ["in.jsonl"]


def test_what_precedes_a_bad_record_is_written_to_standard_output(models, tmp_path, capsys):
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join([BAD_LINES[0], BAD_LINES[2], BAD_LINES[-1]]))
    assert predict("--model_dir", models / "tensors", "--input", source) == 1
    output = capsys.readouterr()
    assert [json.loads(line)["word"] for line in output.out.splitlines()] == ["fine"]
    assert f"{source}, line 2: " in output.err


def test_a_damaged_record_is_left_out_and_the_next_are_read(models, tmp_path, capsys):
    source = tmp_path / "in.tfrecord"
    records = [example(x=[1.0, float(i)], word=b"a") for i in range(4)]
    write_records(source, records)
    whole = bytearray(source.read_bytes())
    size = HEADER + len(records[0]) + FOOTER
    whole[size + HEADER + 3] ^= 1  # in the content of record 1
    whole[3 * size] ^= 1  # in the header of record 3
    source.write_bytes(whole)
    arguments = ("--model_dir", models / "tensors", "--input", source)
    assert predict(*arguments) == 1
    assert f"{source}, record 1 at byte {size}: damaged" in capsys.readouterr().err
    assert predict(*arguments, "--skip_bad_records") == 0
    output = capsys.readouterr()
    assert [json.loads(line)["sum"] for line in output.out.splitlines()] == [2.0, 6.0]
    assert f"record 3 at byte {3 * size}: damaged" in output.err
    assert "the rest of the file cannot be read" in output.err


def test_an_image_of_another_size_or_a_damaged_one_is_named(models, tmp_path, capsys):
    (tmp_path / "large.png").write_bytes(tf.io.encode_png(np.zeros([4, 4, 1], "uint8")).numpy())
    (tmp_path / "torn.png").write_bytes(b"\x89PNG\r\n")
    assert predict("--model_dir", models / "pixels", "--input", tmp_path, "--skip_bad_records") == 1
    errors = capsys.readouterr().err
    assert (
        f"left out: {tmp_path / 'large.png'}: its pixels have the shape [4, 4], want [2, 3]"
        in errors
    )
    assert f"left out: {tmp_path / 'torn.png'}: not an image" in errors
    assert "no record to predict: all 2 are bad" in errors


def test_cells_that_fit_no_column_and_rows_that_fit_no_header(models, tmp_path, capsys):
    source = tmp_path / "in.csv"
    source.write_text('word,x\na,"[1, 2]"\nb\nc,one\nd,"[1e3,\n2]"\n')
    assert predict("--model_dir", models / "tensors", "--input", source, "--skip_bad_records") == 0
    errors = capsys.readouterr().err
    assert f"{source}, line 3: 1 cells, want 2 as in the header ['word', 'x']" in errors
    assert f"{source}, line 4: input 'x' has 'one', want a JSON list of shape [2]" in errors
    assert f"{source}, line 5: the model cannot compute it: " in errors  # above the model's limit
    source.write_text("word,y\na,1\n")
    assert predict("--model_dir", models / "tensors", "--input", source) == 1
    assert "the model's inputs x are no columns of the CSV file" in capsys.readouterr().err


def test_whole_numbers_are_checked(models, tmp_path, capsys):
    source = tmp_path / "in.jsonl"
    write_lines(source, [{"image": [[0, 1, 300], [0, 0, 0]]}, {"image": [[0, 1, 0.5], [0, 0, 0]]},
                         {"image": [[0], [0, 0, 0]]}])  # fmt: skip
    assert predict("--model_dir", models / "pixels", "--input", source, "--skip_bad_records") == 1
    errors = capsys.readouterr().err
    assert "line 1: input 'image' has [[0, 1, 300], [0, 0, 0]], want uint8: from 0 to 255" in errors
    assert "line 2: input 'image' has [[0, 1, 0.5], [0, 0, 0]], want whole numbers" in errors
    assert "line 3: input 'image' has [[0], [0, 0, 0]]" in errors


def test_a_kind_that_the_model_cannot_take(models, tmp_path, capsys):
    (tmp_path / "a.png").write_bytes(b"any")
    assert predict("--model_dir", models / "tensors", "--input", tmp_path) == 1
    errors = capsys.readouterr().err
    assert "images need a model with one input" in errors
    assert "word string [], x float32 [2]" in errors
    lines = tmp_path / "a.jsonl"
    write_lines(lines, [{}])
    arguments = ("--model_dir", models / "tensors", "--input", lines)
    assert predict(*arguments, "--signature", "classify") == 1
    assert "no signature 'classify'. Name one with --signature: serving_" in capsys.readouterr().err
    assert predict(*arguments, "--outputs", "probability") == 1
    assert "has no output 'probability', but sum, word, x" in capsys.readouterr().err


def test_a_csv_file_is_refused_by_a_model_of_image_files(models, tmp_path, capsys):
    source = tmp_path / "in.csv"
    source.write_text("image\nnone\n")
    assert predict("--model_dir", models / "files", "--input", source) == 1
    errors = capsys.readouterr().err
    assert "a cell of a CSV file cannot hold an image's file, which input 'image' wants" in errors
    assert "Give it images (.bmp, .gif, .jpeg, .jpg, .png), TFRecords (" in errors
    assert "(.tfrecord, .tfrecords) or JSON lines (.json, .jsonl, .ndjson) of these." in errors


def test_images_for_a_text_are_refused(models, tmp_path, capsys):
    """A string need not be an image's file."""
    (tmp_path / "a.png").write_bytes(tf.io.encode_png(np.zeros([2, 2, 1], np.uint8)).numpy())
    assert predict("--model_dir", models / "run", "--input", tmp_path) == 1
    errors = capsys.readouterr().err
    assert "images need a model with one input" in errors
    assert "takes: age float32, n int64. Give it TFRecords (" in errors


def refusals(models, folder):
    lines, table = folder / "a.jsonl", folder / "a.csv"
    lines.write_text('{"x": 1}\n')
    table.write_text("x\n1\n")
    (folder / "a.bin").write_text("")
    (folder / "empty.csv").write_text("")
    (folder / "empty").mkdir()
    good = ("--model_dir", models / "tensors")
    return {
        "no such file or folder": (*good, "--input", folder / "none.csv"),
        "no file matches this pattern": (*good, "--input", folder / "*.gif"),
        "no file that ends in": (*good, "--input", folder / "empty"),
        "files of several kinds (csv, jsonl)": (*good, "--input", table, lines),
        "tells no kind. Name it with --input-format": (*good, "--input", folder / "a.bin"),
        "empty. Want a header": (*good, "--input", folder / "empty.csv"),
        "no column 'id' for --keep": (*good, "--input", table, "--keep", "id"),
        "want a file that ends in .jsonl or .csv": (*good, "--input", lines, "--output", "a.txt"),
        "exists already": (*good, "--input", lines, "--output", lines),
        "there is no folder": (*good, "--input", lines, "--output", folder / "no" / "a.csv"),
        "no checkpoint and no SavedModel": ("--model_dir", folder / "empty", "--input", lines),
        "a checkpoint has weights and no model": (
            "--model_dir", models / "run" / "model.ckpt-1", "--input", lines,
        ),
    }  # fmt: skip


def test_wrong_arguments_are_refused_before_tensorflow_is_loaded(models, tmp_path):
    cases = refusals(models, tmp_path)
    program = """
import json, sys

class NoTensorFlow:
    def find_spec(name, path=None, target=None):
        if name == "tensorflow":
            raise ImportError("TensorFlow was imported")

sys.meta_path.insert(0, NoTensorFlow)
from estimator_bridge.commands.cli import main
for arguments in json.load(sys.stdin):
    print(main(["predict", *arguments]))
    print("----", file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps([list(map(str, arguments)) for arguments in cases.values()]),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["1"] * len(cases), done.stderr
    for message, errors in zip(cases, done.stderr.split("----\n")):
        assert message in errors
        assert errors.startswith("estimator-bridge predict: ")
        assert len(errors.splitlines()) == 1


def test_a_batch_of_none_is_wrong_usage(models, tmp_path, capsys):
    assert predict("--model_dir", models, "--input", tmp_path, "--batch_size", 0) == 2
    assert "--batch_size 0: want 1 or more" in capsys.readouterr().err


def test_a_folder_that_is_no_saved_model(tmp_path, capsys):
    (tmp_path / "saved_model.pb").write_bytes(b"junk")
    lines = tmp_path / "a.jsonl"
    lines.write_text("{}\n")
    assert predict("--model_dir", tmp_path, "--input", lines) == 1
    assert "not a SavedModel that can be loaded" in capsys.readouterr().err


def test_the_newest_export_is_found(tmp_path):
    for name in ("export/99", "export/100", "export/best/98"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "saved_model.pb").touch()
    (tmp_path / "export" / "101").mkdir()  # not finished
    model = prediction.model_folder.find_model(str(tmp_path))
    assert model.saved_model == str(tmp_path / "export" / "100")
    assert not model.has_checkpoint


@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_a_full_disk_leaves_nothing(models, tmp_path, capsys, monkeypatch, ending):
    source, output = tmp_path / "in.jsonl", tmp_path / f"out{ending}"
    write_lines(source, [{"x": [i, 0], "word": "a"} for i in range(3)])

    @contextlib.contextmanager
    def full(path):  # writes to this device fail as those to a full disk
        place = f"{path}.full{ending}"
        os.symlink("/dev/full", place)
        yield place

    monkeypatch.setattr("estimator_bridge.own_files.local_files.temporary_beside", full)
    assert predict("--model_dir", models / "tensors", "--input", source, "--output", output) == 1
    errors = capsys.readouterr().err
    assert f"No space left on device. The file {output} was not written; existing files" in errors
    assert not output.exists()
