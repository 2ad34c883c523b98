"""Names of Estimator's modules that libraries import besides the public ones, and their paths.

`docs/evidence/library_names.md` lists the libraries. Any other name raises a MissingNameError that
suggests a similar name.
"""

from __future__ import annotations

__all__ = ["GONE_MODULES", "GONE_NAMES", "LIBRARY_NAMES"]

# By module below tensorflow_estimator.python.estimator: paths below estimator_bridge, each with the
# original's names found there. "library." starts a module of this folder, where names have no
# underscore. A name that differs follows "=".
_TABLE = {
    "canned.baseline": """
        library.canned: _baseline_model_fn _baseline_model_fn_v2
    """,
    "canned.dnn": """
        library.canned: _dnn_model_fn dnn_model_fn_v2
        experimental: dnn_logit_fn_builder
    """,
    "canned.dnn_linear_combined": """
        library.canned: _dnn_linear_combined_model_fn _dnn_linear_combined_model_fn_v2
    """,
    "canned.head": """
        heads: LossSpec _BinaryLogisticHeadWithSigmoidCrossEntropyLoss=V1BinaryHead _Head=AnyV1Head
            _MultiClassHeadWithSoftmaxCrossEntropyLoss=V1MultiClassHead
            _RegressionHeadWithMeanSquaredErrorLoss=V1RegressionHead
            _binary_logistic_head_with_sigmoid_cross_entropy_loss=summed_binary_classification_head
            _binary_logistic_or_multi_class_head=binary_or_multi_class_head_v1
            _multi_class_head_with_softmax_cross_entropy_loss=summed_multi_class_head
            _regression_head=summed_regression_head
        heads.keys: _CLASSIFY_SERVING_KEY=CLASSIFY_SIGNATURE _DEFAULT_SERVING_KEY=DEFAULT_SIGNATURE
            _PREDICT_SERVING_KEY=PREDICT_SIGNATURE _REGRESS_SERVING_KEY=REGRESS_SIGNATURE
        library.head: _accuracy_at_threshold _accuracy_baseline _all_class_ids _all_classes
            _append_update_ops _assert_range=check_label_range _auc _call_loss_fn
            _check_dense_labels_match_logits_and_reshape _check_logits_final_dim
            _classification_output _create_eval_metrics_tuple _get_weights_and_check_match_logits
            _indicator_labels_mean _precision_at_threshold _predictions_mean _recall_at_threshold
            _summary_key _validate_loss_fn_args _validate_n_classes
    """,
    "canned.linear": """
        library.canned: _compute_fraction_of_zero _linear_model_fn _linear_model_fn_v2
            _validate_linear_sdca_optimizer_for_linear_classifier
            _validate_linear_sdca_optimizer_for_linear_regressor
        experimental: linear_logit_fn_builder
    """,
    "canned.optimizers": """
        library.optimizers: get_optimizer_instance get_optimizer_instance_v2
    """,
    "canned.saved_model_estimator": """
        legacy.contrib.estimator.saved_model_estimator: SavedModelEstimator
    """,
    "early_stopping": """
        experimental.stopping: _CheckForStoppingHook=CheckForStoppingHook
            _get_or_create_stop_var=stop_variable
        library.early_stopping: _StopOnPredicateHook=OriginalStopOnPredicateHook
    """,
    "estimator": """
        library.estimator: _VALID_MODEL_FN_ARGS _assert_members_are_not_overridden
            _canned_estimator_api_gauge=api_gauge _check_checkpoint_available _check_hooks_type
            _check_listeners_type _estimator_api_gauge=api_gauge _extract_metric_update_ops
            _load_global_step_from_checkpoint_dir _verify_model_fn_args
            _write_dict_to_summary maybe_overwrite_model_dir_and_session_config
        model: _get_default_warm_start_settings=parse_warm_start
    """,
    "estimator_export": """
        library.estimator_export: estimator_export
    """,
    "export.export": """
        library.export: build_all_signature_defs get_temp_export_dir get_timestamped_export_dir
    """,
    "export.export_lib": """
        library.export: EXPORT_TAG_MAP SIGNATURE_KEY_MAP build_all_signature_defs
            export_outputs_for_mode get_export_outputs get_temp_export_dir
            get_timestamped_export_dir
    """,
    "exporter": """
        training.exporters.exporter: _SavedModelExporter=SavedModelExporter
        training.exporters.best: _loss_smaller
        library.exporter: _verify_compare_fn_args
    """,
    "gc": """
        library.gc: Path _get_paths _largest_export_versions _mod_export_version _negation
            _one_of_every_n_export_versions _union
    """,
    "head.base_head": """
        heads.keys: CLASSIFY_SERVING_KEY=CLASSIFY_SIGNATURE DEFAULT_SERVING_KEY=DEFAULT_SIGNATURE
            PREDICT_SERVING_KEY=PREDICT_SIGNATURE REGRESS_SERVING_KEY=REGRESS_SIGNATURE
        library.head: all_class_ids all_classes call_loss_fn
            check_dense_labels_match_logits_and_reshape check_label_range check_logits_final_dim
            classification_output create_estimator_spec_summary create_estimator_spec_train_op
            create_eval_metrics_tuple get_weights_and_check_match_logits
            update_metric_with_broadcast_weights validate_loss_fn_args validate_n_classes
    """,
    "head.head_utils": """
        heads.keys: _DEFAULT_SERVING_KEY=DEFAULT_SIGNATURE
        library.head: binary_or_multi_class_head
    """,
    "model_fn": """
        library.model_fn: AVERAGE_LOSS_METRIC_KEY LOSS_METRIC_KEY
        tpu: _TPUEstimatorSpec=TPUEstimatorSpec
        library.estimator: verify_model_fn_args
    """,
    "run_config": """
        library.run_config: get_default_session_config path_to_str
    """,
    "tpu.tpu_estimator": """
        library.tpu_estimator: BatchConfig ExportSavedModelApiVersion export_estimator_savedmodel
    """,
    "training": """
        training.continuous: _ContinuousEvalListener=ContinuousEvalListener _EvalResult=EvalResult
            _EvalStatus=EvalStatus
        library.training: _DELAY_SECS_PER_WORKER _MAX_DELAY_SECS _NewCheckpointListenerForEvaluate
            _StopAtSecsHook _TrainingExecutor=OriginalExecutor _assert_eval_spec _is_google_env
            _validate_exporters _validate_hooks _validate_input_fn _validate_saving_listeners
    """,
    "util": """
        data.input_results: DistributedIteratorInitializerHook MAX_DIRECTORY_CREATION_ATTEMPTS
            MultiHostDatasetInitializerHook _DatasetInitializerHook=DatasetInitializerHook
            parse_input_fn_result parse_iterator_result
        library.util: fn_args tf_keras tf_keras_v1
    """,
}


def _names(lines: str) -> dict[str, str]:
    paths, place = {}, ""
    for word in lines.split():
        if word.endswith(":"):
            place = word[:-1]
            continue
        name, _, target = word.partition("=")
        if place.startswith("library."):
            target = target or name.lstrip("_")
        where = place.replace("library.", "legacy.library.", 1)
        paths[name] = f"estimator_bridge.{where}.{target or name}"
    return paths


LIBRARY_NAMES = {module: _names(lines) for module, lines in _TABLE.items()}

_TIMESERIES = (
    "is not supported. Cut the series into windows in input_fn (dataset.window), and write the "
    "model as a model_fn."
)
_TREES = (
    "is not supported, as the kernels of boosted trees have left TensorFlow. The package "
    "ydf trains them."
)
_ON_TPU = (
    "is not supported: an exported model runs on CPUs and GPUs, and it left with TensorFlow 2.16. "
    "Write estimator.export_saved_model(folder, serving_input_receiver_fn)."
)
_QUEUES = (
    "is not supported: rows in memory need no queue. Use tf.compat.v1.estimator.inputs."
    "numpy_input_fn or pandas_input_fn, or tf.data.Dataset.from_generator."
)
_NETWORK = (
    "is not supported: it left with TensorFlow 2.16. Write tf.compat.v1.estimator.experimental."
    "dnn_logit_fn_builder(units, hidden_units, feature_columns, activation_fn, dropout, "
    "input_layer_partitioner, batch_norm), whose result makes the same network."
)
# Modules of the original that are missing, with advice.
GONE_MODULES = {
    "canned.boosted_trees": _TREES,
    "canned.boosted_trees_utils": _TREES,
    "canned.timeseries": _TIMESERIES,
    "inputs.queues": _QUEUES,
    "tools.checkpoint_converter": (
        "is not supported: convert checkpoints with TensorFlow 2.15, where the original runs."
    ),
}
# By module: missing names of it that libraries import, with advice.
GONE_NAMES = {
    "canned.dnn": {
        "_DNNModel": _NETWORK,
        "_DNNModelV2": _NETWORK,
    },
    "tpu.tpu_estimator": dict.fromkeys(("inference_on_tpu", "model_fn_inference_on_tpu"), _ON_TPU),
}
