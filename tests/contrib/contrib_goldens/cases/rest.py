"""tf.contrib: conditional random fields, CUDA's layers, tables, tensor utilities."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array, classes, x
from contrib_goldens.observe import Steps

crf = tf.contrib.crf
lookup = tf.contrib.lookup
cudnn = tf.contrib.cudnn_rnn
BITS = np.random.RandomState(0).uniform(size=(2, 3, 3)) < 0.7
WORDS = ["one", "two", "three"]


def tags(steps=3):
    return tf.constant(classes(6, 3).reshape(2, 3)[:, :steps].astype(np.int32))


def lengths(*of):
    return tf.constant(of or (3, 2), tf.int32)


def transitions():
    return tf.constant(array(3, 3), name="input")


def decoded():
    return crf.viterbi_decode(array(4, 3), array(3, 3))


def stacked(name, layers=1, direction="unidirectional"):
    """The attributes of a layer for CUDA, which a CPU could not run."""
    kind = getattr(cudnn, name)
    layer = kind(layers, 5, direction=direction)
    return [layer.num_layers, layer.num_units, layer.direction, layer.num_dirs, layer.input_mode]


def compatible(name):
    return lambda: tf.nn.dynamic_rnn(getattr(cudnn, name)(5), x(2, 3, 4), dtype=tf.float32)


def words_file():
    path = os.path.join(tempfile.mkdtemp(), "words")
    with open(path, "w") as file:
        file.write("\n".join(WORDS))
    return path


def operations():
    with tf.Graph().as_default() as graph:
        tf.square(tf.constant(2.0)) + tf.placeholder(tf.float32)
    return sorted(tf.contrib.util.ops_used_by_graph_def(graph.as_graph_def()))


def table(make, *keys):
    def build():
        table = make()
        return table.lookup(tf.constant(list(keys))), table.size()

    return build


def mutable(kind, **options):
    def build():
        table = kind(tf.int64, tf.float32, -1.0, **options)
        insert = table.insert(tf.constant([1, 2], tf.int64), tf.constant([0.5, 1.5]))
        return Steps(
            [
                insert,
                table.lookup(tf.constant([1, 5], tf.int64)),
                table.size(),
            ]
        )

    return build


CASES = {
    "crf.crf_binary_score": lambda: crf.crf_binary_score(tags(), lengths(), transitions()),
    "crf.crf_decode": lambda: crf.crf_decode(x(2, 3, 3), transitions(), lengths()),
    "crf.crf_decode: one step": lambda: crf.crf_decode(x(2, 1, 3), transitions(), lengths(1, 1)),
    "crf.crf_log_likelihood": lambda: crf.crf_log_likelihood(
        x(2, 3, 3), tags(), lengths(), transitions()
    ),
    "crf.crf_log_likelihood: variable": lambda: crf.crf_log_likelihood(
        x(2, 3, 3), tags(), lengths()
    ),
    "crf.crf_log_norm": lambda: crf.crf_log_norm(x(2, 3, 3), lengths(), transitions()),
    "crf.crf_log_norm: one step": lambda: crf.crf_log_norm(
        x(2, 1, 3), lengths(1, 0), transitions()
    ),
    "crf.crf_multitag_sequence_score": lambda: crf.crf_multitag_sequence_score(
        x(2, 3, 3), BITS, lengths(), transitions()
    ),
    "crf.crf_sequence_score": lambda: crf.crf_sequence_score(
        x(2, 3, 3), tags(), lengths(), transitions()
    ),
    "crf.crf_sequence_score: one step": lambda: crf.crf_sequence_score(
        x(2, 1, 3), tags(1), lengths(1, 1), transitions()
    ),
    "crf.crf_unary_score": lambda: crf.crf_unary_score(tags(), lengths(), x(2, 3, 3)),
    "crf.viterbi_decode": decoded,
    "cudnn_rnn.CudnnCompatibleGRUCell": compatible("CudnnCompatibleGRUCell"),
    "cudnn_rnn.CudnnCompatibleLSTMCell": compatible("CudnnCompatibleLSTMCell"),
    "cudnn_rnn.CudnnGRU": lambda: stacked("CudnnGRU"),
    "cudnn_rnn.CudnnLSTM": lambda: stacked("CudnnLSTM", 2, "bidirectional"),
    "cudnn_rnn.CudnnLSTM: direction": lambda: stacked("CudnnLSTM", 1, "both"),
    "cudnn_rnn.CudnnRNNRelu": lambda: stacked("CudnnRNNRelu"),
    "cudnn_rnn.CudnnRNNTanh": lambda: stacked("CudnnRNNTanh"),
    "lookup.HashTable": table(
        lambda: lookup.HashTable(lookup.KeyValueTensorInitializer(WORDS, [1, 2, 3]), -1), "two", "x"
    ),
    "lookup.IdTableWithHashBuckets": table(
        lambda: lookup.IdTableWithHashBuckets(None, 5), "two", "x"
    ),
    "lookup.MutableDenseHashTable": mutable(
        lookup.MutableDenseHashTable, empty_key=-1, deleted_key=-2
    ),
    "lookup.MutableHashTable": mutable(lookup.MutableHashTable),
    "lookup.index_table_from_tensor": table(
        lambda: lookup.index_table_from_tensor(tf.constant(WORDS), num_oov_buckets=2), "two", "x"
    ),
    "lookup.index_table_from_tensor: default": table(
        lambda: lookup.index_table_from_tensor(tf.constant(WORDS), default_value=7), "two", "x"
    ),
    "lookup.index_to_string": lambda: lookup.index_to_string(
        tf.constant([1, 5], tf.int64), tf.constant(WORDS)
    ),
    "lookup.index_to_string_table_from_tensor": lambda: lookup.index_to_string_table_from_tensor(
        tf.constant(WORDS), "none"
    ).lookup(tf.constant([1, 5], tf.int64)),
    "lookup.string_to_index": lambda: lookup.string_to_index(
        tf.constant(["two", "x"]), tf.constant(WORDS), default_value=9
    ),
    "lookup.string_to_index_table_from_tensor": table(
        lambda: lookup.string_to_index_table_from_tensor(tf.constant(WORDS)), "two", "x"
    ),
    "lookup.string_to_index_table_from_file": table(
        lambda: lookup.string_to_index_table_from_file(words_file(), num_oov_buckets=2), "two", "x"
    ),
    "lookup.string_to_index_table_from_file: default": table(
        lambda: lookup.string_to_index_table_from_file(words_file(), default_value=7), "two", "x"
    ),
    "util.constant_value": lambda: tf.contrib.util.constant_value(tf.constant([1, 2])),
    "util.ops_used_by_graph_def": operations,
}
