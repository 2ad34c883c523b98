"""The unsupported names of tf.contrib, and what to use instead of each.

`estimator_bridge.tf_contrib.namespace_advice` has the namespaces that are missing as a whole.
"""

from __future__ import annotations

from estimator_bridge_contrib import estimator_names
from estimator_bridge_contrib.unsupported_distributions import BIJECTORS, DISTRIBUTIONS

__all__ = ["UNSUPPORTED"]

_ASYNC = (
    "is not supported: it serves workers that update variables of shared servers independently. "
    "Use a plain optimizer with tf.distribute.MultiWorkerMirroredStrategy()."
)
_LEGACY_DECODERS = (
    "was removed in TensorFlow 1.2. Use tf.contrib.seq2seq.BasicDecoder, a Helper and "
    "dynamic_decode."
)
_LOOP = (
    "is not supported. Group the ops of gan_train_ops into the train_op of a model_fn for "
    "Estimator: tf.group(ops.generator_train_op, ops.discriminator_train_op, "
    "ops.global_step_inc_op)."
)
_SCATTERED = (
    "is not supported. Use tf.contrib.layers.scattered_embedding_column in "
    "input_from_feature_columns."
)
_SLIM_LOOP = (
    "needs the package tf-slim. Run: pip install tf-slim; or train with tf.estimator, whose loop "
    "this library runs."
)
_TARGET = (
    "is not supported, as part of tf.contrib.learn. Write the loss in model_fn, with "
    "tf.compat.v1.losses."
)


_LAYERS = {
    "is not supported. Use tf.feature_column.": "DataFrameColumn",
    _TARGET: "ProblemType binary_svm_target",
    "is not supported. Use tf.raw_ops.Bucketize(input=values, boundaries=[...]).": "bucketize",
    "is not supported. Use tf.compat.v1.nn.embedding_lookup_sparse, with the same arguments.": (
        "embedding_lookup_sparse_with_distributed_aggregation"
    ),
    _SCATTERED: "scattered_embedding_lookup scattered_embedding_lookup_sparse",
    "is not supported. Use tf.sparse.cross_hashed(inputs, num_buckets).": ("sparse_feature_cross"),
}


def _of_tf_slim(*names: str, advice: str) -> dict[str, str]:
    return {advice.format(name): name for name in names}


# By namespace: the advice, and the names that it applies to.
UNSUPPORTED: dict[str, dict[str, str]] = {
    "autograph": {
        "is not supported. Use tf.function, which converts what it calls.": """
            convert converted_call
        """,
        "is not supported. Use tf.TensorArray, whose elements have a type.": """
            set_element_type stack
        """,
        "is not supported: tf.autograph has no public errors of its own.": """
            AutoGraphError StackTraceMapper
        """,
        "is not supported. Use the options of tf.function.": "ConversionOptions operators utils",
    },
    "cloud": {
        "is not supported. Read the rows with the package google-cloud-bigquery in "
        "tf.data.Dataset.from_generator.": "BigQueryReader",
        "is not supported. Read the rows with the package google-cloud-bigtable in "
        "tf.data.Dataset.from_generator.": "BigtableClient BigtableTable",
    },
    "compiler.xla": {
        "is not supported. Use tf.function(jit_compile=True) in model_fn.": "estimator_model_fn",
    },
    "eager": {
        "was removed. Use tf.config.experimental_connect_to_cluster(cluster_spec).": (
            "enable_remote_eager_execution"
        ),
    },
    "framework": {
        "is not supported. Use tf.compat.v1.Print(input, [input]), or tf.print.": "print_op",
    },
    "gan": {
        "is not supported. Use the package tensorflow-gan (tfgan), which tf.contrib.gan "
        "became.": """
            acgan_model bigan_model cyclegan_loss cyclegan_model eval features infogan_model
            stargan_model
        """,
        _LOOP: """
            GANTrainSteps RunTrainOpsHook estimator gan_train get_joint_train_hooks
            get_sequential_train_hooks get_sequential_train_steps
        """,
    },
    "distributions": DISTRIBUTIONS,
    "distributions.bijectors": BIJECTORS,
    "image": {
        "is not supported: TensorFlow 2 lacks its kernel. Compute the picture with NumPy, and "
        "write it with tf.io.encode_png.": "single_image_random_dot_stereograms",
    },
    "keras": {
        "was a folder. Use tf.contrib.keras itself, or tf.keras.": "api",
        "is not supported. Call model.fit, or write a model_fn for Estimator.": "wrappers",
    },
    "layers": {
        **_LAYERS,
        "was a file. Use the functions of tf.contrib.layers, such as real_valued_column.": (
            "feature_column"
        ),
    },
    "lite": {
        "is not supported: it was removed before TensorFlow 2. Use TFLiteConverter, with "
        "converter.optimizations.": "OpHint convert_op_hints_to_stubs toco_convert_protos",
    },
    "nccl": {
        "is not supported. A strategy of tf.distribute copies variables to its devices.": (
            "broadcast"
        ),
    },
    "opt": {
        _ASYNC: """
            AGNCustomGetter AGNOptimizer DelayCompensatedGradientDescentOptimizer
            ElasticAverageCustomGetter ElasticAverageOptimizer
            ModelAverageCustomGetter ModelAverageOptimizer
        """,
        "is not supported. Use LARSOptimizer, or tf.train.AdagradOptimizer.": """
            ShampooWOptimizer
        """,
    },
    "seq2seq": {
        _LEGACY_DECODERS: """
            attention_decoder_fn_inference attention_decoder_fn_train dynamic_rnn_decoder
            prepare_attention simple_decoder_fn_inference simple_decoder_fn_train
        """,
    },
    "slim": {
        **_LAYERS,
        "is not supported. Use tf.contrib.metrics.streaming_accuracy and streaming_auc.": (
            "get_default_binary_metrics_for_eval"
        ),
        "marked functions of tf.contrib. Leave it out.": "experimental",
        _SLIM_LOOP: "evaluation learning",
        **_of_tf_slim(
            "VariableDeviceChooser",
            "data_decoder",
            "data_provider",
            "dataset",
            "dataset_data_provider",
            "model_analyzer",
            "nets",
            "parallel_reader",
            "prefetch_queue",
            "queues",
            "summaries",
            "tfexample_decoder",
            advice="needs the package tf-slim, which has it as tf_slim.{}. Run: pip install "
            "tf-slim",
        ),
    },
    "summary": {
        "wrote to a database, and was removed. Use create_file_writer(logdir).": "create_db_writer",
        "never existed: use tf.summary.text, or tf.compat.v2.summary.text in host_call.": "text",
    },
    "tfprof": {
        "is not supported. Use tf.compat.v1.profiler.Profiler, step by step.": "ProfileContext",
    },
    "training": {
        "was removed with tf.contrib.learn. Use tf.estimator.train_and_evaluate.": "Tuner",
    },
    "util": {
        "was a file. Use tf.load_op_library(path).": "loader",
    },
    **estimator_names.UNSUPPORTED,
}
