"""What train.py refuses before it trains, data, folders and checkpoints; and what it leaves."""

import re

import pytest
import tensorflow as tf
import tf_keras
from record_files import cut_image, write_flowers, write_imagenet
from train_here import train

import estimator_bridge as eb
from models.common import checked_records

TINY = (
    "--nouse_tpu",
    "--mode=train",
    "--train_steps=2",
    "--train_batch_size=4",
    "--warmup_steps=0",
)


@pytest.fixture
def refused(tmp_path):
    """Runs train.py in an empty folder; returns its message if it trained nothing."""

    def run(*arguments, code=1):
        done = train(tmp_path, *TINY, *arguments)
        assert done.code == code, done
        assert "Traceback" not in done.err
        assert "step " not in done.out
        assert not list(tmp_path.rglob("*.ckpt*")) and not list(tmp_path.rglob("run.yaml"))
        return done.err

    return run


@pytest.mark.parametrize(
    ("model", "reads", "small"),
    [
        ("mnist", "the four IDX files of MNIST", "scikit-learn's digits"),
        ("gan", "the four IDX files of MNIST", "scikit-learn's digits"),
        ("resnet", "the files of CIFAR-10", "scikit-learn's digits"),
        ("flowers", ".tfrec files of records", "patches of scikit-learn's two photographs"),
        ("bert", "labeled texts (train.tsv and test.tsv)", "Python's language reference"),
        ("lstm", "files of text (.txt)", "Python's language reference"),
        ("tabular", "a folder for the table", "scikit-learn's tables"),
    ],
)
def test_a_folder_without_the_models_data_is_refused(refused, tmp_path, model, reads, small):
    """The small data that ships is used only without --data_dir."""
    folder = tmp_path / "mine"
    flags = (f"--model={model}", f"--data_dir={folder}")
    sentence = f"--model={model} reads {reads}"
    messages = [refused(*flags)]
    folder.mkdir()
    messages.append(refused(*flags))
    for name in ("a.png", "b.png", "c.png", "d.png"):
        (folder / name).write_bytes(b"a picture")
    messages.append(refused(*flags))
    for message, why in zip(
        messages,
        ("no such folder", "the folder is empty", "no data of this model, but a.png, b.png, c.png"),
    ):
        assert message.startswith(f"train.py: --data_dir={folder}: {why}")
        assert sentence in message
        assert f"leave out --data_dir to train on {small}" in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine"]
    assert len(list(folder.iterdir())) == 4


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (None, "--data_dir=gs://bucket/roses: no data of this model. --model=flowers reads .tfrec"),
        (
            tf.errors.FailedPreconditionError(None, None, "Could not resolve host"),
            "--data_dir=gs://bucket/roses: cannot be read: Could not resolve host. Check its name",
        ),
    ],
)
def test_a_bucket_without_the_models_data_is_refused(refused, monkeypatch, error, message):
    def glob(pattern):
        assert pattern.startswith("gs://bucket/roses/")
        if error is not None:
            raise error
        return []

    monkeypatch.setattr(tf.io.gfile, "glob", glob)
    assert message in refused("--model=flowers", "--data_dir=gs://bucket/roses")


def flowers(folder, spoil):
    """Records of three classes; one training file is spoiled."""
    path = folder / "train" / "b.tfrec"
    for name in (folder / "train" / "a.tfrec", path, folder / "test" / "c.tfrec"):
        write_flowers(name, [0, 1, 2, 0])
    spoil(path)


def imagenet(folder, spoil):
    path = folder / "train-00001-of-00002"
    for name in (path, folder / "train-00000-of-00002", folder / "validation-00000-of-00001"):
        write_imagenet(name, [1, 1000, 7, 8])
    spoil(path)


def cifar(folder, spoil):
    for name in [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]:
        (folder / name).write_bytes(bytes(3 * 3073))
    spoil(folder / "data_batch_2.bin")


def cut(path):
    path.write_bytes(path.read_bytes()[:-30])


def flipped(path, at=-30):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def flipped_first(path):
    flipped(path, 40)


def no_example(path):
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"no example")


def mixed(path):
    (path.parent / "picture.png").write_bytes(b"a picture of flowers")


def label_of_cifar(path):
    content = bytearray(path.read_bytes())
    content[3073] = 10
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("model", "make", "spoil", "message"),
    [
        ("flowers", flowers, cut, r"/b\.tfrec, byte \d+: damaged from record 3 on"),
        ("flowers", flowers, flipped, r"/b\.tfrec, byte \d+: damaged from record 3 on"),
        ("flowers", flowers, flipped_first, r"/b\.tfrec, byte 0: empty, or the first record"),
        ("flowers", flowers, no_example, r"/b\.tfrec.*its records are not tf"),
        ("flowers", flowers, mixed, r"mixed: 1 of 3 files are not TFRecord files.*picture\.png"),
        (
            "flowers", flowers, lambda path: write_flowers(path, [0, 7]),
            r"/b\.tfrec, byte \d+: record 1: the label 'class' is 7, want 0 to 2 for 3 classes",
        ),
        (
            "flowers", flowers, lambda path: write_flowers(path, [0, 1], count=4),
            r"/b\.tfrec: one_hot_class has 4 values, but 3 in .*/a\.tfrec",
        ),
        (
            "flowers", flowers, lambda path: cut_image(path, 2),
            r"/b\.tfrec, byte \d+: record 2: damaged image: .*\n--skip_bad_records trains without",
        ),
        (
            "resnet", imagenet, lambda path: cut_image(path, 1, "image/encoded"),
            r"/train-00001-of-00002, byte \d+: record 1: .* Damaged image.\n--skip_bad_records tra",
        ),
        ("resnet", imagenet, cut, r"/train-00001-of-00002, byte \d+: damaged from record 3 on"),
        ("resnet", imagenet, flipped, r"/train-00001-of-00002, byte \d+: damaged from record 3 on"),
        (
            "resnet", imagenet, lambda path: write_imagenet(path, [5, 0]),
            r"byte \d+: record 1: the label 'image/class/label' is 0, want 1 to 1000",
        ),
        (
            "resnet", imagenet, lambda path: write_imagenet(path, [1001]),
            r"byte 0: record 0: the label 'image/class/label' is 1001, want 1 to 1000",
        ),
        ("resnet", cifar, cut, r"/data_batch_2\.bin: damaged: 9189 bytes, want a multiple of 3073"),
        ("resnet", cifar, label_of_cifar, r"/data_batch_2\.bin, byte 3073: label 10, want 0 to 9"),
    ],
)  # fmt: skip
def test_spoiled_records_are_named_with_file_and_byte(
    refused, tmp_path, model, make, spoil, message
):
    folder = tmp_path / "data"
    folder.mkdir()
    make(folder, spoil)
    error = refused(f"--model={model}", f"--data_dir={folder}")
    assert re.search(message, error, re.S), error


@pytest.fixture
def small_backbone(monkeypatch):
    """A network of one convolution in place of MobileNetV2, which takes seconds to build."""

    def build(input_shape, **others):
        layers = tf_keras.layers
        return tf_keras.Sequential(
            [layers.Conv2D(2, 3, 8, input_shape=input_shape), layers.GlobalAveragePooling2D()]
        )

    monkeypatch.setattr(tf_keras.applications, "MobileNetV2", build)


@pytest.mark.usefixtures("small_backbone")
def test_damaged_images_are_left_out_and_counted(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    flowers(folder, lambda path: cut_image(path, 2))
    places = (f"--data_dir={folder}", f"--model_dir={tmp_path / 'run'}")
    done = train(
        tmp_path, "--model=flowers", "--image_size=32", "--skip_bad_records", *TINY, *places
    )
    assert done.code == 0, done.err
    assert "7 photographs to train on, 4 to test." in done.out
    assert f"Left out, damaged: {folder}/train/b.tfrec: record 2." in done.out
    assert "1 damaged records were left out (--skip_bad_records)." in done.out


@pytest.mark.usefixtures("small_backbone")
@pytest.mark.parametrize("api", ["estimator", "keras"])
def test_an_image_damaged_after_the_check_is_named(tmp_path, monkeypatch, api):
    """As in the whole ImageNet, of which only a part is checked."""
    folder = tmp_path / "data"
    folder.mkdir()
    flowers(folder, lambda path: cut_image(path, 2))
    monkeypatch.setattr(checked_records.eb.records, "check", unchecked(eb.records.check))
    places = (f"--data_dir={folder}", f"--model_dir={tmp_path / 'run'}")
    done = train(
        tmp_path, "--model=flowers", "--image_size=32", f"--api={api}", *TINY, *places
    )  # fmt: skip
    assert done.code == 1
    assert re.search(r"^train\.py: .*/b\.tfrec, byte \d+: record 2: ", done.err), done.err
    assert "With --skip_bad_records, train.py leaves such images out." in done.err
    assert "Traceback" not in done.err


def unchecked(check):
    return lambda paths, labels: check(paths, labels, images=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Trains a small lstm for two steps, in one of the ways of --api; returns its model_dir."""
    folders = {}

    def run(api):
        if api not in folders:
            folders[api] = tmp_path_factory.mktemp(api) / "run"
            flags = ("--model=lstm", "--lstm_units=8", "--text_length=64", f"--api={api}")
            done = train(folders[api].parent, *TINY, *flags, f"--model_dir={folders[api]}")
            assert done.code == 0, done.err
        return folders[api]

    return run


# Models that a folder's checkpoint does not fit, and what the error says.
OTHERS = {
    "estimator": [
        (("--model=gan",), ["it belongs to another model", "not found in checkpoint"]),
        (
            ("--model=lstm", "--lstm_units=4"),
            ["lstm0/lstm_cell/bias", "(16,)", "(32,) in the checkpoint"],
        ),
    ],
    "keras": [
        (
            other,
            ["a checkpoint of another model, or of other flags: it has model/", "[8, 32]"],
        )
        for other in (("--model=mnist",), ("--model=lstm", "--lstm_units=4"))
    ],
}


@pytest.mark.parametrize(
    ("api", "other", "messages"),
    [(api, *case) for api, cases in OTHERS.items() for case in cases],
)
def test_a_checkpoint_of_another_model_is_refused(trained, tmp_path, api, other, messages):
    """With names and shapes; the flags of the training that the folder has stay, for predict.py."""
    folder = trained(api)
    checkpoints = {path: path.read_bytes() for path in folder.glob("*ckpt*")}
    flags = (f"--api={api}", f"--model_dir={folder}", "--train_steps=4")
    done = train(tmp_path, *TINY, *other, *flags)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert [text for text in messages if text not in done.err] == [], done.err
    assert "lstm_units: 8\n" in (folder / "run.yaml").read_text()
    assert {path: path.read_bytes() for path in folder.glob("*ckpt*")} == checkpoints


@pytest.mark.parametrize(
    ("model", "file"),
    [
        ("flowers", "patches/train/data-00000-of-00001.tfrecord"),
        ("resnet", "resnet-digits/train/data-00000-of-00001.tfrecord"),
        ("tabular", "wine/records/train/data-00000-of-00001.tfrecord"),
    ],
)
def test_a_full_disk_while_data_is_written(refused, tmp_path, monkeypatch, model, file):
    def full(self, record):
        raise tf.errors.ResourceExhaustedError(None, None, "data; No space left on device")

    monkeypatch.setattr(tf.io.TFRecordWriter, "write", full)
    message = refused(f"--model={model}")
    assert "No space left on device" in message
    assert "was not written" in message
    assert not (tmp_path / "runs" / "data" / file).exists()


def test_a_full_disk_while_the_digits_are_written(refused, tmp_path, monkeypatch):
    def full(self, record):
        raise tf.errors.ResourceExhaustedError(None, None, "digits; No space left on device")

    monkeypatch.setattr(tf.io.TFRecordWriter, "write", full)
    message = refused("--model=mnist")
    assert "No space left on device" in message
    assert "The folder runs/data/digits was not written" in message
    assert list((tmp_path / "runs" / "data").iterdir()) == []
