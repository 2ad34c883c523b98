"""A damaged image in a whole record: found by a check, named by a training, left out if asked."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge import records
from estimator_bridge.commands.cli import main
from estimator_bridge.data.input_errors import (
    explain_input_errors_with,
    explained_input_errors,
)
from estimator_bridge.errors import DataError
from estimator_bridge.records.framing import offset_of

v1 = tf.compat.v1
COUNT, SIZE = 12, 8


def jpeg(value):
    return tf.io.encode_jpeg(np.full([SIZE, SIZE, 3], value, np.uint8)).numpy()


def write(folder, bad=(), shards=2):
    """Writes images whose pixels are 10 times their numbers; those of `bad` lose their ends."""
    images = [jpeg(10 * n)[: -60 if n in bad else None] for n in range(COUNT)]
    arrays = {"image": np.array(images, object), "label": np.arange(COUNT)}
    records.write(records.from_arrays(arrays), folder, shards=shards)
    return str(folder)


def decode(features, *labels):
    image = tf.ensure_shape(tf.io.decode_jpeg(features["image"], channels=3), [SIZE, SIZE, 3])
    image = tf.cast(image, tf.float32)
    return (image, *labels) if labels else image


def model_fn(features, labels, mode):
    scale = v1.get_variable("scale", [], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(scale * features))
    train_op = v1.train.GradientDescentOptimizer(1e-9).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, {"mean": tf.reduce_mean(features, [1, 2, 3])}, loss, train_op)


def test_a_check_names_each_damaged_image(tmp_path, capsys):
    folder = write(tmp_path / "data", bad=(2, 7, 9))
    first, second = (f"{folder}/data-0000{n}-of-00002.tfrecord" for n in range(2))
    report = records.check(folder)
    assert not report.is_good
    assert report.images == COUNT
    assert report.damaged_images == {first: (2,), second: (1, 3)}
    errors = [finding for finding in report.findings if finding.is_error]
    assert [(f.path, f.offset, f.is_image) for f in errors] == [
        (first, offset_of(first, 2), True),
        (second, offset_of(second, 1), True),
        (second, offset_of(second, 3), True),
    ]
    assert main(["data", "check", folder]) == 1
    output = capsys.readouterr().out
    assert f"error: {first}, byte {offset_of(first, 2)}: record 2: damaged image: " in output
    assert "12 images decoded" in output
    assert main(["data", "check", folder, "--skip_images"]) == 0
    assert "decoded" not in capsys.readouterr().out


def test_many_damaged_images_are_counted(tmp_path):
    folder = write(tmp_path / "data", bad=range(2, 12), shards=1)
    messages = [f.message for f in records.check(folder).findings]
    assert len(messages) == 6
    assert messages[-1] == "5 more damaged images."


def test_words_are_no_images(tmp_path):
    words = np.array([b"BMW", b"BMX", b"BM" + b"a" * 40], object)
    records.write(records.from_arrays({"word": words}), tmp_path / "data")
    report = records.check(str(tmp_path / "data"))
    assert (report.is_good, report.images) == (True, 0)


def test_png_and_bmp_are_images(tmp_path):
    png = tf.io.encode_png(np.zeros([SIZE, SIZE, 3], np.uint8)).numpy()
    rows = {"picture": np.array([png, png, png[:-30]], object)}
    records.write(records.from_arrays(rows), tmp_path / "data")
    (finding,) = records.check(str(tmp_path / "data")).findings
    assert finding.message.startswith("record 2: damaged image: ")


@pytest.mark.parametrize("parallel", [True, False])
def test_a_training_names_the_file_and_the_record(tmp_path, parallel):
    """TensorFlow's error comes from the middle of a step and has neither."""
    folder = write(tmp_path / "data", bad=(8,))
    second = f"{folder}/data-00001-of-00002.tfrecord"
    reading = records.input_fn(folder, True, 4, label="label", decode=decode, seed=1)
    input_fn = reading if parallel else (lambda: reading().map(lambda *batch: batch))
    estimator = eb.Estimator(model_fn, str(tmp_path / "run"))
    with pytest.raises(DataError) as raised:
        estimator.train(input_fn, steps=100)
    message = str(raised.value)
    assert message.startswith(f"{second}, byte {offset_of(second, 2)}: record 2: ")
    assert "`estimator-bridge data check` reports all such records" in message
    assert "leave_out=" in message
    assert "\n" not in message
    assert isinstance(raised.value, tf.errors.InvalidArgumentError)  # what TensorFlow raised


def test_so_do_evaluation_and_prediction(tmp_path):
    good, bad = write(tmp_path / "good"), write(tmp_path / "bad", bad=(1,))
    estimator = eb.Estimator(model_fn, str(tmp_path / "run"))
    estimator.train(records.input_fn(good, True, 4, label="label", decode=decode), steps=1)
    input_fn = records.input_fn(bad, False, 4, label="label", decode=decode)
    with pytest.raises(DataError, match=r"00000-of-00002\.tfrecord, byte \d+: record 1: "):
        estimator.evaluate(input_fn)
    with pytest.raises(DataError, match=r"00000-of-00002\.tfrecord, byte \d+: record 1: "):
        list(estimator.predict(input_fn))


def test_a_file_that_is_damaged_while_it_is_read(tmp_path):
    folder = write(tmp_path / "data")
    input_fn = records.input_fn(folder, True, 4, label="label", decode=decode)
    path = tmp_path / "data" / "data-00001-of-00002.tfrecord"
    content = bytearray(path.read_bytes())
    content[offset_of(str(path), 3) + 40] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"00001-of-00002\.tfrecord, byte \d+: damaged from recor"):
        eb.Estimator(model_fn, str(tmp_path / "run")).train(input_fn, steps=100)


def test_errors_of_the_model_stay_as_they_are(tmp_path):
    """Records without fault are searched in vain."""
    folder = write(tmp_path / "data")

    def wrong(features, labels, mode):
        spec = model_fn(features, labels, mode)
        with tf.control_dependencies([tf.debugging.assert_less(labels, tf.constant(3, tf.int64))]):
            return spec._replace(train_op=tf.group(spec.train_op, tf.identity(labels)))

    input_fn = records.input_fn(folder, True, 4, label="label", decode=decode)
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        eb.Estimator(wrong, str(tmp_path / "run")).train(input_fn, steps=20)
    assert not isinstance(raised.value, DataError)


def labels_of(dataset, batches=-1):
    return [n for _, labels in dataset.take(batches).as_numpy_iterator() for n in labels.tolist()]


def test_damaged_images_are_left_out_if_asked(tmp_path):
    folder = write(tmp_path / "data", bad=(2, 7, 9))
    left_out = records.check(folder).damaged_images
    whole = [n for n in range(COUNT) if n not in (2, 7, 9)]
    options = {"label": "label", "decode": decode, "leave_out": left_out}
    evaluated = records.input_fn(folder, False, 4, **options)
    assert labels_of(evaluated()) == whole
    trained = records.input_fn(folder, True, 3, seed=1, **options)
    seen = labels_of(trained(), 6)  # two epochs
    assert sorted(seen) == sorted(whole * 2)
    eb.Estimator(model_fn, str(tmp_path / "run")).train(trained, steps=9)


def test_a_file_that_is_not_read_cannot_be_left_out(tmp_path):
    folder, other = write(tmp_path / "data"), f"{tmp_path}/other.tfrecord"
    with pytest.raises(DataError, match=r"other\.tfrecord: leave_out names a record of this file"):
        records.input_fn(folder, True, 4, decode=decode, leave_out={other: (1,)})


def test_an_explanation_ends_with_its_call():
    called = []

    def explain(error):
        called.append(error)

    error = tf.errors.InvalidArgumentError(None, None, "{{node IteratorGetNext}} wrong")
    with explained_input_errors():
        explain_input_errors_with(explain)
    with pytest.raises(tf.errors.InvalidArgumentError), explained_input_errors():
        raise error
    assert called == []
    with pytest.raises(tf.errors.InvalidArgumentError), explained_input_errors():
        explain_input_errors_with(explain)
        raise error
    assert called == [error]
