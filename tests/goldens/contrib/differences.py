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
        seq2seq.gather_tree
    """,
    "a gradient of zero, where the original's branch has none": """
        crf.crf_decode: one step
        crf.crf_log_norm: one step
        crf.crf_sequence_score: one step
    """,
    "the static shape is known here": """
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
    "the original's state does not fit the next step": """
        rnn.Conv2DLSTMCell: skip
    """,
    "the original clips a row once for each time it was read": """
        opt.VariableClippingOptimizer: sparse
    """,
}

# By reason: names without a case.
WITHOUT_A_CASE = {
    "the functions of tf.data, under the names of contrib": """
        data.Counter data.CsvDataset data.Dataset data.FixedLengthRecordDataset data.Iterator
        data.Optional data.RandomDataset data.Reducer data.SqlDataset data.TFRecordDataset
        data.TFRecordWriter data.TextLineDataset data.bucket_by_sequence_length
        data.choose_from_datasets data.copy_to_device data.dense_to_sparse_batch
        data.enumerate_dataset data.get_next_as_optional data.get_single_element
        data.group_by_reducer data.group_by_window data.ignore_errors
        data.make_batched_features_dataset data.make_csv_dataset data.make_saveable_from_iterator
        data.map_and_batch data.parallel_interleave data.parse_example_dataset
        data.prefetch_to_device data.rejection_resample data.sample_from_datasets data.scan
        data.shuffle_and_repeat data.unbatch data.unique
    """,
    "not recorded yet: tests/contrib/test_contrib_data.py has their elements": """
        data.assert_element_shape data.batch_and_drop_remainder
        data.padded_batch_and_drop_remainder data.read_batch_features data.reduce_dataset
        data.sliding_window_batch data.sloppy_interleave
    """,
    "not recorded yet: they need eager execution, which a case's graph does not have": """
        eager.Iterator eager.gradients_function eager.implicit_gradients
        eager.implicit_value_and_gradients eager.list_devices eager.num_gpus
        eager.value_and_gradients_function
    """,
    "not in the namespace of 1.15.5: from other releases of TensorFlow 1": """
        framework.arg_scope_func_key gan.GANLoss gan.GANModel gan.GANTrainOps gan.gan_loss
        gan.gan_model gan.gan_train_ops layers.poincare_normalize layers.pool
        layers.scale_gradient layers.summarize_biases layers.summarize_variables
        layers.summarize_weights
    """,
    "not recorded yet": """
        lookup.string_to_index_table_from_file util.ops_used_by_graph_def
    """,
    "for estimators, TPUs and strategies: the programs of parity/ and tests/legacy/contrib": """
        cluster_resolver.TPUClusterResolver distribute.AllReduceCrossDeviceOps
        distribute.AllReduceCrossTowerOps distribute.CollectiveAllReduceStrategy
        distribute.DistributeConfig distribute.MirroredStrategy distribute.TPUStrategy
        distribute.get_cross_replica_context estimator.TowerOptimizer
        estimator.clip_gradients_by_norm estimator.export_all_saved_models
        estimator.export_saved_model_for_mode estimator.forward_features
        estimator.replicate_model_fn learn.ModeKeys learn.RunConfig learn.TaskType
        learn.monitors.replace_monitors_with_hooks predictor.Predictor predictor.from_estimator
        predictor.from_saved_model tpu.ExportSavedModelApiVersion tpu.TPUInMemoryEvalHook
        tpu.device_assignment
        tpu.export_estimator_savedmodel tpu.keras_to_tpu_model
    """,
}
