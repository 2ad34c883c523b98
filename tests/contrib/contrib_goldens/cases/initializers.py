"""tf.contrib.framework: initializers of convolutions, and of matrices of a checkpoint."""

import os
import tempfile

import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case

framework = tf.contrib.framework
OLD, NEW = ["a", "b", "c"], ["c", "d", "a"]


def saved():
    """A checkpoint with a matrix and biases of three rows, and files of old and new rows."""
    folder = tempfile.mkdtemp()
    paths = {}
    for name, words in (("old", OLD), ("new", NEW)):
        paths[name] = os.path.join(folder, name)
        with open(paths[name], "w") as file:
            file.write("\n".join(words))
    with tf.Graph().as_default(), tf.Session() as session:
        matrix = tf.get_variable("matrix", initializer=array(3, 2))
        biases = tf.get_variable("biases", initializer=array(3, 1))
        session.run(tf.global_variables_initializer())
        paths["checkpoint"] = tf.train.Saver([matrix, biases]).save(
            session, os.path.join(folder, "model.ckpt")
        )
    return paths


def sevens(shape, dtype=tf.float32, partition_info=None):
    del partition_info
    return tf.fill(shape, tf.cast(7.0, dtype))


def embedding():
    paths = saved()
    load = framework.load_embedding_initializer(
        ckpt_path=paths["checkpoint"],
        embedding_tensor_name="matrix",
        new_vocab_size=3,
        embedding_dim=2,
        old_vocab_file=paths["old"],
        new_vocab_file=paths["new"],
        num_oov_buckets=1,
        initializer=sevens,
    )
    return tf.get_variable("table", [4, 2], initializer=load)


def columns():
    paths = saved()
    with open(paths["old"], "w") as file:
        file.write("x\ny")
    load = framework.load_and_remap_matrix_initializer(
        ckpt_path=paths["checkpoint"],
        old_tensor_name="matrix",
        new_row_vocab_size=3,
        new_col_vocab_size=3,
        old_col_vocab_file=paths["old"],
        new_col_vocab_file=paths["new"],
        initializer=sevens,
    )
    return load([3, 3], tf.float32)


def biases():
    paths = saved()
    load = framework.load_linear_multiclass_bias_initializer(
        paths["checkpoint"], "biases", 3, paths["old"], paths["new"], num_class_oov_buckets=2
    )
    return tf.get_variable("biases", [5, 1], initializer=load)


def slot(**options):
    def build():
        paths = saved()
        load = framework.load_variable_slot_initializer(
            paths["checkpoint"],
            "matrix",
            None,
            3,
            2,
            old_row_vocab_file=paths["old"],
            new_row_vocab_file=paths["new"],
            **options,
        )
        return load([3, 2], partition_info="another's")

    return build


def convolution(name, shape, **options):
    """A kernel drawn at random: its norm, and the norm of its product with itself."""

    def build():
        kernel = getattr(framework, name)(**options)(shape, tf.float32)
        flat = tf.reshape(kernel, [-1, shape[-1]])
        return tf.matmul(flat, flat, transpose_a=True)

    return Case(build, has_gradients=False)


def spec():
    bounded = framework.BoundedTensorSpec([2], tf.float32, -1.0, [1.0, 2.0], name="x")
    return [
        bounded.name,
        bounded.shape,
        bounded.dtype,
        bounded.minimum,
        bounded.maximum,
        repr(bounded),
    ]


def random_records():
    path = os.path.join(tempfile.mkdtemp(), "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for word in (b"a", b"b", b"c", b"d"):
            writer.write(word)
    reader = framework.RecordInput(
        file_pattern=path, batch_size=4, buffer_size=4, parallelism=1, seed=1
    )
    return tf.size(tf.unique(tf.stack(reader.get_yield_op()))[0])


def kernel(name, shape):
    def build():
        initializer = getattr(framework, name)(dtype=tf.float32)
        return [sorted(initializer.get_config()), initializer(shape).shape]

    return Case(build, has_gradients=False)


CASES = {
    "framework.load_embedding_initializer": embedding,
    "framework.load_and_remap_matrix_initializer": columns,
    "framework.load_linear_multiclass_bias_initializer": biases,
    "framework.load_variable_slot_initializer": slot(),
    "framework.load_variable_slot_initializer: not callable": slot(initializer=3),
    "framework.load_variable_slot_initializer: rows": slot(max_rows_in_memory=1),
    "framework.convolutional_delta_orthogonal": convolution(
        "convolutional_delta_orthogonal", [3, 3, 2, 4], gain=2.0
    ),
    "framework.convolutional_delta_orthogonal: fewer": convolution(
        "convolutional_delta_orthogonal", [3, 4, 2]
    ),
    "framework.convolutional_orthogonal_1d": kernel("convolutional_orthogonal_1d", [3, 2, 4]),
    "framework.convolutional_orthogonal_2d": kernel("convolutional_orthogonal_2d", [3, 3, 2, 4]),
    "framework.convolutional_orthogonal_3d": kernel(
        "convolutional_orthogonal_3d", [3] * 3 + [2, 4]
    ),
    "framework.BoundedTensorSpec": spec,
    "framework.RecordInput": Case(random_records, queues=True),
}
