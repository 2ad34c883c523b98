"""predict.py takes each kind of file for each model of models/, and refuses what makes no sense."""

import base64
import csv
import json

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from task_runs import TaskRun, digits_as_bytes, params_of

from estimator_bridge.commands.cli import parse
from estimator_bridge.commands.predict import run_predict
from estimator_bridge.prediction import served_model
from flags import flags_in_force, write_config
from models.common.registry import model_names, own_values
from models.common.serving import exporting
from models.common.task import InputRequest
from models.mnist.digits import split_digits

v1 = tf.compat.v1
COUNT = 3
TEXTS = ["I like it a lot.", "I do not.", "It is fine."]
SMALLEST = {
    "bert": ("--bert_size=nano", "--max_seq_length=16"),
    "lstm": ("--text_length=8", "--lstm_units=16"),
}
OF_IMAGES = ("flowers", "mnist", "resnet")
KINDS = ("csv", "images", "jsonl", "tfrecord")


def features_of_records(run, names):
    """The features of the first test records, as they are in the files."""
    (path, *_) = sorted(tf.io.gfile.glob(f"{run.task.data.folder}/test/*.tfrecord"))
    examples = [
        tf.train.Example.FromString(one.numpy())
        for one in tf.data.TFRecordDataset(path).take(COUNT)
    ]
    return [{name: one.features.feature[name] for name in names} for one in examples]


def pixels_of(run):
    """The first test images, uint8."""
    if run.flags.model == "mnist":
        return digits_as_bytes(run.flags.data_dir, COUNT)[0]
    if run.flags.model == "resnet":
        return split_digits()["test"][0][:COUNT, ..., None].astype(np.uint8)
    return [tf.io.decode_jpeg(image).numpy() for image in jpegs_of(run)]


def jpegs_of(run):
    return [
        features["image"].bytes_list.value[0] for features in features_of_records(run, ["image"])
    ]


def rows_of(run):
    """The first test examples as rows: the inputs of the exported model."""
    model = run.flags.model
    if model in OF_IMAGES:
        return [{"image": image.tolist()} for image in pixels_of(run)]
    if model == "bert":
        return [{"text": text} for text in TEXTS]
    request = InputRequest("test", False, COUNT, first=COUNT)
    features, _ = next(iter(run.input_fn(request)()))
    if model == "lstm":
        return [{"text": bytes(row.astype(np.uint8)).decode()} for row in features.numpy()]
    names = [name for name in features if name != "image"]  # what the gan's judge sees
    return [{name: features[name][at].numpy().tolist() for name in names} for at in range(COUNT)]


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        for row in rows:
            lists = {k: json.dumps(v) for k, v in row.items() if isinstance(v, list)}
            writer.writerow({**row, **lists})


def feature_of(name, value):
    if isinstance(value, str):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode()]))
    if name == "image":
        content = np.asarray(value, np.uint8).tobytes()
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[content]))
    return tf.train.Feature(float_list=tf.train.FloatList(value=np.ravel(value)))


def write_records(path, rows, images):
    """Writes records; their images are raw pixels, or files where the model's sizes are free."""
    with tf.io.TFRecordWriter(str(path)) as writer:
        for number, row in enumerate(rows):
            features = {name: feature_of(name, value) for name, value in row.items()}
            if images:
                values = tf.train.BytesList(value=[images[number]])
                features["image"] = tf.train.Feature(bytes_list=values)
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())


def small_backbone(input_shape, **others):
    """In place of MobileNetV2, whose fifty convolutions would take most of the time."""
    layers = tf_keras.layers
    convolution = layers.Conv2D(4, 3, 4, input_shape=input_shape, name="convolution")
    return tf_keras.Sequential([convolution, layers.GlobalAveragePooling2D()])


def started(run, rows):
    """Saves a checkpoint of initial weights, and returns its predictions for rows.

    A training would make no difference to files, and would take most of the time.
    """
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        v1.train.create_global_step()
        receiver = run.task.receiver_fn()
        spec = run.task.model.model_fn(
            receiver.features, None, "infer", params_of(run.flags, run.task), None
        )
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        v1.train.Saver().save(session, f"{run.flags.model_dir}/model.ckpt", global_step=0)
        fed = {
            tensor: [row[name] for row in rows]
            for name, tensor in receiver.receiver_tensors.items()
        }
        predictions = session.run(dict(spec.predictions), fed)
    return [{name: value[at] for name, value in predictions.items()} for at in range(len(rows))]


class Case:
    """A model with its initial weights, and its first test examples in each kind of file."""

    def __init__(self, model, folder):
        self.folder, self.run_dir, self.export = folder, folder / "run", folder / "export"
        (folder / "data").mkdir()
        for name in ("train.tsv", "test.tsv") if model == "bert" else ():
            lines = "".join(f"{number % 2}\t{text}\n" for number, text in enumerate(TEXTS))
            (folder / "data" / name).write_text(lines)
        run = TaskRun(
            f"--model={model}", "--nouse_tpu", *SMALLEST.get(model, ()), "--predict_batch_size=8",
            f"--data_dir={folder / 'data'}", f"--model_dir={self.run_dir}",
        )  # fmt: skip
        rows = rows_of(run)
        self.expected = started(run, rows)
        write_config(
            f"{self.run_dir}/run.yaml", own_values(flags_in_force(run.flags), model), "of a test"
        )
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        write_csv(folder / "rows.csv", rows)
        jpegs = jpegs_of(run) if model == "flowers" else []
        write_records(folder / "rows.tfrecord", rows, jpegs)
        (folder / "rows.images").mkdir()
        # Other models get an image that is none of theirs.
        images = pixels_of(run) if model in OF_IMAGES else [np.zeros([2, 2, 1], np.uint8)]
        for number, image in enumerate(images):
            whole = np.reshape(image, (*image.shape[:2], -1))
            path = folder / "rows.images" / f"{number}.png"
            path.write_bytes(tf.io.encode_png(whole).numpy())

    def keeping_the_export(self, arguments, folder):
        """Exports a checkpoint as predict.py does, into a folder that other tests predict with."""
        export = exporting(arguments, folder)
        return lambda target: export(str(self.export))

    def check(self, rows):
        assert len(rows) == COUNT
        for row, expected in zip(rows, self.expected):
            assert row.keys() == expected.keys()
            for name, value in expected.items():
                np.testing.assert_allclose(row[name], value, atol=1e-4, err_msg=name)


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Makes the case of a model, once; a SavedModel is loaded once too."""
    cases_of_models, loaded, load = {}, {}, served_model.load_model

    def case(model):
        if model not in cases_of_models:
            cases_of_models[model] = Case(model, tmp_path_factory.mktemp(model))
        return cases_of_models[model]

    def load_once(path, *others):
        if path not in loaded:
            loaded[path] = load(path, *others)
        return loaded[path]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(served_model, "load_model", load_once)
        patch.setattr(tf_keras.applications, "MobileNetV2", small_backbone)
        yield case


@pytest.fixture
def predicted(cases, capsys):
    """Predicts a kind of file by a model's checkpoint, or by its SavedModel; what was said."""

    def predict(model, source, *words, by_checkpoint=False):
        case = cases(model)
        if not by_checkpoint and not case.export.exists():
            predict(model, case.folder / "rows.jsonl", by_checkpoint=True)
        where = case.run_dir if by_checkpoint else case.export
        words_of_command = ["predict", "--model_dir", where, "--input", source, *words]
        arguments = parse(list(map(str, words_of_command)))
        arguments.model = None
        export = case.keeping_the_export if by_checkpoint else exporting
        code = run_predict(arguments, export, "predict.py")
        output = capsys.readouterr()
        return code, output.out, output.err

    return predict


@pytest.mark.parametrize("model", model_names())
def test_a_checkpoint_of_each_model_predicts(cases, predicted, model):
    case = cases(model)
    code, out, errors = predicted(model, case.folder / "rows.jsonl", by_checkpoint=True)
    assert code == 0, errors
    assert f"Checkpoint of {model}: {case.run_dir}" in errors
    case.check([json.loads(line) for line in out.splitlines()])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", model_names())
def test_a_saved_model_of_each_model_takes_each_kind_of_file(cases, predicted, model, kind):
    case = cases(model)
    source, output = case.folder / f"rows.{kind}", case.folder / f"of-{kind}.csv"
    code, out, errors = predicted(model, source)
    if kind == "images" and model not in OF_IMAGES:
        assert code == 1
        assert "images need a model with one input" in errors
        kinds = "TFRecords (.tfrecord, .tfrecords), JSON lines (.json, .jsonl, .ndjson)"
        assert f"Give it {kinds} or CSV (.csv) of these." in errors
        return
    assert code == 0, errors
    case.check([json.loads(line) for line in out.splitlines()])
    assert predicted(model, source, "--output", output)[0] == 0
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    case.check([{name: json.loads(cell) for name, cell in row.items()} for row in rows])


def test_columns_of_pixels_are_refused_with_the_kinds_that_images_have(predicted, tmp_path):
    source = tmp_path / "digits.csv"  # as Kaggle has MNIST
    source.write_text("label,pixel0,pixel1\n1,0,0\n")
    code, _, errors = predicted("mnist", source)
    assert code == 1
    assert (
        "the model's inputs image are no columns of the CSV file, which has label, pixel" in errors
    )
    assert "takes: image uint8 [8, 8]. Give it images (.bmp, .gif, .jpeg, .jpg, .png), TF" in errors


def test_images_in_base64_are_pixels_too(cases, predicted, tmp_path):
    """And bytes that are neither pixels nor an image are named."""
    case, source = cases("flowers"), tmp_path / "rows.jsonl"
    images = [path.read_bytes() for path in sorted((case.folder / "rows.images").iterdir())]
    lines = [{"image": {"b64": base64.b64encode(one).decode()}} for one in [*images, b"none"]]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, errors = predicted("flowers", source, "--skip_bad_records")
    assert code == 0, errors
    case.check([json.loads(line) for line in out.splitlines()])
    assert (
        f"{source}, line 4: input 'image' has 4 bytes, want [?, ?, 3] of them or an image" in errors
    )
