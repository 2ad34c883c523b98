"""tf.summary without tensorboard writes events that TensorBoard reads."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge.legacy.running.bridges import summaries


def written(folder, write):
    """Returns the summary values that `write` writes."""
    writer = tf.summary.create_file_writer(str(folder))
    with writer.as_default():
        write()
    writer.close()
    (path,) = folder.iterdir()
    events = tf.compat.v1.train.summary_iterator(str(path))
    return [(event.step, value) for event in events for value in event.summary.value]


def test_scalar(tmp_path):
    ((step, value),) = written(tmp_path, lambda: summaries.scalar("loss", 1.5, step=3))
    assert (step, value.tag, value.metadata.plugin_data.plugin_name) == (3, "loss", "scalars")
    assert tf.make_ndarray(value.tensor) == 1.5
    assert value.metadata.data_class == 1


def test_scalar_of_a_vector_is_refused(tmp_path):
    with pytest.raises(ValueError, match="rank 0"):
        written(tmp_path, lambda: summaries.scalar("loss", [1.0, 2.0], step=0))


def test_text_in_a_name_scope(tmp_path):
    def write():
        with tf.name_scope("notes"):
            summaries.text("a", ["x", "y"], step=1, description="two")

    ((_, value),) = written(tmp_path, write)
    assert value.tag == "notes/a"
    assert value.metadata.summary_description == "two"
    assert tf.make_ndarray(value.tensor).tolist() == [b"x", b"y"]


@pytest.mark.parametrize("numbers", [[0.0, 1.0, 1.0, 4.0], [2, 2, 2], np.arange(100.0)])
def test_histogram(tmp_path, numbers):
    ((_, value),) = written(tmp_path, lambda: summaries.histogram("h", numbers, step=0, buckets=4))
    rows = tf.make_ndarray(value.tensor)
    counts, edges = np.histogram(numbers, bins=4)
    np.testing.assert_allclose(rows[:, 2], counts)
    np.testing.assert_allclose(rows[:, 0], edges[:-1])
    np.testing.assert_allclose(rows[:, 1], edges[1:])


def test_histogram_of_nothing(tmp_path):
    ((_, value),) = written(tmp_path, lambda: summaries.histogram("h", [], step=0, buckets=2))
    assert tf.make_ndarray(value.tensor).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_image(tmp_path):
    pictures = np.random.default_rng(1).integers(0, 255, (4, 2, 3, 1)).astype(np.uint8)
    ((_, value),) = written(tmp_path, lambda: summaries.image("i", pictures, step=0, max_outputs=2))
    width, height, *encoded = tf.make_ndarray(value.tensor).tolist()
    assert (width, height, len(encoded)) == (b"3", b"2", 2)
    np.testing.assert_array_equal(tf.image.decode_png(encoded[1]), pictures[1])


def test_what_tensorboard_would_do_is_done_where_it_is_not_installed(monkeypatch, tmp_path):
    for name in ("scalar", "histogram", "image", "text"):
        monkeypatch.setattr(tf.summary, name, getattr(tf.summary, name))
        monkeypatch.setattr(tf.compat.v2.summary, name, getattr(tf.compat.v2.summary, name))
    monkeypatch.setattr(summaries.importlib.util, "find_spec", lambda name: None)
    summaries.write_without_tensorboard()
    ((_, value),) = written(tmp_path, lambda: tf.compat.v2.summary.scalar("x", 2, step=1))
    assert tf.make_ndarray(value.tensor) == 2
    assert tf.summary.scalar is summaries.scalar
