"""The names of tf.contrib for estimators, TPUs and strategies, and the path of each.

`estimator_bridge_contrib.names` has all others, reads these, and explains the format.
"""

from __future__ import annotations

__all__ = ["NAMES", "UNSUPPORTED"]

_CANNED = {
    "learn.canned.combined": """
        DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor
    """,
    "learn.canned.dnn": "DNNClassifier DNNEstimator DNNRegressor",
    "learn.canned.linear": "LinearClassifier LinearEstimator LinearRegressor",
    "learn.canned.logistic": "LogisticRegressor",
    "learn.canned.svm": "SVM",
    "learn.inferred_columns": """
        infer_real_valued_columns_from_input infer_real_valued_columns_from_input_fn
    """,
}
_HEAD_FACTORIES = """
    binary_svm_head multi_class_head multi_head multi_label_head poisson_regression_head
    regression_head
"""
_HEADS = {
    "learn.heads.base": "Head",
    "learn.heads.factories": _HEAD_FACTORIES,
    "learn.heads.multi_objective": "no_op_train_fn",
}
_FRAMES = """
    extract_pandas_data extract_pandas_labels extract_pandas_matrix generator_input_fn
    numpy_input_fn pandas_input_fn
"""
_MONITORS = {
    "learn.monitor_bases": "BaseMonitor EveryN StopAtStep",
    "learn.monitor_files": "CheckpointSaver StepCounter SummarySaver",
    "learn.monitor_hooks": """
        RunHookAdapterForMonitors get_default_monitors replace_monitors_with_hooks
    """,
    "learn.monitor_outputs": """
        CaptureVariable GraphDump LoggingTrainable NanLoss NanLossDuringTrainingError PrintTensor
    """,
    "learn.monitor_validation": "ExportMonitor ValidationMonitor",
}
_PREPROCESSING = {
    "learn.categorical_processor": "CategoricalProcessor",
    "learn.text_processors": "ByteProcessor VocabularyProcessor tokenizer",
    "learn.vocabulary": "CategoricalVocabulary",
}
_RECORD_QUEUES = """
    queue_parsed_features read_batch_examples read_batch_features read_batch_record_features
    read_keyed_batch_examples read_keyed_batch_features
"""

NAMES: dict[str, dict[str, str]] = {
    "cluster_resolver": {
        "cluster_resolver": "TPUClusterResolver",
        "tf.distribute.cluster_resolver": """
            ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver
            SlurmClusterResolver TFConfigClusterResolver UnionClusterResolver=UnionResolver
        """,
    },
    "distribute": {
        "distribute": """
            AllReduceCrossDeviceOps AllReduceCrossTowerOps=AllReduceCrossDeviceOps
            CollectiveAllReduceStrategy DistributeConfig MirroredStrategy TPUStrategy
            get_cross_replica_context
        """,
        "tf.compat.v1.distribute": """
            CrossDeviceOps CrossTowerOps=CrossDeviceOps DistributionStrategy=Strategy
            DistributionStrategyExtended=StrategyExtended OneDeviceStrategy
            ReductionToOneDeviceCrossDeviceOps=ReductionToOneDevice
            ReductionToOneDeviceCrossTowerOps=ReductionToOneDevice ReplicaContext
            get_distribution_strategy=get_strategy get_loss_reduction get_replica_context
            get_strategy get_tower_context=get_replica_context
            has_distribution_strategy=has_strategy has_strategy in_cross_replica_context
        """,
        "tf.tpu.experimental": "initialize_tpu_system",
    },
    "estimator": {
        "estimator.clipping": "clip_gradients_by_norm",
        "estimator.exporting": "export_all_saved_models export_saved_model_for_mode",
        "estimator.forwarding": "forward_features",
        "estimator.replicating": "TowerOptimizer replicate_model_fn",
        "estimator.rnn": "RNNClassifier RNNEstimator",
        "estimator.saved_model_estimator": "SavedModelEstimator",
        "estimator_bridge.experimental.extenders": "add_metrics",
        "estimator_bridge.experimental": """
            InMemoryEvaluatorHook build_raw_supervised_input_receiver_fn call_logit_fn
            dnn_logit_fn_builder linear_logit_fn_builder make_early_stopping_hook
            make_stop_at_checkpoint_step_hook read_eval_metrics stop_if_higher_hook
            stop_if_lower_hook stop_if_no_decrease_hook stop_if_no_increase_hook
        """,
        "estimator_bridge.export": "build_supervised_input_receiver_fn_from_input_fn",
        "estimator_bridge.heads": """
            binary_classification_head logistic_regression_head multi_class_head multi_head
            multi_label_head poisson_regression_head regression_head
        """,
    },
    "factorization": {
        "estimator_bridge.tensorflow_private.names": "KMeans=KMeansGraph",
        "factorization.gaussian_mixture": "GmmAlgorithm gmm",
        "factorization.mixture_estimator": "GMM",
        "factorization.kmeans": """
            COSINE_DISTANCE KMEANS_PLUS_PLUS_INIT KMeansClustering RANDOM_INIT
            SQUARED_EUCLIDEAN_DISTANCE
        """,
        "factorization.wals": "WALSMatrixFactorization",
        "factorization.wals_model": "WALSModel",
    },
    "hooks": {
        "estimator_bridge.training.session_run_hooks": "ProfilerHook",
    },
    "kernel_methods": {
        "kernel_methods.classifier": "KernelLinearClassifier",
        "kernel_methods.losses": "sparse_multiclass_hinge_loss",
        "kernel_methods.mappers": "RandomFourierFeatureMapper",
    },
    "learn": {
        "learn": """
            datasets estimators graph_actions io learn_runner models monitors preprocessing utils
        """,
        **_CANNED,
        "learn.configuration": "ModeKeys RunConfig TaskType",
        "learn.datasets.base": "load_boston load_iris",
        "learn.datasets.loading": "load_dataset make_dataset",
        "learn.estimator": """
            BaseEstimator Estimator Evaluable NotFittedError SKCompat Trainable
        """,
        "learn.experiment": "Experiment",
        "learn.exports": """
            ExportStrategy InputFnOps build_default_serving_input_fn build_parsing_serving_input_fn
            make_export_strategy
        """,
        "learn.frames": _FRAMES,
        "learn.graph_actions": "evaluate infer run_feeds run_n train",
        **_HEADS,
        "learn.keys": "PredictionKey ProblemType",
        "learn.kmeans": "KMeansClustering",
        "learn.metric_spec": "MetricSpec",
        "learn.model_fn_ops": "ModelFnOps",
        **_MONITORS,
        **_PREPROCESSING,
        "learn.record_queues": _RECORD_QUEUES,
    },
    "learn.datasets": {
        "learn.datasets": "base mnist synthetic text_datasets",
        "learn.datasets.base": "load_boston load_iris",
        "learn.datasets.loading": "DATASETS SYNTHETIC load_dataset make_dataset",
    },
    "learn.estimators": {
        **_CANNED,
        **_HEADS,
        "learn.heads.factories": f"{_HEAD_FACTORIES} loss_only_head",
        "learn.configuration": "ModeKeys RunConfig",
        "learn.estimator": "BaseEstimator Estimator SKCompat",
        "learn.keys": "MetricKey PredictionKey ProblemType",
        "learn.kmeans": "KMeansClustering",
        "learn.model_fn_ops": "ModelFnOps",
    },
    "learn.io": {
        "learn.frames": _FRAMES,
        "learn.record_queues": _RECORD_QUEUES,
    },
    "learn.learn_runner": {
        "learn.learn_runner": "run tune",
    },
    "learn.models": {
        "learn.linear_models": """
            linear_regression linear_regression_zero_init logistic_regression
            logistic_regression_zero_init
        """,
    },
    "learn.monitors": _MONITORS,
    "learn.preprocessing": _PREPROCESSING,
    "learn.utils": {
        "learn.exports": """
            InputFnOps build_default_serving_input_fn build_parsing_serving_input_fn
            make_export_strategy make_parsing_export_strategy
        """,
    },
    "linear_optimizer": {
        "linear_optimizer.sdca_model": "SdcaModel",
        "linear_optimizer.sdca_optimizer": "SDCAOptimizer",
        "linear_optimizer.sparse_feature_column": "SparseFeatureColumn",
    },
    "predictor": {
        "predictor.predictor": "Predictor",
        "predictor.predictor_factories": """
            from_contrib_estimator from_estimator from_saved_model
        """,
    },
    "timeseries": {
        "timeseries": "saved_model_utils",
        "timeseries.ar_model": "ARModel",
        "timeseries.continuation": "predict_continuation_input_fn",
        "timeseries.feature_keys": "FilteringResults TrainEvalFeatures",
        "timeseries.file_readers": "CSVReader",
        "timeseries.head": "OneShotPredictionHead",
        "timeseries.readers": "NumpyReader",
        "timeseries.regressors": "ARRegressor TimeSeriesRegressor",
        "timeseries.state_space_regressors": "StructuralEnsembleRegressor",
        "timeseries.window_inputs": "RandomWindowInputFn WholeDatasetInputFn",
    },
    "timeseries.saved_model_utils": {
        "timeseries.saved_model_utils": """
            cold_start_filter filter_continuation predict_continuation
        """,
    },
    "tpu": {
        "estimator_bridge.keras.tpu_strategy": "TPUDistributionStrategy",
        "estimator_bridge.tensorflow_private.names:tpu_training_loop": "repeat while_loop",
        "estimator_bridge.tpu": """
            CrossShardOptimizer InputPipelineConfig RunConfig TPUConfig TPUContext TPUEstimator
            TPUEstimatorSpec all_to_all batch_parallel collective_permute cross_replica_sum
            initialize_system replicate rewrite shard shutdown_system
        """,
        "estimator_bridge.tpu.feed_ops": """
            InfeedQueue infeed_dequeue infeed_dequeue_tuple infeed_enqueue infeed_enqueue_tuple
            outfeed_dequeue outfeed_dequeue_tuple outfeed_enqueue outfeed_enqueue_tuple
        """,
        "estimator_bridge.training": "AsyncCheckpointSaverHook",
        "tf.compat.v1.tpu": "bfloat16_scope core outside_compilation",
        "tf.compat.v1.tpu.experimental": "DeviceAssignment Topology",
        "tpu": """
            ExportSavedModelApiVersion TPUInMemoryEvalHook device_assignment
            export_estimator_savedmodel keras_to_tpu_model
        """,
    },
}

_LOOP = (
    "is not supported: it is a training loop of tf.distribute. Use tf.estimator with "
    "RunConfig(train_distribute=strategy), or strategy.run in a tf.function."
)
# By namespace: advice, and the names that it is for.
UNSUPPORTED: dict[str, dict[str, str]] = {
    "distribute": {
        _LOOP: "Monitor StandardInputStep StandardSingleLossStep Step",
        "is not supported. Use CollectiveAllReduceStrategy.": "MultiWorkerAllReduce",
        "is not supported under this name. Use "
        "tf.compat.v1.distribute.experimental.ParameterServerStrategy; or no strategy: with the "
        "job 'ps' in TF_CONFIG, each process trains on variables of these servers.": (
            "ParameterServerStrategy"
        ),
        "is not supported. Use strategy.extended.update(variable, fn).": "UpdateContext",
        "is not supported. Use tf.distribute.get_replica_context().": "require_replica_context",
        "is not supported. Use tf.compat.v1.train.Server(cluster, job_name, task_index); "
        "train_and_evaluate starts the server of TF_CONFIG itself.": (
            "run_standard_tensorflow_server"
        ),
    },
    "estimator": {
        "is not supported. Write the model as a model_fn for Estimator: tf.compat.v1.losses for "
        "its loss, tf.compat.v1.metrics for its metrics.": """
            DNNClassifierWithLayerAnnotations DNNRegressorWithLayerAnnotations
        """,
        "is not supported. Train the trees with the package ydf.": """
            boosted_trees_classifier_train_in_memory boosted_trees_regressor_train_in_memory
        """,
    },
    "learn": {
        "is not supported. Use tf.estimator.experimental.RNNEstimator, which replaced it.": """
            DynamicRnnEstimator StateSavingRnnEstimator
        """,
        "is not supported. Make a tf.data.Dataset in input_fn.": """
            extract_dask_data extract_dask_labels read_keyed_batch_examples_shared_queue
            read_keyed_batch_features_shared_queue
        """,
        "is not supported. Use tf.contrib.learn.Estimator, or tf.estimator.": """
            export_estimator run_feeds_iter
        """,
        "was in tf.contrib.learn.models, and is there.": """
            linear_regression linear_regression_zero_init logistic_regression
            logistic_regression_zero_init
        """,
        "is not supported. Use tf.estimator.train_and_evaluate with TrainSpec and EvalSpec.": (
            "run_experiment"
        ),
        "was a file. Use the functions of tf.contrib.learn, such as multi_class_head.": "head",
        "is not supported. Write the layers with tf.layers or tf.contrib.layers.": """
            bidirectional_rnn get_rnn_model ops
        """,
        "is not supported. Use tf.summary.FileWriterCache.": """
            clear_summary_writers get_summary_writer
        """,
    },
    "learn.io": {
        "is not supported. Make a tf.data.Dataset in input_fn.": """
            extract_dask_data extract_dask_labels read_keyed_batch_examples_shared_queue
            read_keyed_batch_features_shared_queue
        """,
        "was a file. Use the functions of tf.contrib.learn.io, such as read_batch_examples.": """
            dask_io data_feeder generator_io graph_io numpy_io pandas_io
        """,
        "is not needed. Import dask in try.": "HAS_DASK",
        "is not needed. Import pandas in try.": "HAS_PANDAS",
    },
    "learn.models": {
        "is not supported. Write the layers with tf.layers or tf.contrib.layers.": """
            bidirectional_rnn get_rnn_model
        """,
        "was a file. Use tf.compat.v1.losses.": "losses_ops",
    },
    "learn.preprocessing": {
        "was a file. Use the classes of tf.contrib.learn.preprocessing, such as "
        "VocabularyProcessor.": "categorical categorical_vocabulary text",
        "is not supported. Use tf.contrib.learn.preprocessing.tokenizer(texts).": "TOKENIZER_RE",
        "is not supported. Make a tf.data.Dataset in input_fn.": "setup_processor_data_feeder",
    },
    "learn.utils": {
        "wrote a SessionBundle of TensorFlow 1.0, which nothing reads any more. Use "
        "estimator.export_savedmodel(folder, serving_input_fn).": "export export_estimator",
        "was a file. Use the functions of tf.contrib.learn.utils, such as make_export_strategy.": (
            "input_fn_utils saved_model_export_utils"
        ),
        "is not supported. Use make_export_strategy(exports_to_keep=5).": "gc",
    },
    "tpu": {
        "is not supported. Use tf.profiler.experimental.start(logdir) and stop(), or "
        "tf.estimator.ProfilerHook.": "profiler",
    },
}
