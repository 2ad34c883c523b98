"""The unsupported names of tf.contrib, and what to use instead of each.

`namespace_advice.py` has the namespaces that are missing as a whole.
"""

from __future__ import annotations

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
_OPAQUE = (
    "is not needed: the layers of tf.contrib.cudnn_rnn store their weights in the format of "
    "checkpoints. Leave it out."
)
_REMAP = (
    "is not supported. Use tf.estimator.WarmStartSettings with a VocabInfo, which maps rows by "
    "their vocabularies."
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


def _of_tf_slim(*names: str, advice: str) -> dict[str, str]:
    return {advice.format(name): name for name in names}


# By namespace: the advice, and the names that it applies to.
UNSUPPORTED: dict[str, dict[str, str]] = {
    "cloud": {
        "is not supported. Use the package tensorflow-io.": (
            "BigQueryReader BigtableClient BigtableTable"
        ),
    },
    "crf": {
        "is not supported. Use crf_log_norm, which runs the recursion.": "CrfForwardRnnCell",
        "is not supported. Use crf_decode, which runs the recursion.": """
            CrfDecodeBackwardRnnCell CrfDecodeForwardRnnCell
        """,
    },
    "cudnn_rnn": {
        _OPAQUE: """
            CudnnGRUSaveable CudnnLSTMSaveable CudnnParamsFormatConverterGRU
            CudnnParamsFormatConverterLSTM CudnnParamsFormatConverterRelu
            CudnnParamsFormatConverterTanh CudnnRNNReluSaveable CudnnRNNTanhSaveable
        """,
    },
    "data": {
        "is not in TensorFlow 2. Read the file with the package lmdb in "
        "tf.data.Dataset.from_generator.": "LMDBDataset",
    },
    "eager": {
        "is not supported. Use tf.keras.Model and tf.keras.Sequential.": "Network Sequential",
        "is not supported. Use tf.train.Checkpoint.": """
            Saver get_optimizer_variables restore_network_checkpoint restore_variables_on_create
            save_network_checkpoint
        """,
        "is not supported. Use tf.keras layers, which keep their variables.": "EagerVariableStore",
        "is not supported. Use tf.Module.": "Checkpointable",
        "is not supported. Use tf.keras.metrics.": "metrics",
        "is not supported. Call enable_eager_execution() and tf.compat.v1.app.run(main).": "run",
    },
    "framework": {
        "is not supported. Use tf.data.TFRecordDataset with shuffle and batch.": "RecordInput",
        _REMAP: """
            load_and_remap_matrix_initializer load_linear_multiclass_bias_initializer
            load_variable_slot_initializer
        """,
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
    "distributions": {
        "is not supported. Use the package tensorflow-probability, which tf.contrib.distributions "
        "became: tensorflow_probability.distributions.": """
            Autoregressive BatchReshape BetaWithSoftplusConcentration Binomial Cauchy Chi2
            Chi2WithAbsDf ConditionalDistribution ConditionalTransformedDistribution Deterministic
            ExpRelaxedOneHotCategorical ExponentialWithSoftplusRate
            GammaWithSoftplusConcentrationRate Geometric HalfNormal Independent InverseGamma
            InverseGammaWithSoftplusConcentrationRate Kumaraswamy LaplaceWithSoftplusScale Logistic
            Mixture MixtureSameFamily MultivariateNormalDiag MultivariateNormalDiagPlusLowRank
            MultivariateNormalDiagWithSoftplusScale MultivariateNormalFullCovariance
            MultivariateNormalTriL NegativeBinomial NormalWithSoftplusScale OneHotCategorical
            Poisson PoissonLogNormalQuadratureCompound QuantizedDistribution RelaxedBernoulli
            RelaxedOneHotCategorical SinhArcsinh StudentTWithAbsDfSoftplusScale
            TransformedDistribution VectorDeterministic VectorDiffeomixture VectorExponentialDiag
            VectorLaplaceDiag VectorSinhArcsinhDiag WishartCholesky WishartFull bijectors
            estimator_head_distribution_regression percentile
        """,
    },
    "image": {
        "is not supported. Use tfa.image of the package tensorflow-addons.": """
            connected_components dense_image_warp interpolate_spline
            single_image_random_dot_stereograms sparse_image_warp
        """,
        "is not supported. Use scipy.optimize.linear_sum_assignment.": "bipartite_match",
    },
    "keras": {
        "is not supported. Call model.fit, or write a model_fn for Estimator.": "wrappers",
    },
    "layers": {
        "is not supported. Use tf.feature_column.": "DataFrameColumn",
        _TARGET: "ProblemType binary_svm_target",
        "is not supported. Use tf.raw_ops.Bucketize(input=values, boundaries=[...]).": "bucketize",
        "is not supported. Use tf.compat.v1.nn.embedding_lookup_sparse, with the same arguments.": (
            "embedding_lookup_sparse_with_distributed_aggregation"
        ),
        _SCATTERED: "scattered_embedding_lookup scattered_embedding_lookup_sparse",
        "is not supported. Use tf.sparse.cross_hashed(inputs, num_buckets).": (
            "sparse_feature_cross"
        ),
    },
    "legacy_seq2seq": {
        "is not supported. Call embedding_rnn_decoder once for each decoder.": (
            "one2many_rnn_seq2seq"
        ),
        "is not supported. Use tied_rnn_seq2seq with an embedding lookup before it.": (
            "embedding_tied_rnn_seq2seq"
        ),
    },
    "losses.metric_learning": {
        "is not supported. Use triplet_semihard_loss or npairs_loss.": "cluster_loss",
    },
    "opt": {
        _ASYNC: """
            AGNCustomGetter AGNOptimizer DelayCompensatedGradientDescentOptimizer
            DropStaleGradientOptimizer ElasticAverageCustomGetter ElasticAverageOptimizer
            ModelAverageCustomGetter ModelAverageOptimizer
        """,
        "is not supported. Use LARSOptimizer, or tf.train.AdagradOptimizer.": """
            ShampooWOptimizer
        """,
    },
    "optimizer_v2": {
        "is not supported: its mean of squares began at epsilon. Use "
        "tf.compat.v1.train.RMSPropOptimizer, whose begins at 1.": "RMSPropOptimizer",
        "is not supported. Derive from tf.compat.v1.train.Optimizer, whose _apply_dense has no "
        "state argument.": "OptimizerV2",
    },
    "seq2seq": {
        _LEGACY_DECODERS: """
            attention_decoder_fn_inference attention_decoder_fn_train dynamic_rnn_decoder
            prepare_attention simple_decoder_fn_inference simple_decoder_fn_train
        """,
    },
    "slim": {
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
    "training": {
        "was removed with tf.contrib.learn. Use tf.estimator.train_and_evaluate.": "Tuner",
    },
    "util": {
        "is not supported. Use ops_used_by_graph_def for the types, or "
        "tf.compat.v1.train.export_meta_graph for their definitions.": "stripped_op_list_for_graph",
    },
}
