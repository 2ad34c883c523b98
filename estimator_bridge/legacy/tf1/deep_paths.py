"""Paths of tf.contrib's files in TensorFlow 1.15, which programs import."""

from __future__ import annotations

__all__ = ["DEEP_MODULES", "DEEP_PACKAGES"]

# By package below tensorflow.contrib: its modules.
_MODULES = {
    "all_reduce.python": "all_reduce",
    "batching.python.ops": "batch_ops",
    "bayesflow.python.ops": "monte_carlo monte_carlo_impl",
    "checkpoint.python": "containers python_state split_dependency visualize",
    "cloud.python.ops": "gcs_config_ops",
    "cluster_resolver.python.training": """
        cluster_resolver gce_cluster_resolver kubernetes_cluster_resolver slurm_cluster_resolver
        tfconfig_cluster_resolver tpu_cluster_resolver
    """,
    "constrained_optimization.python": """
        candidates constrained_minimization_problem constrained_optimizer
        external_regret_optimizer swap_regret_optimizer
    """,
    "copy_graph.python.util": "copy_elements",
    "crf.python.ops": "crf",
    "cudnn_rnn.python.layers": "cudnn_rnn",
    "cudnn_rnn.python.ops": "cudnn_rnn_ops",
    "data.python.ops": """
        batching counter enumerate_ops error_ops get_single_element grouping interleave_ops
        iterator_ops parsing_ops prefetching_ops random_ops readers resampling scan_ops
        shuffle_ops sliding threadpool unique writers
    """,
    "distribute.python": """
        collective_all_reduce_strategy mirrored_strategy monitor one_device_strategy
        parameter_server_strategy tpu_strategy
    """,
    "distributions.python.ops": """
        binomial cauchy chi2 conditional_distribution conditional_transformed_distribution
        deterministic distribution_util geometric half_normal independent inverse_gamma logistic
        mixture mixture_same_family mvn_diag mvn_full_covariance mvn_tril negative_binomial
        onehot_categorical poisson relaxed_bernoulli relaxed_onehot_categorical sample_stats
        seed_stream sinh_arcsinh wishart
    """,
    "distributions.python.ops.bijectors": """
        absolute_value affine affine_scalar batch_normalization chain conditional_bijector exp
        gumbel inline invert kumaraswamy masked_autoregressive ordered permute power_transform
        real_nvp reshape sigmoid sinh_arcsinh softmax_centered softplus softsign square weibull
    """,
    "eager.python": "datasets metrics metrics_impl network parameter_server saver tfe",
    "estimator.python.estimator": """
        boosted_trees dnn_with_layer_annotations early_stopping export exporter extenders head
        hooks logit_fns multi_head replicate_model_fn rnn saved_model_estimator
    """,
    "factorization.python.ops": "clustering_ops factorization_ops gmm gmm_ops kmeans wals",
    "feature_column.python.feature_column": "sequence_feature_column",
    "ffmpeg": "ffmpeg_ops",
    "framework.python.framework": "checkpoint_utils experimental graph_util tensor_util",
    "framework.python.ops": """
        arg_scope audio_ops checkpoint_ops ops prettyprint_ops script_ops sort_ops variables
    """,
    "fused_conv.python.ops": "fused_conv2d_bias_activation_op",
    "graph_editor": "edit reroute select subgraph transform util",
    "grid_rnn.python.ops": "grid_rnn_cell",
    "image.python.ops": """
        dense_image_warp distort_image_ops image_ops interpolate_spline
        single_image_random_dot_stereograms sparse_image_warp
    """,
    "input_pipeline.python.ops": "input_pipeline_ops",
    "integrate.python.ops": "odes",
    "kernel_methods.python": "kernel_estimators losses",
    "kernel_methods.python.mappers": "dense_kernel_mapper random_fourier_features",
    "layers.python.layers": """
        embedding_ops encoders feature_column feature_column_ops initializers layers
        normalization optimizers regularizers rev_block_lib summaries target_column utils
    """,
    "layers.python.ops": "bucketization_op sparse_feature_cross_op sparse_ops",
    "learn.python.learn": """
        evaluable experiment export_strategy graph_actions learn_runner metric_spec models
        monitors run_config trainable
    """,
    "learn.python.learn.datasets": "base mnist synthetic text_datasets",
    "learn.python.learn.estimators": """
        constants dnn dnn_linear_combined estimator head kmeans linear logistic_regressor
        metric_key model_fn prediction_key run_config svm
    """,
    "learn.python.learn.learn_io": "generator_io graph_io numpy_io pandas_io",
    "learn.python.learn.preprocessing": "categorical categorical_vocabulary text",
    "learn.python.learn.utils": "input_fn_utils saved_model_export_utils",
    "legacy_seq2seq.python.ops": "seq2seq",
    "linear_optimizer.python": "sdca_optimizer",
    "linear_optimizer.python.ops": "sdca_ops sparse_feature_column",
    "lookup": "lookup_ops",
    "losses.python.losses": "loss_ops",
    "losses.python.metric_learning": "metric_loss_ops",
    "memory_stats.python.ops": "memory_stats_ops",
    "metrics.python.metrics": "classification",
    "metrics.python.ops": "confusion_matrix_ops histogram_ops metric_ops set_ops",
    "mixed_precision.python": "loss_scale_manager loss_scale_optimizer",
    "model_pruning.python": """
        learning pruning pruning_utils strip_pruning_vars strip_pruning_vars_lib
    """,
    "model_pruning.python.layers": "core_layers layers rnn_cells",
    "nccl.python.ops": "nccl_ops",
    "ndlstm.python": "lstm1d lstm2d misc",
    "nn.python.ops": "alpha_dropout cross_entropy fwd_gradients sampling_ops scaled_softplus",
    "opt.python.training": """
        adam_gs_optimizer adamax addsign agn_optimizer drop_stale_gradient_optimizer
        elastic_average_optimizer external_optimizer ggt lars_optimizer lazy_adam_gs_optimizer
        lazy_adam_optimizer matrix_functions model_average_optimizer moving_average_optimizer
        multitask_optimizer_wrapper nadam_optimizer powersign reg_adagrad_optimizer shampoo
        sign_decay variable_clipping_optimizer weight_decay_optimizers
    """,
    "optimizer_v2": """
        adadelta adagrad adam gradient_descent momentum optimizer_v2 optimizer_v2_symbols
        rmsprop
    """,
    "periodic_resample.python.ops": "periodic_resample_op",
    "predictor": """
        contrib_estimator_predictor core_estimator_predictor predictor predictor_factories
        saved_model_predictor
    """,
    "quantize.python": """
        common fold_batch_norms graph_matcher input_to_ops quant_ops quantize quantize_graph
    """,
    "recurrent.python": "recurrent_api",
    "recurrent.python.ops": "functional_rnn recurrent",
    "resampler.python.ops": "resampler_ops",
    "rnn.python.ops": "core_rnn_cell fused_rnn_cell gru_ops lstm_ops rnn rnn_cell",
    "rnn.python.tools": "checkpoint_convert",
    "saved_model.python.saved_model": "keras_saved_model reader signature_def_utils",
    "seq2seq.python.ops": """
        attention_wrapper basic_decoder beam_search_decoder beam_search_ops decoder helper loss
        sampler
    """,
    "session_bundle": "bundle_shim constants exporter gc manifest_pb2 session_bundle",
    "slim": "nets",
    "slim.python.slim": "evaluation learning model_analyzer queues summaries",
    "slim.python.slim.data": """
        data_decoder data_provider dataset dataset_data_provider parallel_reader prefetch_queue
        tfexample_decoder
    """,
    "slim.python.slim.nets": """
        alexnet inception inception_v1 inception_v2 inception_v3 overfeat resnet_utils resnet_v1
        resnet_v2 vgg
    """,
    "solvers.python.ops": "lanczos least_squares linear_equations util",
    "sparsemax.python.ops": "sparsemax sparsemax_loss",
    "summary": "summary",
    "tensorboard.plugins.projector": "projector_config_pb2",
    "testing.python.framework": "fake_summary_writer util_test",
    "text.python.ops": "skip_gram_ops",
    "timeseries.python.timeseries": """
        ar_model estimators feature_keys head input_pipeline math_utils model model_utils
        saved_model_utils state_management
    """,
    "timeseries.python.timeseries.state_space_models": """
        filtering_postprocessor kalman_filter level_trend periodic state_space_model
        structural_ensemble varma
    """,
    "tpu.python.ops": "tpu_ops",
    "tpu.python.tpu": """
        _tpu_estimator_embedding async_checkpoint bfloat16 datasets device_assignment
        error_handling feature_column functional keras_support keras_tpu_variables
        session_support tensor_tracer topology tpu tpu_config tpu_context tpu_embedding
        tpu_embedding_gradient tpu_estimator tpu_feed tpu_function tpu_optimizer tpu_sharding
        tpu_system_metadata training_loop util
    """,
    "training.python.training": """
        bucket_ops device_setter evaluation feeding_queue_runner hparam hparam_pb2 resample
        sampling_ops sequence_queueing_state_saver training tuner
    """,
    "util": "loader",
}

DEEP_MODULES = frozenset(
    f"{package}.{name}" for package, names in _MODULES.items() for name in names.split()
)

DEEP_PACKAGES = frozenset(
    ".".join(parts[:depth])
    for parts in (package.split(".") for package in _MODULES)
    for depth in range(2, len(parts) + 1)
)
