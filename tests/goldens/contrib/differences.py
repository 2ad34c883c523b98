"""What differs from TensorFlow 1.15.5 in the cases of tf.contrib, and why.

Each reason is in docs/differences.md. A case that is listed here and does not differ fails the
test, so that the list stays true.
"""

__all__ = ["ACCIDENTAL", "DIFFERENT", "WITHOUT_A_CASE"]

# The last part of names that TensorFlow gives to arithmetic, which no program looks up. They depend
# on how a formula is written.
ACCIDENTAL = frozenset(
    [
        "Assign",
        "AssignAdd",
        "AssignMovingAvg",
        "AssignSub",
        "Cast",
        "Const",
        "Exit",
        "GatherNd",
        "Identity",
        "Max",
        "Mean",
        "Merge",
        "Reshape",
        "ReverseSequence",
        "Select",
        "SelectV2",
        "Sum",
        "add",
        "assign_moving_avg",
        "clip_by_value",
        "concat",
        "cond",
        "div",
        "div_no_nan",
        "mul",
        "stack",
        "strided_slice",
        "sub",
        "transpose",
        "truediv",
    ]
)

# By reason: cases.
DIFFERENT = {
    "without a hash_key, combinations have the hash of tf.feature_column": """
        layers.transform_features: crossed without a key
    """,
    "computed by other operations than the original's kernel, whose names differ": """
        metrics.confusion_matrix
        rnn.GRUBlockCell: size
        rnn.LSTMBlockCell: peephole
        data.dense_to_sparse_batch
        seq2seq.gather_tree
        image.connected_components
        image.connected_components: texts
        nn.sampled_sparse_softmax_loss
        nn.sampled_sparse_softmax_loss: hits
    """,
    "a gradient of zero, where the original's branch has none": """
        crf.crf_decode: one step
        crf.crf_log_norm: one step
        crf.crf_sequence_score: one step
    """,
    "the static shape is known here": """
        data.sliding_window_batch
        factorization.WALSModel
        image.dense_image_warp: unknown shape
        seq2seq.ScheduledOutputTrainingHelper
        seq2seq.ScheduledOutputTrainingHelper: always
    """,
    "the name scope of a second call has a number": """
        layers.RevBlock
    """,
    "the name scope of a second call has no number": """
        seq2seq.AttentionWrapper: layer
    """,
    "counts are in variables of other names": """
        training.weighted_resample
    """,
    "the error is raised when the graph is built, not when it runs": """
        framework.smart_case: two
    """,
    "accepted here": """
        framework.with_shape: any size
    """,
    "a topology has today's four dimensions": """
        tpu.device_assignment
    """,
    "the original's state does not fit the next step": """
        rnn.Conv2DLSTMCell: skip
    """,
    "an operation that reads both tensors of a pair exchanges them, and reads none twice": """
        graph_editor.swap_outputs
        graph_editor.swap_ts
    """,
    "the original clips a row once for each time it was read": """
        opt.VariableClippingOptimizer: sparse
    """,
}

# By reason: names without a case.
WITHOUT_A_CASE = {
    "not in the namespace of 1.15.5: from other releases of TensorFlow 1": """
        data.Dataset data.FixedLengthRecordDataset data.Iterator data.TFRecordDataset
        data.TextLineDataset framework.arg_scope_func_key gan.GANLoss gan.GANModel gan.GANTrainOps
        gan.gan_loss gan.gan_model gan.gan_train_ops layers.poincare_normalize layers.pool
        layers.scale_gradient layers.summarize_biases layers.summarize_variables
        layers.summarize_weights predictor.Predictor tpu.ExportSavedModelApiVersion
    """,
    "1.15.5 needs a TPU for them: tests/legacy/contrib runs them on emulated cores": """
        distribute.TPUStrategy tpu.TPUInMemoryEvalHook tpu.export_estimator_savedmodel
        tpu.keras_to_tpu_model
    """,
    "ends the process: tests/contrib/test_contrib_eager_util.py": """
        eager.run
    """,
    "used by the cases of graph_editor.Transformer and deprecated.scalar_summary": """
        graph_editor.TransformerInfo deprecated.audio_summary deprecated.histogram_summary
        deprecated.image_summary deprecated.merge_all_summaries deprecated.merge_summary
        mixed_precision.LossScaleManager
    """,
    "in tests/contrib/test_contrib_small_namespaces.py: not in the namespace of 1.15.5, or for "
    "eager execution": """
        eager.Saver eager.get_optimizer_variables nccl.all_max nccl.all_min nccl.all_prod
        nccl.all_sum nccl.reduce_sum
    """,
    "not recorded yet": """
        learn.RunConfig learn.estimators.RunConfig
    """,
    "reads environment variables, for which 1.15.5 had operations": """
        cloud.BlockCacheParams cloud.ConfigureGcsHook cloud.configure_colab_session
        cloud.configure_gcs
    """,
    "in tests/contrib/test_contrib_sequence_states.py and tests/legacy/contrib, and held by the "
    "tests of 1.15 in docs/conformance.md": """
        training.batch_sequences_with_states training.NextQueuedSequenceBatch
        training.SequenceQueueingStateSaver factorization.GmmAlgorithm factorization.gmm
        learn.load_boston learn.load_dataset learn.BaseEstimator learn.Evaluable learn.SKCompat
        learn.Trainable learn.Experiment learn.ExportStrategy learn.Head learn.estimators.Head
        learn.make_export_strategy
        learn.extract_pandas_data learn.extract_pandas_labels learn.extract_pandas_matrix
        learn.generator_input_fn learn.numpy_input_fn learn.pandas_input_fn learn.KMeansClustering
        learn.CheckpointSaver learn.StepCounter learn.SummarySaver learn.RunHookAdapterForMonitors
        learn.CaptureVariable learn.GraphDump learn.LoggingTrainable learn.NanLoss
        learn.NanLossDuringTrainingError learn.PrintTensor learn.ExportMonitor
        learn.queue_parsed_features learn.read_batch_examples learn.read_batch_record_features
        learn.read_keyed_batch_examples learn.read_keyed_batch_features learn.datasets.load_boston
        learn.datasets.load_dataset learn.estimators.BaseEstimator learn.estimators.SKCompat
        learn.estimators.MetricKey learn.estimators.KMeansClustering learn.io.extract_pandas_data
        learn.io.extract_pandas_labels learn.io.extract_pandas_matrix learn.io.generator_input_fn
        learn.io.numpy_input_fn learn.io.pandas_input_fn learn.io.queue_parsed_features
        learn.io.read_batch_examples learn.io.read_batch_record_features
        learn.io.read_keyed_batch_examples learn.io.read_keyed_batch_features
        learn.learn_runner.run learn.learn_runner.tune learn.monitors.CheckpointSaver
        learn.monitors.StepCounter learn.monitors.SummarySaver
        learn.monitors.RunHookAdapterForMonitors learn.monitors.CaptureVariable
        learn.monitors.GraphDump learn.monitors.LoggingTrainable learn.monitors.NanLoss
        learn.monitors.NanLossDuringTrainingError learn.monitors.PrintTensor
        learn.monitors.ExportMonitor learn.utils.make_export_strategy
        learn.utils.make_parsing_export_strategy
    """,
}
