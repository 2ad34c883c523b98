"""Advice on the namespaces of tf.contrib that are missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

__all__ = ["OF_TF1", "Namespaces"]

_OF_TF1 = """
    all_reduce autograph batching bayesflow bigtable boosted_trees checkpoint cloud
    cluster_resolver coder compiler constrained_optimization copy_graph crf cudnn_rnn data
    decision_trees deprecated distribute distributions eager estimator factorization
    feature_column ffmpeg fft framework fused_conv gan graph_editor grid_rnn hadoop hooks ignite
    ignite_dataset image input_pipeline integrate kafka keras kernel_methods kinesis
    labeled_tensor layers learn legacy_seq2seq libsvm linear_optimizer lite lookup losses
    memory_stats meta_graph_transform metrics mixed_precision model_pruning mpi_collectives
    nearest_neighbor nest nn opt optimizer_v2 periodic_resample predictor proto quantization
    quantize receptive_field recurrent reduce_slice_ops remote_fused_graph resampler rnn rpc
    saved_model seq2seq session_bundle signal slim solvers sparsemax specs staging
    stat_summarizer stateless summary tensor_forest tensorboard tensorrt testing text tfprof
    timeseries tpu training util xla
"""
_UNTIL_TF1 = "kfac linalg nccl ndlstm"  # these were removed in releases before 1.15
# The namespaces of tf.contrib in TensorFlow 1.
OF_TF1 = frozenset([*_OF_TF1.split(), *_UNTIL_TF1.split()])

_ANY = (
    "is not supported. tf.contrib was removed from TensorFlow with 2.0; "
    "`estimator-bridge run --list-supported` lists the supported parts."
)


def _instead(advice: str) -> str:
    return f"is not supported. {advice}"


# tensorflow-io, tensorflow-decision-forests and scann have no release whose operations load in
# today's TensorFlow.
_READ = "Read the {} with the package {} in tf.data.Dataset.from_generator."
_FORESTS = "Train the trees with the package ydf, which exports them as SavedModels."
_STRATEGIES = "Use tf.distribute.MirroredStrategy, or MultiWorkerMirroredStrategy."
_ADVICE = {
    name: _instead(advice)
    for name, advice in {
        "bigtable": "Read the rows with the package google-cloud-bigtable.",
        "boosted_trees": _FORESTS,
        "coder": "Code the integers with the package constriction in tf.py_function.",
        "decision_trees": _FORESTS,
        "fft": "Use tf.signal.fft.",
        "fused_conv": "Use tf.nn.conv2d, tf.nn.bias_add and tf.nn.relu, which XLA fuses.",
        "hadoop": "Convert the sequence files to TFRecords, with Spark or Hadoop itself.",
        "ignite": _READ.format("rows", "pyignite"),
        "ignite_dataset": _READ.format("rows", "pyignite"),
        "input_pipeline": "Use tf.data.Dataset.from_tensor_slices(strings).repeat().",
        "kafka": _READ.format("messages", "confluent-kafka"),
        "kfac": "Use the package kfac.",
        "kinesis": _READ.format("records", "boto3"),
        "labeled_tensor": "Use tensors without labels of axes, or the package xarray for arrays.",
        "libsvm": "Parse the lines with sklearn.datasets.load_svmlight_file.",
        "meta_graph_transform": "Use tf.compat.v1.graph_util.extract_sub_graph on the GraphDef.",
        "mpi_collectives": _STRATEGIES,
        "nearest_neighbor": "Use tf.math.top_k of tf.matmul.",
        "nest": "Use tf.nest, or tf.contrib.framework.nest.",
        "proto": "Use tf.io.decode_proto and tf.io.encode_proto.",
        "quantization": "Use tf.quantization.",
        "recurrent": "Use tf.compat.v1.nn.dynamic_rnn.",
        "reduce_slice_ops": "Use tf.math.segment_sum, or sums over slices of tf.cumsum.",
        "remote_fused_graph": "Convert the model with tf.lite.TFLiteConverter.",
        "rpc": "Call the server with the package grpcio in tf.py_function.",
        "specs": "Write the layers with tf.compat.v1.layers.",
        "stat_summarizer": "Use tf.compat.v1.profiler on the RunMetadata.",
        "tensor_forest": _FORESTS,
        "tensorrt": "Use tf.experimental.tensorrt.",
        "text": "Use tf.keras.preprocessing.sequence.skipgrams.",
        "xla": "Use tf.contrib.compiler, or tf.function(jit_compile=True).",
    }.items()
}


class Namespaces(Mapping[str, str]):
    """The advice on a missing namespace, for any name.

    tf.contrib was removed as a whole, so names that it never had get the same advice.
    """

    def __getitem__(self, name: str) -> str:
        if name.startswith("__"):  # lookups by Python itself
            raise KeyError(name)
        return _ADVICE.get(name, _ANY)

    def __iter__(self) -> Iterator[str]:
        return iter(_ADVICE)

    def __len__(self) -> int:
        return len(_ADVICE)
