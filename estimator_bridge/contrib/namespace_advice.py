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


_ADVICE = {
    "autograph": _instead("Use tf.autograph."),
    "bayesflow": _instead("Use the package tensorflow-probability."),
    "eager": _instead("Use tf.compat.v1.enable_eager_execution, tf.GradientTape, tf.Variable."),
    "ffmpeg": _instead("Decode with the package tensorflow-io."),
    "ignite_dataset": _instead("Use the package tensorflow-io."),
    "integrate": _instead("Use tfp.math.ode of the package tensorflow-probability."),
    "kafka": _instead("Use the package tensorflow-io."),
    "kernel_methods": _instead("Use tf.keras.layers.experimental.RandomFourierFeatures."),
    "lite": _instead("Use tf.lite."),
    "model_pruning": _instead("Use the package tensorflow-model-optimization."),
    "quantize": _instead("Use the package tensorflow-model-optimization."),
    "compiler": _instead("Use tf.function(jit_compile=True), or tf.xla.experimental.compile."),
    "deprecated": _instead("Use tf.summary, with names instead of tags."),
    "kfac": _instead("Use the package kfac."),
    "linalg": _instead("Use tf.linalg."),
    "nccl": _instead("Use tf.distribute.MirroredStrategy, whose sums run on NCCL."),
    "session_bundle": _instead(
        "No TensorFlow 2 reads the format that it wrote. Use tf.compat.v1.saved_model.simple_save, "
        "or export_savedmodel of an estimator."
    ),
    "tensorrt": _instead("Use tf.experimental.tensorrt."),
    "tensor_forest": _instead("Use the package tensorflow-decision-forests."),
    "boosted_trees": _instead("Use the package tensorflow-decision-forests."),
    "timeseries": _instead("Write the model as a model_fn for Estimator."),
    "mixed_precision": _instead("Use tf.compat.v1.mixed_precision."),
    "tfprof": _instead("Use tf.compat.v1.profiler."),
}  # fmt: skip


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
