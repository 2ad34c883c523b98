"""The supported names of tf.contrib, and the path of each: the only list of them.

`namespaces.py` reads it, and provides it to the namespaces themselves, the import of
`tensorflow.contrib`, the documentation and `estimator-bridge check`. `estimator_names.py` has its
part on estimators, TPUs and strategies. `unsupported.py` lists the missing names.
"""

from __future__ import annotations

from estimator_bridge_contrib import estimator_names

__all__ = ["NAMES", "names_in"]

# By namespace: paths, each with the names found there. A path is a module of this package; if it is
# the namespace itself, the name is defined in its file or is a module. "tf" starts a path in
# TensorFlow. A name that differs there follows "=".
NAMES: dict[str, dict[str, str]] = {
    "all_reduce": {
        "estimator_bridge.tensorflow_private.contrib_names:all_reduce_graphs": """
            build_nccl_all_reduce build_nccl_then_recursive_hd build_nccl_then_ring
            build_nccl_then_shuffle build_recursive_hd_all_reduce build_ring_all_reduce
            build_shuffle_all_reduce build_shuffle_then_ring build_shuffle_then_shuffle
        """,
    },
    "autograph": {
        "tf.autograph": "to_code to_graph",
        "tf.autograph.experimental": "Feature do_not_convert set_loop_options",
    },
    "batching": {
        "tf": "batch_function=nondifferentiable_batch_function",
    },
    "bayesflow": {
        "bayesflow": "monte_carlo",
    },
    "checkpoint": {
        "checkpoint.containers": "UniqueNameTracker",
        "checkpoint.graph_drawing": "dot_graph_from_checkpoint",
        "checkpoint.numpy_state": "NumpyState",
        "checkpoint.split_dependencies": "split_dependency",
        "estimator_bridge.tensorflow_private.tracking": """
            Checkpointable=AutoTrackable CheckpointableBase=Trackable
            CheckpointableObjectGraph=TrackableObjectGraph
        """,
        "estimator_bridge.tensorflow_private.tracking:object_checkpoints": """
            capture_dependencies list_objects object_metadata
        """,
        "estimator_bridge.tensorflow_private.tracking:trackable_structures": """
            List Mapping NoDependency
        """,
        "tf.train": "CheckpointManager",
        "tf.train.experimental": "PythonStateWrapper=PythonState",
    },
    "cloud": {
        "cloud": """
            BlockCacheParams ConfigureGcsHook configure_colab_session configure_gcs
        """,
    },
    "compiler": {
        "compiler": "jit xla",
    },
    "compiler.jit": {
        "tf.xla.experimental": "experimental_jit_scope=jit_scope",
    },
    "compiler.xla": {
        "tf.xla.experimental": "compile",
    },
    "constrained_optimization": {
        "constrained_optimization.candidates": """
            find_best_candidate_distribution find_best_candidate_index
        """,
        "constrained_optimization.constrained_minimization_problem": """
            ConstrainedMinimizationProblem
        """,
        "constrained_optimization.constrained_optimizer": "ConstrainedOptimizer",
        "constrained_optimization.external_regret_optimizer": "AdditiveExternalRegretOptimizer",
        "constrained_optimization.swap_regret_optimizer": """
            AdditiveSwapRegretOptimizer MultiplicativeSwapRegretOptimizer
        """,
    },
    "copy_graph": {
        "copy_graph": "copy_op_to_graph copy_variable_to_graph get_copied_op",
    },
    "crf": {
        "crf.cells": "CrfDecodeBackwardRnnCell CrfDecodeForwardRnnCell CrfForwardRnnCell",
        "crf.decoding": "crf_decode viterbi_decode",
        "crf.scores": """
            crf_binary_score crf_log_likelihood crf_log_norm crf_multitag_sequence_score
            crf_sequence_score crf_unary_score
        """,
    },
    "cudnn_rnn": {
        "cudnn_rnn.cells": "CudnnCompatibleGRUCell CudnnCompatibleLSTMCell",
        "cudnn_rnn.format_converters": """
            CudnnParamsFormatConverterGRU CudnnParamsFormatConverterLSTM
            CudnnParamsFormatConverterRelu CudnnParamsFormatConverterTanh
        """,
        "cudnn_rnn.layers": "CudnnGRU CudnnLSTM CudnnRNNRelu CudnnRNNTanh",
        "cudnn_rnn.saveables": """
            CudnnGRUSaveable CudnnLSTMSaveable CudnnRNNReluSaveable CudnnRNNTanhSaveable
        """,
    },
    "data": {
        "data.batching": """
            assert_element_shape batch_and_drop_remainder padded_batch_and_drop_remainder
            sliding_window_batch
        """,
        "data.lmdb": "LMDBDataset",
        "data.readers": "read_batch_features reduce_dataset sloppy_interleave",
        "estimator_bridge.training": "CheckpointInputPipelineHook",
        "tf.compat.v1.data": """
            Dataset FixedLengthRecordDataset Iterator TFRecordDataset TextLineDataset
        """,
        "tf.compat.v1.data.experimental": """
            AUTOTUNE Counter CsvDataset Optional RandomDataset Reducer SqlDataset TFRecordWriter
            bucket_by_sequence_length choose_from_datasets copy_to_device dense_to_sparse_batch
            enumerate_dataset get_next_as_optional get_single_element group_by_reducer
            group_by_window ignore_errors make_batched_features_dataset make_csv_dataset
            make_saveable_from_iterator map_and_batch parallel_interleave parse_example_dataset
            prefetch_to_device rejection_resample sample_from_datasets scan shuffle_and_repeat
            unbatch unique
        """,
    },
    "deprecated": {
        "deprecated": """
            audio_summary histogram_summary image_summary merge_all_summaries merge_summary
            scalar_summary
        """,
    },
    "distributions": {
        "distributions": "bijectors",
        "distributions.conditional": """
            ConditionalDistribution ConditionalTransformedDistribution
        """,
        "distributions.correlations": "auto_correlation",
        "distributions.counts": "Binomial Geometric NegativeBinomial Poisson",
        "distributions.deterministic": "Deterministic VectorDeterministic",
        "distributions.independent": "Independent",
        "distributions.location_scale": "Cauchy Logistic",
        "distributions.mixture": "Mixture",
        "distributions.mixture_same_family": "MixtureSameFamily",
        "distributions.multivariate_normals": """
            MultivariateNormalDiag MultivariateNormalDiagWithSoftplusScale
            MultivariateNormalFullCovariance MultivariateNormalTriL
        """,
        "distributions.one_hot": "ExpRelaxedOneHotCategorical OneHotCategorical",
        "distributions.percentiles": "percentile",
        "distributions.positive_numbers": """
            Chi2 Chi2WithAbsDf HalfNormal InverseGamma InverseGammaWithSoftplusConcentrationRate
        """,
        "distributions.relaxed": "RelaxedBernoulli RelaxedOneHotCategorical",
        "distributions.seed_stream": "SeedStream",
        "distributions.sinh_arcsinh": "SinhArcsinh",
        "distributions.transformed": "TransformedDistribution",
        "distributions.wishart": "WishartCholesky WishartFull",
        "estimator_bridge.tensorflow_private.contrib_names": """
            BetaWithSoftplusConcentration ExponentialWithSoftplusRate
            GammaWithSoftplusConcentrationRate LaplaceWithSoftplusScale NormalWithSoftplusScale
            StudentTWithAbsDfSoftplusScale
        """,
        "estimator_bridge.tensorflow_private.contrib_names:distribution_parameters": """
            fill_triangular fill_triangular_inverse matrix_diag_transform reduce_weighted_logsumexp
            softplus_inverse tridiag
        """,
        "tf.compat.v1.distributions": """
            Bernoulli Beta Categorical Dirichlet DirichletMultinomial Distribution Exponential
            FULLY_REPARAMETERIZED Gamma Laplace Multinomial NOT_REPARAMETERIZED Normal RegisterKL
            ReparameterizationType StudentT Uniform kl_divergence
        """,
    },
    "distributions.bijectors": {
        "distributions.bijectors.affine": "Affine",
        "distributions.bijectors.arrangement": "Permute Reshape",
        "distributions.bijectors.autoregressive": """
            MaskedAutoregressiveFlow masked_autoregressive_default_template masked_dense
        """,
        "distributions.bijectors.composition": "Chain ConditionalBijector Inline Invert",
        "distributions.bijectors.coupling": "RealNVP real_nvp_default_template",
        "distributions.bijectors.cumulative": "Gumbel Kumaraswamy SinhArcsinh",
        "distributions.bijectors.elementwise": """
            AbsoluteValue AffineScalar Exp PowerTransform Sigmoid Softplus Softsign Square
        """,
        "distributions.bijectors.normalization": "BatchNormalization",
        "distributions.bijectors.vectors": "Ordered SoftmaxCentered",
        "estimator_bridge.tensorflow_private.contrib_names": "Bijector Identity=IdentityBijector",
    },
    "eager": {
        "eager": """
            Iterator Saver get_optimizer_variables gradients_function implicit_gradients
            implicit_value_and_gradients list_devices metrics num_gpus run
            value_and_gradients_function
        """,
        "eager.network_checkpoints": "restore_network_checkpoint save_network_checkpoint",
        "eager.networks": "Network",
        "eager.restored_variables": "restore_variables_on_create",
        "eager.sequential": "Sequential",
        "estimator_bridge.tensorflow_private.contrib_names": "EagerVariableStore",
        "estimator_bridge.tensorflow_private.tracking": "Checkpointable=AutoTrackable",
        "estimator_bridge.tensorflow_private.contrib_names:eager_modes": """
            ASYNC DEVICE_PLACEMENT_EXPLICIT DEVICE_PLACEMENT_SILENT DEVICE_PLACEMENT_WARN SYNC
            async_clear_error async_wait execution_mode set_execution_mode set_server_def
        """,
        "estimator_bridge.tensorflow_private.contrib_names:test_modes": """
            run_all_tests_in_graph_and_eager_modes=run_all_in_graph_and_eager_modes
            run_test_in_graph_and_eager_modes=run_in_graph_and_eager_modes
        """,
        "execution_callbacks": """
            ExecutionCallback add_execution_callback clear_execution_callbacks errstate
            inf_callback inf_nan_callback nan_callback seterr
        """,
        "tf": """
            GradientTape TensorSpec Variable custom_gradient defun=function executing_eagerly
            function in_eager_mode=executing_eagerly py_func=py_function
        """,
        "tf.compat.v1": "enable_eager_execution make_template",
        "tf.config": "connect_to_remote_host=experimental_connect_to_host",
        "tf.compat.v1.train": "Checkpoint",
    },
    "eager.metrics": {
        "eager.collected_metrics": (
            "Accuracy BinaryAccuracy CategoricalAccuracy Mean SparseAccuracy"
        ),
        "eager.metric_base": "Metric",
    },
    "feature_column": {
        "feature_column": "sequence_input_layer",
        "tf.compat.v1.feature_column": """
            sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity
            sequence_categorical_column_with_vocabulary_file
            sequence_categorical_column_with_vocabulary_list sequence_numeric_column
        """,
    },
    "ffmpeg": {
        "ffmpeg.ffmpeg_ops": "decode_audio decode_video encode_audio",
    },
    "framework": {
        "arg_scope": """
            add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments current_arg_scope
            has_arg_scope
        """,
        "estimator_bridge.tensorflow_private.contrib_names": """
            BoundedTensorSpec RecordInput load_and_remap_matrix_initializer
            load_embedding_initializer
        """,
        "estimator_bridge.tensorflow_private.contrib_names:v1_initializers": """
            convolutional_delta_orthogonal convolutional_orthogonal_1d convolutional_orthogonal_2d
            convolutional_orthogonal_3d
        """,
        "framework": "nest",
        "framework.assignment": """
            assign_from_checkpoint assign_from_checkpoint_fn assign_from_values
            assign_from_values_fn
        """,
        "framework.checkpoints": """
            init_from_checkpoint list_variables load_checkpoint load_variable
        """,
        "framework.fused_op": "fuse_op",
        "framework.script_ops": "py_func",
        "framework.deprecation": "deprecated deprecated_arg_values deprecated_args",
        "framework.variable_search": """
            add_model_variable filter_variables get_local_variables get_model_variables
            get_trainable_variables get_unique_variable get_variable_full_name get_variables
            get_variables_by_name get_variables_by_suffix get_variables_to_restore
        """,
        "framework.global_step": """
            VariableDeviceChooser assert_global_step assert_or_get_global_step create_global_step
            get_global_step get_or_create_global_step global_variable local_variable
            zero_initializer
        """,
        "framework.remapping": """
            load_linear_multiclass_bias_initializer load_variable_slot_initializer
        """,
        "framework.tensor_checks": """
            assert_scalar_int get_graph_from_inputs get_name_scope
            get_placeholders prepend_name_scope reduce_sum_n
            remove_squeezable_dimensions smart_case smart_cond smart_constant_value strip_name_scope
            with_same_shape with_shape
        """,
        "model_variables": "model_variable variable",
        "tf": "TensorSpec argsort is_tensor sort",
        "tf.compat.v1": """
            assert_scalar convert_to_tensor_or_sparse_tensor is_non_decreasing is_numeric_tensor
            is_strictly_increasing
        """,
        "tf.compat.v1.debugging": "assert_same_float_dtype",
    },
    "framework.nest": {
        "estimator_bridge.tensorflow_private.names:nest": """
            assert_same_structure assert_shallow_structure flatten flatten_dict_items flatten_up_to
            flatten_with_joined_string_paths flatten_with_tuple_paths flatten_with_tuple_paths_up_to
            get_traverse_shallow_structure is_nested is_sequence=is_nested is_sequence_or_composite
            map_structure map_structure_up_to map_structure_with_paths
            map_structure_with_tuple_paths map_structure_with_tuple_paths_up_to pack_sequence_as
            yield_flat_paths
        """,
    },
    "gan": {
        "gan": "losses",
        "gan.losses": "gan_loss",
        "gan.model": "GANLoss GANModel gan_model",
        "gan.training": "GANTrainOps gan_train_ops",
    },
    "graph_editor": {
        "graph_editor": "edit reroute select subgraph transform util",
        "graph_editor.edit": """
            bypass connect detach detach_control_inputs detach_control_outputs detach_inputs
            detach_outputs
        """,
        "graph_editor.reroute": """
            add_control_inputs remove_control_inputs reroute_inputs reroute_ios reroute_outputs
            reroute_ts swap_inputs swap_ios swap_outputs swap_ts
        """,
        "graph_editor.select": """
            can_be_regex filter_ops filter_ops_from_regex filter_ts filter_ts_from_regex
            get_name_scope_ops make_regex select_ops select_ops_and_ts select_ts
        """,
        "graph_editor.subgraph": """
            SubGraphView make_view make_view_from_scope sgv=make_view sgv_scope=make_view_from_scope
        """,
        "graph_editor.transform": """
            Transformer TransformerInfo assign_renamed_collections_handler copy copy_op_handler
            copy_with_input_replacements graph_replace keep_t_if_possible_handler
            replace_t_with_placeholder_handler transform_op_if_inside_handler
        """,
        "graph_editor.util": """
            ControlOutputs get_consuming_ops get_generating_ops get_tensors make_list_of_op
            make_list_of_t make_placeholder_from_dtype_and_shape make_placeholder_from_tensor
            ph=make_placeholder_from_dtype_and_shape placeholder_name
        """,
        "graph_editor.walks": """
            check_cios compute_boundary_ts get_backward_walk_ops get_forward_walk_ops get_ops_ios
            get_walks_intersection_ops get_walks_union_ops get_within_boundary_ops
        """,
    },
    "grid_rnn": {
        "grid_rnn.cells": """
            Grid1BasicLSTMCell Grid1BasicRNNCell Grid1LSTMCell Grid2BasicLSTMCell Grid2BasicRNNCell
            Grid2GRUCell Grid2LSTMCell Grid3LSTMCell
        """,
        "grid_rnn.grid": "GridRNNCell",
    },
    "image": {
        "image.components": "connected_components",
        "image.matching": "bipartite_match",
        "image.splines": "interpolate_spline",
        "image.transforms": """
            angles_to_projective_transforms compose_transforms flat_transforms_to_matrices
            matrices_to_flat_transforms rotate transform translate
            translations_to_projective_transforms
        """,
        "image.warping": "dense_image_warp sparse_image_warp",
    },
    "integrate": {
        "integrate.dormand_prince": "odeint",
        "integrate.fixed_steps": "odeint_fixed",
    },
    "keras": {
        "tf.compat.v1.keras": """
            activations applications backend callbacks constraints datasets initializers layers
            losses metrics models optimizers preprocessing regularizers utils
        """,
    },
    "layers": {
        "layers": "utils",
        "layers.activations": """
            bias_add dropout maxout poincare_normalize scale_gradient softmax spatial_softmax
            unit_norm
        """,
        "layers.batch_normalization": "batch_norm",
        "layers.composition": "repeat stack",
        "layers.convolutions": """
            conv1d conv2d conv3d convolution convolution1d convolution2d convolution3d
        """,
        "layers.dense": "elu fully_connected linear relu relu6",
        "layers.dense_legacy": "legacy_fully_connected legacy_linear legacy_relu",
        "layers.depthwise_convolutions": """
            conv2d_in_plane convolution2d_in_plane separable_conv2d separable_convolution2d
        """,
        "layers.column_inputs": """
            input_from_feature_columns sequence_input_from_feature_columns
        """,
        "layers.column_parsing": """
            check_feature_columns infer_real_valued_columns
            make_place_holder_tensors_for_base_features parse_feature_columns_from_examples
            parse_feature_columns_from_sequence_examples transform_features
        """,
        "layers.column_sums": """
            joint_weighted_sum_from_feature_columns weighted_sum_from_feature_columns
        """,
        "layers.column_hashes": "SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY",
        "layers.divisive_normalization": "GDN gdn",
        "layers.embedding": """
            bow_encoder embed_sequence embedding_lookup_unique safe_embedding_lookup_sparse
        """,
        "layers.embedding_columns": """
            embedding_column scattered_embedding_column shared_embedding_columns
        """,
        "layers.feature_columns": """
            bucketized_column create_feature_spec_for_parsing crossed_column one_hot_column
            real_valued_column
        """,
        "layers.gradients": "adaptive_clipping_fn",
        "layers.id_columns": """
            sparse_column_with_hash_bucket sparse_column_with_integerized_feature
            sparse_column_with_keys sparse_column_with_vocabulary_file weighted_sparse_column
        """,
        "layers.initializers": """
            variance_scaling_initializer xavier_initializer xavier_initializer_conv2d
        """,
        "layers.normalization": "group_norm instance_norm layer_norm",
        "layers.optimization": "OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES optimize_loss",
        "layers.pooling": "avg_pool2d avg_pool3d max_pool2d max_pool3d pool",
        "layers.regularizers": """
            apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer sum_regularizer
        """,
        "layers.recompute": "recompute_grad",
        "layers.reversible": "RevBlock rev_block",
        "layers.reshaping": """
            dense_to_sparse flatten images_to_sequence one_hot_encoding sequence_to_images
        """,
        "layers.summaries": """
            summarize_activation summarize_activations summarize_biases summarize_collection
            summarize_tensor summarize_tensors summarize_variables summarize_weights
        """,
        "layers.target_columns": "multi_class_target regression_target",
        "layers.transposed_convolutions": """
            conv2d_transpose conv3d_transpose convolution2d_transpose convolution3d_transpose
        """,
    },
    "legacy_seq2seq": {
        "legacy_seq2seq.decoders": """
            attention_decoder embedding_attention_decoder embedding_rnn_decoder rnn_decoder
        """,
        "legacy_seq2seq.many_decoders": "one2many_rnn_seq2seq",
        "legacy_seq2seq.losses": "model_with_buckets sequence_loss sequence_loss_by_example",
        "legacy_seq2seq.models": """
            basic_rnn_seq2seq embedding_attention_seq2seq embedding_rnn_seq2seq tied_rnn_seq2seq
        """,
        "legacy_seq2seq.tied_models": "embedding_tied_rnn_seq2seq",
    },
    "linalg": {
        "tf.linalg": """
            LinearOperator LinearOperatorComposition LinearOperatorDiag LinearOperatorFullMatrix
            LinearOperatorIdentity LinearOperatorLowRankUpdate LinearOperatorLowerTriangular
            LinearOperatorMatrix=LinearOperatorFullMatrix LinearOperatorScaledIdentity
            LinearOperatorTriL=LinearOperatorLowerTriangular
            LinearOperatorUDVHUpdate=LinearOperatorLowRankUpdate
        """,
    },
    "lite": {
        "tf.compat.v1.lite": """
            Interpreter OpsSet Optimize RepresentativeDataset TFLiteConverter TargetSpec
            TocoConverter constants toco_convert
        """,
    },
    "lookup": {
        "estimator_bridge.tensorflow_private.names:lookup_ops": """
            FastHashSpec HasherSpec IdTableWithHashBuckets InitializableLookupTableBase
            KeyValueTensorInitializer LookupInterface StrongHashSpec TableInitializerBase
            TextFileIdTableInitializer TextFileIndex TextFileInitializer
            TextFileStringTableInitializer index_table_from_file index_to_string_table_from_file
        """,
        "lookup": """
            HashTable MutableDenseHashTable MutableHashTable index_table_from_tensor index_to_string
            index_to_string_table_from_tensor string_to_index string_to_index_table_from_file
            string_to_index_table_from_tensor
        """,
    },
    "losses": {
        "losses": "metric_learning",
        "losses.elementwise": """
            absolute_difference cosine_distance hinge_loss log_loss mean_pairwise_squared_error
            mean_squared_error sigmoid_cross_entropy softmax_cross_entropy
            sparse_softmax_cross_entropy
        """,
        "losses.weighting": """
            add_loss compute_weighted_loss get_losses get_regularization_losses get_total_loss
        """,
    },
    "losses.metric_learning": {
        "losses.clustering": "cluster_loss",
        "losses.metric_learning": """
            contrastive_loss lifted_struct_loss npairs_loss npairs_loss_multilabel
            triplet_semihard_loss
        """,
    },
    "memory_stats": {
        "memory_stats": "BytesInUse BytesLimit MaxBytesInUse",
    },
    "metrics": {
        "metrics.collecting": """
            accuracy aggregate_metric_map aggregate_metrics count
        """,
        "metrics.concatenation": "streaming_concat",
        "metrics.correlation": "streaming_covariance streaming_pearson_correlation",
        "metrics.equal_thresholds": "precision_recall_at_equal_thresholds",
        "metrics.exact_auc": "auc_with_confidence_intervals streaming_dynamic_auc",
        "metrics.histogram_auc": "auc_using_histogram",
        "metrics.kappa": "cohen_kappa",
        "metrics.operating_points": """
            f1_score precision_at_recall recall_at_precision streaming_curve_points
        """,
        "metrics.ranking": """
            sparse_recall_at_top_k streaming_recall_at_k
            streaming_sparse_average_precision_at_top_k streaming_sparse_precision_at_top_k
        """,
        "metrics.false_rates": """
            streaming_false_negative_rate streaming_false_negative_rate_at_thresholds
            streaming_false_positive_rate streaming_false_positive_rate_at_thresholds
        """,
        "metrics.streaming_aliases": """
            streaming_accuracy streaming_auc streaming_false_negatives
            streaming_false_negatives_at_thresholds streaming_false_positives
            streaming_false_positives_at_thresholds streaming_mean streaming_mean_absolute_error
            streaming_mean_cosine_distance streaming_mean_iou streaming_mean_relative_error
            streaming_mean_squared_error streaming_mean_tensor streaming_percentage_less
            streaming_precision streaming_precision_at_thresholds streaming_recall
            streaming_recall_at_thresholds streaming_root_mean_squared_error
            streaming_sensitivity_at_specificity streaming_sparse_average_precision_at_k
            streaming_sparse_precision_at_k streaming_sparse_recall_at_k
            streaming_specificity_at_sensitivity streaming_true_negatives
            streaming_true_negatives_at_thresholds streaming_true_positives
            streaming_true_positives_at_thresholds
        """,
        "tf.compat.v1": "confusion_matrix",
        "tf.compat.v1.sets": "set_difference set_intersection set_size set_union",
    },
    "mixed_precision": {
        "mixed_precision.loss_scale_optimizer": "LossScaleOptimizer",
        "mixed_precision.loss_scales": """
            ExponentialUpdateLossScaleManager FixedLossScaleManager LossScaleManager
        """,
    },
    "model_pruning": {
        "model_pruning.layers": "masked_conv2d masked_convolution masked_fully_connected",
        "model_pruning.learning": "train",
        "model_pruning.masks": """
            apply_mask get_masked_weights get_masks get_thresholds get_weight_sparsity get_weights
        """,
        "model_pruning.pruning": "Pruning",
        "model_pruning.pruning_hparams": "get_pruning_hparams",
        "model_pruning.rnn_cells": "MaskedBasicLSTMCell MaskedLSTMCell",
        "model_pruning.strip_pruning_vars_lib": "graph_def_from_checkpoint strip_pruning_vars_fn",
    },
    "nccl": {
        "nccl": "all_max all_min all_prod all_sum reduce_sum",
    },
    "ndlstm": {
        "ndlstm": "lstm1d lstm2d",
    },
    "nn": {
        "nn.activations": "alpha_dropout scaled_softplus",
        "nn.flipped_losses": """
            deprecated_flipped_sigmoid_cross_entropy_with_logits
            deprecated_flipped_softmax_cross_entropy_with_logits
            deprecated_flipped_sparse_softmax_cross_entropy_with_logits
        """,
        "nn.sampled_losses": "rank_sampled_softmax_loss sampled_sparse_softmax_loss",
        "nn.transposed": "conv1d_transpose nth_element",
    },
    "opt": {
        "opt.adagrad": "RegAdagradOptimizer",
        "opt.adam": """
            AdaMaxOptimizer AdamGSOptimizer LazyAdamGSOptimizer LazyAdamOptimizer NadamOptimizer
        """,
        "opt.moving_averages": "MovingAverageOptimizer",
        "opt.ggt": "GGTOptimizer",
        "opt.external": "ExternalOptimizerInterface ScipyOptimizerInterface",
        "opt.lars": "LARSOptimizer",
        "opt.shampoo": "ShampooOptimizer",
        "opt.sign_optimizers": "AddSignOptimizer PowerSignOptimizer",
        "opt.stale_gradients": "DropStaleGradientOptimizer",
        "opt.weight_decay": """
            AdamWOptimizer DecoupledWeightDecayExtension MomentumWOptimizer
            extend_with_decoupled_weight_decay
        """,
        "opt.wrappers": """
            MultitaskOptimizerWrapper VariableClippingOptimizer clip_gradients_by_global_norm
        """,
    },
    "optimizer_v2": {
        "optimizer_v2.optimizer_v2": "OptimizerV2",
        "optimizer_v2.rmsprop": "RMSPropOptimizer",
        "tf.compat.v1.train": """
            AdadeltaOptimizer AdagradOptimizer AdamOptimizer GradientDescentOptimizer
            MomentumOptimizer
        """,
    },
    "periodic_resample": {
        "periodic_resample": "periodic_resample",
    },
    "quantize": {
        "quantize.quantize_graph": """
            create_eval_graph create_training_graph experimental_create_eval_graph
            experimental_create_training_graph
        """,
    },
    "receptive_field": {
        "receptive_field.compute_order": "get_compute_order",
        "receptive_field.fields": "compute_receptive_field_from_graph_def",
    },
    "resampler": {
        "resampler": "resampler",
    },
    "rnn": {
        "rnn.base": "LayerRNNCell",
        "rnn.bidirectional": """
            best_effort_input_batch_size stack_bidirectional_dynamic_rnn stack_bidirectional_rnn
            transpose_batch_time
        """,
        "rnn.block_cells": "GRUBlockCell GRUBlockCellV2 LSTMBlockCell",
        "rnn.cells": "LayerNormBasicLSTMCell NASCell UGRNNCell",
        "rnn.compiled": "CompiledWrapper",
        "rnn.conv_lstm": "Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell",
        "rnn.fused": """
            FusedRNNCell FusedRNNCellAdaptor LSTMBlockFusedCell LSTMBlockWrapper
            TimeReversedFusedRNN
        """,
        "rnn.grid_lstm": "BidirectionalGridLSTMCell GridLSTMCell",
        "rnn.lstm_variants": """
            CoupledInputForgetGateLSTMCell GLSTMCell IntersectionRNNCell PhasedLSTMCell
        """,
        "rnn.independent_units": "IndRNNCell IndyGRUCell IndyLSTMCell SRUCell",
        "rnn.time_frequency_lstm": "TimeFreqLSTMCell",
        "rnn.wrappers": """
            AttentionCellWrapper EmbeddingWrapper HighwayWrapper InputProjectionWrapper
            OutputProjectionWrapper
        """,
        "tf.compat.v1.nn": "static_bidirectional_rnn static_rnn static_state_saving_rnn",
        "tf.compat.v1.nn.rnn_cell": """
            BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell LSTMStateTuple
            MultiRNNCell RNNCell ResidualWrapper
        """,
    },
    "saved_model": {
        "saved_model": "reader signature_def_utils",
        "saved_model.keras_saved_model": "load_keras_model save_keras_model",
    },
    "seq2seq": {
        "seq2seq.attention": "BahdanauAttention LuongAttention hardmax",
        "seq2seq.attention_wrapper": "AttentionWrapper AttentionWrapperState",
        "seq2seq.basic_decoder": "BasicDecoder BasicDecoderOutput",
        "seq2seq.beam_scores": "BeamSearchDecoderOutput BeamSearchDecoderState",
        "seq2seq.beam_search": "BeamSearchDecoder FinalBeamSearchDecoderOutput",
        "seq2seq.beams": "gather_tree tile_batch",
        "seq2seq.decoder": "Decoder dynamic_decode",
        "seq2seq.feedback_helpers": "GreedyEmbeddingHelper SampleEmbeddingHelper",
        "seq2seq.function_helpers": "CustomHelper InferenceHelper",
        "seq2seq.helpers": "Helper",
        "seq2seq.loss": "sequence_loss",
        "seq2seq.attention_memory": "AttentionMechanism",
        "seq2seq.monotonic_mechanisms": """
            BahdanauMonotonicAttention LuongMonotonicAttention monotonic_attention safe_cumprod
        """,
        "seq2seq.scheduled_sampling": """
            ScheduledEmbeddingTrainingHelper ScheduledOutputTrainingHelper
        """,
        "seq2seq.training_helper": "TrainingHelper",
    },
    "session_bundle": {
        "session_bundle": "bundle_shim constants exporter gc manifest_pb2 session_bundle",
    },
    "signal": {
        "tf.signal": """
            frame hamming_window hann_window inverse_stft inverse_stft_window_fn
            linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add stft
        """,
    },
    "solvers": {
        "solvers": "lanczos least_squares linear_equations util",
    },
    "sparsemax": {
        "sparsemax.functions": "sparsemax sparsemax_loss",
    },
    "staging": {
        "estimator_bridge.tensorflow_private.names": "StagingArea",
    },
    "stateless": {
        "tf.compat.v1.random": """
            stateless_multinomial stateless_random_normal=stateless_normal
            stateless_random_uniform=stateless_uniform stateless_truncated_normal
        """,
    },
    "summary": {
        "estimator_bridge.tensorflow_private.names": (
            "should_record_summaries=contrib_should_record_summaries"
        ),
        "estimator_bridge.tensorflow_private.names:contrib_summary": """
            SummaryWriter all_summary_ops=all_v2_summary_ops always_record_summaries audio
            create_file_writer create_summary_file_writer=create_file_writer eval_dir
            flush=legacy_raw_flush generic graph=graph_v1 histogram image import_event initialize
            never_record_summaries record_summaries_every_n_global_steps scalar
            summary_writer_initializer_op
        """,
    },
    "tensorboard": {
        "tensorboard": "plugins projector",
    },
    "testing": {
        "testing.events": """
            assert_summary latest_event_file latest_events latest_summaries
            simple_values_from_events to_summary_proto
        """,
        "testing.fake_writer": "FakeSummaryWriter",
    },
    "tfprof": {
        "tfprof": "model_analyzer tfprof_logger",
    },
    "training": {
        "training.bucketing": "bucket bucket_by_sequence_length",
        "training.eval_hooks": "StopAfterNEvalsHook SummaryAtEndHook get_or_create_eval_step",
        "training.evaluation": "evaluate_once evaluate_repeatedly",
        "training.feeding_queue_runner": "FeedingQueueRunner",
        "training.gradients": """
            add_gradients_summaries clip_gradient_norms clip_gradient_norms_fn multiply_gradients
        """,
        "training.hparam_values": "parse_values",
        "training.hparams": "HParams",
        "training.parameter_servers": """
            GreedyLoadBalancingStrategy RandomStrategy byte_size_load_fn
        """,
        "training.resample": "resample_at_rate weighted_resample",
        "training.sampling": "rejection_sample stratified_sample",
        "training.sequence_batches": "batch_sequences_with_states",
        "training.sequence_states": "NextQueuedSequenceBatch SequenceQueueingStateSaver",
        "training.train_loop": "create_train_op train",
        "training.waiting": "checkpoints_iterator wait_for_new_checkpoint",
    },
    "util": {
        "estimator_bridge.tensorflow_private.contrib_names": "stripped_op_list_for_graph",
        "tf": "constant_value=get_static_value make_ndarray make_tensor_proto",
        "util": "ops_used_by_graph_def",
    },
}


def names_in(namespace: str) -> list[str]:
    """Returns the names of a namespace."""
    words = " ".join(NAMES[namespace].values()).split()
    return sorted(word.partition("=")[0] for word in words)


_FRAMEWORK = NAMES["framework"]
# The core of slim consists of names of other namespaces.
NAMES["slim"] = {
    "": "layers losses metrics",
    "arg_scope": _FRAMEWORK["arg_scope"],
    "framework": " ".join(
        [
            *_FRAMEWORK["framework.assignment"].split(),
            *_FRAMEWORK["framework.variable_search"].split(),
            *_FRAMEWORK["framework.global_step"].replace("VariableDeviceChooser", "").split(),
        ]
    ),
    "layers": " ".join(["initializers", "regularizers", *names_in("layers")]),
    "model_variables": _FRAMEWORK["model_variables"],
}
NAMES.update(estimator_names.NAMES)
