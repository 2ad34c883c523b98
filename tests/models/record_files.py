"""Small files of photographs, in the layouts of the flowers records and of ImageNet."""

import numpy as np
import tensorflow as tf


def _feature(value):
    values = value if isinstance(value, (list, np.ndarray)) else [value]
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def write_examples(path, rows):
    """Writes a TFRecord file of features by name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for row in rows:
            features = tf.train.Features(feature={k: _feature(v) for k, v in row.items()})
            writer.write(tf.train.Example(features=features).SerializeToString())


def write_flowers(path, classes, count=3, leave_out=()):
    """Writes photographs of one color in the layout of the public flowers records."""
    rows = []
    for label in classes:
        row = {
            "image": tf.io.encode_jpeg(np.full([40, 48, 3], 20 * label, np.uint8)).numpy(),
            "class": label,
            "label": b"a name",
            "one_hot_class": np.eye(count)[min(label, count - 1)],
        }
        rows.append({name: value for name, value in row.items() if name not in leave_out})
    write_examples(path, rows)


def cut_image(path, number, feature="image"):
    """Shortens the image of a record, which stays whole."""
    records = [r.numpy() for r in tf.data.TFRecordDataset(str(path))]
    example = tf.train.Example.FromString(records[number])
    values = example.features.feature[feature].bytes_list.value
    values[0] = values[0][: len(values[0]) // 2]
    records[number] = example.SerializeToString()
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)


def write_imagenet(path, labels):
    """Writes photographs whose left half is black and whose right half is white."""
    image = np.zeros([256, 300, 3], np.uint8)
    image[:, 150:] = 255
    encoded = tf.io.encode_jpeg(image).numpy()
    write_examples(path, [{"image/encoded": encoded, "image/class/label": n} for n in labels])
