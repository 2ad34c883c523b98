"""tf.contrib.learn's data sets, vocabularies and inputs."""

import gzip
import struct

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge_contrib import learn
from estimator_bridge_contrib.learn.vocabulary import CategoricalVocabulary

v1 = tf.compat.v1

# What VocabularyProcessor(3).fit(["b a b"]).save() of TensorFlow 1.15.5 writes.
OF_TF1 = (
    b"\x80\x03ctensorflow.contrib.learn.python.learn.preprocessing.text\nVocabularyProcessor\n"
    b"q\x00)\x81q\x01}q\x02(X\x13\x00\x00\x00max_document_lengthq\x03K\x03X\r\x00\x00\x00"
    b"min_frequencyq\x04K\x00X\x0b\x00\x00\x00vocabulary_q\x05ctensorflow.contrib.learn.python."
    b"learn.preprocessing.categorical_vocabulary\nCategoricalVocabulary\nq\x06)\x81q\x07}q\x08("
    b"X\x0e\x00\x00\x00_unknown_tokenq\tX\x05\x00\x00\x00<UNK>q\nX\x08\x00\x00\x00_mappingq\x0b"
    b"}q\x0c(h\nK\x00X\x01\x00\x00\x00bq\rK\x01X\x01\x00\x00\x00aq\x0eK\x02uX\x10\x00\x00\x00"
    b"_support_reverseq\x0f\x88X\x10\x00\x00\x00_reverse_mappingq\x10]q\x11(h\nh\rh\x0ee"
    b"X\x05\x00\x00\x00_freqq\x12ccollections\ndefaultdict\nq\x13cbuiltins\nint\nq\x14\x85q"
    b"\x15Rq\x16(h\rK\x02h\x0eK\x01uX\x07\x00\x00\x00_freezeq\x17\x88ubX\n\x00\x00\x00"
    b"_tokenizerq\x18ctensorflow.contrib.learn.python.learn.preprocessing.text\ntokenizer\nq"
    b"\x19ub."
)


def test_a_vocabulary_of_tensorflow_1_is_restored(tmp_path):
    path = tmp_path / "vocabulary"
    path.write_bytes(OF_TF1)
    restored = learn.preprocessing.VocabularyProcessor.restore(str(path))
    assert [list(row) for row in restored.transform(["a b z a"])] == [[2, 1, 0]]
    restored.save(str(path))
    again = learn.preprocessing.VocabularyProcessor.restore(str(path))
    assert list(again.reverse([[2, 1, 0]])) == ["a b <UNK>"]


def test_trim_keeps_frequent_words():
    vocabulary = CategoricalVocabulary()
    for word in ["b", "a", "b", "c", "c", "c", "d"]:
        vocabulary.add(word)
    vocabulary.trim(1, max_frequency=3)
    assert (vocabulary.reverse(1), len(vocabulary)) == ("b", 2)
    with pytest.raises(ValueError, match="support_reverse"):
        CategoricalVocabulary(support_reverse=False).reverse(0)


def test_categories_without_a_vocabulary():
    with pytest.raises(ValueError, match=r"Call fit\(rows\) first"):
        next(learn.preprocessing.CategoricalProcessor().transform([["a"]]))


def test_csv_files(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2,0\n3,4,1\n5,6,1\n")
    base = learn.datasets.base
    dataset = base.load_csv_without_header(str(path), np.int32, np.float32)
    assert (dataset.data.tolist(), dataset.target.tolist()) == ([[1, 2], [3, 4], [5, 6]], [0, 1, 1])
    with pytest.raises(ValueError, match=r"its first row says \(1, 2\)"):
        base.load_csv_with_header(str(path), np.int32, np.float32)
    base.shrink_csv(str(path), 2)
    assert (tmp_path / "a_small.csv").read_text().split() == ["1,2,0", "5,6,1"]


@pytest.mark.parametrize("name", ["iris", "boston"])
def test_a_file_that_is_not_here_says_where_it_was(name):
    with pytest.raises(FileNotFoundError, match="Take it from the folder tensorflow/contrib"):
        learn.datasets.load_dataset(name)


def test_names_of_data_sets():
    with pytest.raises(ValueError, match=r"Use one of .*'mnist'"):
        learn.datasets.load_dataset("cifar")
    with pytest.raises(ValueError, match=r"Use one of .*'circles'"):
        learn.datasets.make_dataset("moons")


def test_mnist_is_read_from_a_folder(tmp_path):
    images = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    for part in ("train", "t10k"):
        labels = np.array([3, 1], np.uint8)
        for kind, number, array in (("images-idx3", 2051, images), ("labels-idx1", 2049, labels)):
            head = struct.pack(f">{1 + array.ndim}I", number, *array.shape)
            packed = gzip.compress(head + array.tobytes())
            (tmp_path / f"{part}-{kind}-ubyte.gz").write_bytes(packed)
    mnist = learn.datasets.mnist
    sets = mnist.read_data_sets(str(tmp_path), validation_size=1, reshape=False)
    assert sets.test.images.shape == (2, 3, 3, 1)
    with open(tmp_path / "t10k-images-idx3-ubyte.gz", "rb") as file:
        assert mnist.extract_images(file)[1, 0, 1] == 10
    with open(tmp_path / "t10k-labels-idx1-ubyte.gz", "rb") as file:
        assert mnist.extract_labels(file, one_hot=True, num_classes=4).argmax(1).tolist() == [3, 1]


def test_retry_calls_again():
    calls = []

    @learn.datasets.base.retry(0.001, 0.01)
    def fail():
        calls.append(1)
        if len(calls) < 3:
            raise OSError
        return len(calls)

    assert fail() == 3
    with pytest.raises(ValueError, match="factor must be >= 1"):
        learn.datasets.base.retry(1, 1, factor=0.5)


def batches_of_generator(examples, **arguments):
    """All batches, of all values in the order of their names."""
    with tf.Graph().as_default(), v1.Session() as session:
        features = learn.io.generator_input_fn(examples, shuffle=False, **arguments)()
        batches = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                values = session.run([features[key] for key in sorted(features)])
                batches.append([value.tolist() for value in values])
        return batches


# As TensorFlow 1.15.5 gave them: it read in chunks, and filled the last one up.
@pytest.mark.parametrize(
    ("count", "batch", "epochs", "keys", "expected"),
    [
        (2, 2, 1, 1, [[[0, 1]], [[0, 1]]]),
        (2, 2, 1, 3, [[[0, 1], [100, 101], [200, 201]], [[0], [100], [200]]]),
        (3, 2, 1, 2, [[[0, 1], [100, 101]], [[2, 0], [102, 100]]]),
        (5, 2, 1, 1, [[[0, 1]], [[2, 3]], [[4, 0]]]),
        (2, 5, 1, 2, [[[0, 1, 0], [100, 101, 100]]]),
        (3, 2, 2, 1, [[[0, 1]], [[2, 0]], [[1, 2]], [[0, 1]]]),
        (4, 2, 2, 1, [[[0, 1]], [[2, 3]], [[0, 1]], [[2, 3]], [[0, 1]]]),
    ],
)  # fmt: skip
def test_a_generators_batches_are_the_originals(count, batch, epochs, keys, expected):
    def examples():
        for number in range(count):
            yield {chr(97 + key): np.asarray(number + 100 * key) for key in range(keys)}

    assert batches_of_generator(examples, batch_size=batch, num_epochs=epochs) == expected


@pytest.mark.parametrize(
    ("batch", "keys", "expected"),
    [
        (2, "xy", [[[0, 0], [0, 1]], [[0, 1, 2], [0, 0, 0]]]),
        (2, "x", [[[0, 7], [0, 1]], [[0, 1, 2], [0, 7, 7]]]),
        (4, "xy", [[[0, 7, 0], [0, 1, 0], [0, 1, 2], [0, 7, 7]]]),
        (3, "x", [[[0, 7, 7], [0, 1, 7], [0, 1, 2]]] * 2),
    ],
)
def test_a_generators_padding_is_the_originals(batch, keys, expected):
    def examples():
        for number in range(3):
            values = {"x": np.arange(number + 1), "y": np.array([number])}
            yield {key: values[key] for key in keys}

    batches = batches_of_generator(examples, batch_size=batch, pad_value=7)
    assert [values[0] for values in batches] == expected


def test_a_generators_labels_and_mistakes():
    def examples():
        for number in range(2):
            yield {"x": np.array([number]), "y": np.array([10 + number])}

    with tf.Graph().as_default(), v1.Session() as session:
        features, labels = learn.io.generator_input_fn(examples, "y", 2, shuffle=False)()
        assert list(features) == ["x"]
        assert session.run((features["x"], labels))[1].tolist() == [[10], [11]]
    with pytest.raises(KeyError, match=r"Expected .*'x', 'y'.* keys; got z"):
        learn.io.generator_input_fn(examples, "z")
    with pytest.raises(TypeError, match="must be generator function"):
        learn.io.generator_input_fn([1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch_size": 0}, "Invalid batch_size 0, with queue_capacity 10000"),
        ({"num_epochs": 0}, "Invalid num_epochs 0"),
        ({"queue_capacity": 0}, "Invalid queue_capacity 0"),
        ({"file_pattern": "nothing*"}, r"No files match nothing\*"),
        ({"file_pattern": []}, "No files given"),
    ],
)
def test_records_are_checked_before_they_are_read(changes, message):
    arguments = {"file_pattern": "a", "batch_size": 1, "reader": v1.TFRecordReader, **changes}
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        learn.io.read_batch_examples(**arguments)


def test_a_metric_spec_finds_its_arguments():
    def own(prediction, target, weight=None):
        return prediction, target, weight

    spec = learn.MetricSpec(own, prediction_key="p", weight_key="w")
    ops = spec.create_metric_ops({"w": 3}, 2, {"p": 1, "q": 5})
    assert ops == (1, 2, 3)
    assert learn.MetricSpec(lambda labels, x: (labels, x)).create_metric_ops({}, 1, 2) == (1, 2)
    assert learn.MetricSpec(lambda x: x).create_metric_ops({}, 1, {"p": 2}) == 2
    with pytest.raises(ValueError, match="single element dict"):
        learn.MetricSpec(own).create_metric_ops({}, 1, {"p": 1, "q": 2})
    with pytest.raises(KeyError, match="Key 'p' missing"):
        spec.create_metric_ops({}, 1, {"q": 2})
    with pytest.raises(ValueError, match="must provide only one of"):
        learn.MetricSpec(lambda label, labels, x: x)
    with pytest.raises(ValueError, match="missing from"):
        learn.MetricSpec(lambda x: x, label_key="y")
