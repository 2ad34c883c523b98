"""What differs from TensorFlow 1.15.5 in the cases of tf.contrib, and why.

Each reason is in docs/differences.md. A case that is listed here and does not differ fails the
test, so that the list stays true.
"""

__all__ = [
    "ACCIDENTAL",
    "COMPARED_ELSEWHERE",
    "DIFFERENT",
    "OTHER_ARGUMENTS",
    "OTHER_ARGUMENTS_OF_TENSORFLOW",
    "WITHOUT_A_CASE",
]

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
    "the head of three or more classes adds the batch's loss to LOSSES, not the examples' too": """
        estimator.RNNClassifier: eval graph
    """,
    "without a hash_key, combinations have the hash of tf.feature_column": """
        layers.transform_features: crossed without a key
    """,
    "computed by other operations than the original's kernel, whose names differ": """
        metrics.confusion_matrix
        rnn.GRUBlockCell: size
        rnn.LSTMBlockCell: peephole
        data.dense_to_sparse_batch
        seq2seq.gather_tree
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
        solvers.lanczos.lanczos_bidiag
        solvers.lanczos.lanczos_bidiag: not orthogonal
        solvers.lanczos.lanczos_bidiag: random
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
        distributions.auto_correlation: lags of a tensor
        distributions.bijectors.masked_autoregressive_default_template: clipped gradient
        framework.with_shape: any size
        model_pruning.MaskedLSTMCell: projection
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
    "a tf.data pipeline, where the original had a queue": """
        learn.generator_input_fn
        learn.generator_input_fn: target
    """,
    "values are kept by names of tensors": """
        learn.monitors.GraphDump
    """,
    "refused: no TensorFlow 2 reads what it wrote": """
        learn.monitors.ExportMonitor
    """,
    "one graph for any device, where the original wrote a second one for TPUs": """
        tpu.export_estimator_savedmodel
    """,
    "the original clips a row once for each time it was read": """
        opt.VariableClippingOptimizer: sparse
    """,
}

# By reason: callables with other arguments than in 1.15.5.
OTHER_ARGUMENTS = {
    "made by the library, or derived from private methods, and not by programs": """
        learn.BaseEstimator training.NextQueuedSequenceBatch
    """,
    "refused, whatever the arguments are": "learn.monitors.ExportMonitor",
}

# By reason: names of TensorFlow itself, or of the package tf_slim, with other arguments.
OTHER_ARGUMENTS_OF_TENSORFLOW = {
    "TensorFlow 2 has left out or moved an argument": """
        eager.Variable eager.defun eager.function eager.make_template
        eager.run_test_in_graph_and_eager_modes tpu.InfeedQueue
    """,
    "a default has changed, and means the same": """
        cluster_resolver.SlurmClusterResolver eager.custom_gradient eager.py_func
        tfprof.model_analyzer.advise
    """,
}

# By reason: names without a case. The table "absent" has what 1.15.5 says of each.
WITHOUT_A_CASE = {
    "not in the namespace of 1.15.5: from other releases of TensorFlow 1": """
        framework.arg_scope_func_key gan.GANLoss gan.GANModel gan.GANTrainOps
        gan.gan_loss gan.gan_model gan.gan_train_ops layers.poincare_normalize layers.pool
        layers.summarize_biases layers.summarize_variables layers.summarize_weights
        nccl.all_max nccl.all_min nccl.all_prod nccl.all_sum nccl.reduce_sum predictor.Predictor
        tpu.ExportSavedModelApiVersion tpu.TPUInMemoryEvalHook
    """,
    "1.15.5 needs a TPU for them: tests/contrib runs them on emulated cores": """
        distribute.TPUStrategy tpu.keras_to_tpu_model
    """,
}

# By where else they are compared: names without a case of their own.
COMPARED_ELSEWHERE = {
    "it ends the process: tests/contrib/test_contrib_eager_util.py": "eager.run",
    "the cases of graph_editor.Transformer, deprecated.scalar_summary and the two managers": """
        graph_editor.TransformerInfo deprecated.audio_summary deprecated.histogram_summary
        deprecated.image_summary deprecated.merge_all_summaries deprecated.merge_summary
        mixed_precision.LossScaleManager
    """,
    "it needs tf-slim: tests/contrib/test_contrib_model_pruning.py": "model_pruning.train",
    "they are for eager execution: tests/contrib/test_contrib_small_namespaces.py": """
        eager.Saver eager.get_optimizer_variables
    """,
}
