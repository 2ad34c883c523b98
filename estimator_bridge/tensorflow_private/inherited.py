"""Private members that classes of this library inherit from public classes of TensorFlow."""

from __future__ import annotations

__all__ = ["INHERITED"]

# By "package.module:class": the private members that subclasses use.
INHERITED = {
    # Optimizers of tf.contrib.opt, which only replace the update of a variable.
    "tensorflow:compat.v1.train.AdamOptimizer": """
        _beta1 _beta1_t _beta2_t _create_non_slot_variable _epsilon_t _get_non_slot_variable _lr_t
        _use_locking _zeros_slot
    """,
    "tensorflow:compat.v1.train.Optimizer": "_get_or_make_slot _get_or_make_slot_with_initializer",
    "tensorflow:compat.v1.train.AdagradOptimizer": "_learning_rate_tensor",
    # A saver that writes in the background, and one that writes no graph file.
    "tensorflow:compat.v1.train.CheckpointSaverHook": """
        _checkpoint_dir _get_saver _listeners _save_path _summary_writer _timer
    """,
    # The strategy that a program sees while its model is traced.
    "tensorflow:distribute.Strategy": "_scale_loss_for_estimator_enabled",
    "tensorflow:compat.v1.distribute.StrategyExtended": "_container_strategy",
    # Columns of tf.contrib.layers, which keep the lookup of words in a vocabulary.
    "tensorflow.python.feature_column.feature_column_v2:VocabularyListCategoricalColumn": (
        "_transform_input_tensor"
    ),
    "tensorflow.python.feature_column.feature_column_v2:VocabularyFileCategoricalColumn": (
        "_transform_input_tensor"
    ),
    # A container of tf.contrib.checkpoint.
    "tensorflow.python.trackable.data_structures:TrackableDataStructure": "_track_value",
    # A Keras model that trains on a TPU's cores.
    "tf_keras.src.engine.training_v1:Model": """
        _feed_inputs _feed_sample_weights _feed_targets
        _recompile_weights_loss_and_weighted_metrics
    """,
    # Distributions and bijectors of tf.contrib.distributions, whose methods take conditions.
    "tensorflow:compat.v1.distributions.Distribution": """
        _call_cdf _call_log_cdf _call_log_prob _call_log_survival_function _call_prob
        _call_survival_function _expand_sample_shape_to_vector _name_scope _set_sample_static_shape
    """,
    "tensorflow.python.ops.distributions.bijector_impl:Bijector": """
        _call_forward _call_forward_log_det_jacobian _call_inverse _call_inverse_log_det_jacobian
    """,
}
