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


_DATA_IO = "Use the package tensorflow-io."
_FORESTS = "Use the package tensorflow-decision-forests."
_MODEL_OPTIMIZATION = "Use the package tensorflow-model-optimization: tfmot."
_STRATEGIES = "Use tf.distribute.MirroredStrategy, or MultiWorkerMirroredStrategy."
_ADVICE = {
    name: _instead(advice)
    for name, advice in {
        "all_reduce": _STRATEGIES,
        "bigtable": "Read the rows with the package google-cloud-bigtable.",
        "boosted_trees": _FORESTS,
        "coder": "Use the package tensorflow-compression: tfc.",
        "constrained_optimization": "Use the package tensorflow-constrained-optimization: tfco.",
        "decision_trees": _FORESTS,
        "ffmpeg": "Use tf.audio.decode_wav, or tfio.audio of the package tensorflow-io.",
        "fft": "Use tf.signal.fft.",
        "fused_conv": "Use tf.nn.conv2d, tf.nn.bias_add and tf.nn.relu, which XLA fuses.",
        "hadoop": _DATA_IO,
        "ignite": _DATA_IO,
        "ignite_dataset": _DATA_IO,
        "input_pipeline": "Use tf.data.Dataset.from_tensor_slices(strings).repeat().",
        "kafka": _DATA_IO,
        "kfac": "Use the package kfac.",
        "kinesis": _DATA_IO,
        "labeled_tensor": "Use tensors without labels of axes, or the package xarray for arrays.",
        "libsvm": "Parse the lines with sklearn.datasets.load_svmlight_file.",
        "meta_graph_transform": "Use tf.compat.v1.graph_util.extract_sub_graph on the GraphDef.",
        "model_pruning": f"{_MODEL_OPTIMIZATION}sparsity.keras.prune_low_magnitude.",
        "mpi_collectives": _STRATEGIES,
        "ndlstm": "Use tf.compat.v1.nn.dynamic_rnn over the rows, and over the columns.",
        "nearest_neighbor": "Use the package scann, or tf.math.top_k of tf.matmul.",
        "nest": "Use tf.nest, or tf.contrib.framework.nest.",
        "proto": "Use tf.io.decode_proto and tf.io.encode_proto.",
        "quantization": "Use tf.quantization.",
        "quantize": f"{_MODEL_OPTIMIZATION}quantization.keras.quantize_model.",
        "recurrent": "Use tf.compat.v1.nn.dynamic_rnn.",
        "reduce_slice_ops": "Use tf.math.segment_sum, or sums over slices of tf.cumsum.",
        "remote_fused_graph": "Convert the model with tf.lite.TFLiteConverter.",
        "rpc": "Call the server with the package grpcio in tf.py_function.",
        "session_bundle": "Use tf.saved_model.save, or export_saved_model of an Estimator.",
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
