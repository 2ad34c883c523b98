"""The part of the table of private names that is below tensorflow.python.keras.

The names that tf.keras.experimental had in TF1 have their rows here, too: TensorFlow's files of
Keras had them as well.

Programs no longer use TensorFlow's own copy of Keras: tf.keras comes from the package tf_keras, and
layers of one do not work with models of the other.
"""

from __future__ import annotations

__all__ = [
    "MODULES_OF_KERAS",
    "NAMES_OF_EXPERIMENTAL",
    "NAMES_OF_KERAS",
    "REMOVED_FROM_EXPERIMENTAL",
    "REMOVED_FROM_KERAS",
]

_KERAS = "tf_keras.src"
_LEGACY = f"{_KERAS}.saving.legacy"
_RNN = f"{_KERAS}.layers.rnn"
_SAVED_MODELS = "estimator_bridge.legacy.contrib.saved_model"
_OF_SAVED_MODELS = {
    "export_saved_model": f"{_SAVED_MODELS}.save_keras_model",
    "load_from_saved_model": f"{_SAVED_MODELS}.load_keras_model",
}
_SCHEDULES = f"{_KERAS}.optimizers.schedules.learning_rate_schedule"
_PEEPHOLES = "Write tf.compat.v1.nn.rnn_cell.LSTMCell(units, use_peepholes=True)."

# By name of tf.keras.experimental in TF1 that tf_keras does not have there: its place.
NAMES_OF_EXPERIMENTAL = {
    "LinearCosineDecay": f"{_SCHEDULES}.LinearCosineDecay",
    "NoisyLinearCosineDecay": f"{_SCHEDULES}.NoisyLinearCosineDecay",
    **_OF_SAVED_MODELS,
}
# By name of tf.keras.experimental in TF1 that has no equivalent: what to write instead.
REMOVED_FROM_EXPERIMENTAL = {
    "PeepholeLSTMCell": _PEEPHOLES,
    "terminate_keras_multiprocessing_pools": (
        "Leave the call out: the pools of Keras end with their generators."
    ),
}

# By path, from its dot on: the module in tf_keras.
MODULES_OF_KERAS = {
    "": _KERAS,
    ".distribute.distributed_training_utils": (
        f"{_KERAS}.distribute.distributed_training_utils_v1"
    ),
    ".engine.network": f"{_KERAS}.engine.functional",
    ".engine.training_arrays": f"{_KERAS}.engine.training_arrays_v1",
    ".engine.training_distributed": f"{_KERAS}.engine.training_distributed_v1",
    ".engine.training_eager": f"{_KERAS}.engine.training_eager_v1",
    ".engine.training_generator": f"{_KERAS}.engine.training_generator_v1",
    ".layers.advanced_activations": f"{_KERAS}.layers.activation",
    ".layers.convolutional_recurrent": _RNN,
    ".layers.cudnn_recurrent": _RNN,
    ".layers.dense_attention": f"{_KERAS}.layers.attention",
    ".layers.embeddings": f"{_KERAS}.layers.core",
    ".layers.local": f"{_KERAS}.layers.locally_connected",
    ".layers.merge": f"{_KERAS}.layers.merging",
    ".layers.normalization_v2": f"{_KERAS}.layers.normalization.batch_normalization",
    ".layers.recurrent": _RNN,
    ".layers.recurrent_v2": _RNN,
    ".layers.rnn_cell_wrapper_v2": f"{_RNN}.cell_wrappers",
    ".layers.wrappers": _RNN,
    ".mixed_precision.experimental": f"{_KERAS}.mixed_precision",
    ".optimizer_v2": f"{_KERAS}.optimizers.legacy",
    ".optimizer_v2.learning_rate_schedule": _SCHEDULES,
    ".premade": f"{_KERAS}.premade_models",
    ".saving.hdf5_format": f"{_LEGACY}.hdf5_format",
    ".saving.model_config": f"{_LEGACY}.model_config",
    ".saving.save": f"{_LEGACY}.save",
    ".saving.saved_model": f"{_LEGACY}.saved_model",
    ".saving.saved_model_experimental": _SAVED_MODELS,
    ".saving.saving_utils": f"{_LEGACY}.saving_utils",
}


def _below(module: str, place: str, names: str) -> dict[str, str]:
    pairs = (word.partition("=") for word in names.split())
    return {f"{module}.{old}": f"{_KERAS}.{place}.{new or old}" for old, _, new in pairs}


_TRAINING_UTILS = """
    Aggregator MetricsAggregator ConcatAggregator SliceAggregator OutputsAggregator
    get_copy_pool get_progbar check_num_samples standardize_single_array standardize_input_data
    standardize_sample_or_class_weights standardize_class_weights standardize_sample_weights
    check_array_lengths check_loss_and_target_compatibility collect_per_output_metric_info
    batch_shuffle standardize_weights has_symbolic_tensors has_tensors get_metric_name
    get_metric_function call_metric_function get_loss_function validate_dataset_input
    validate_input_types check_generator_arguments check_steps_argument get_iterator
    prepare_loss_functions prepare_loss_weights prepare_sample_weight_modes
"""
_SERIALIZATION = """
    class_and_config_for_serialized_keras_object deserialize_keras_object
    serialize_keras_class_and_config serialize_keras_object
"""

# By name below tensorflow.python.keras: its place.
NAMES_OF_KERAS = {
    **_below("engine.base_layer", "engine.input_spec", "InputSpec"),
    # TensorFlow 2.2 merged Network into Model.
    **_below("engine.network", "engine.training", "Network=Model"),
    **_below("engine.training", "engine.training_v1", "_TrainingEndpoint"),
    **_below("engine.training_utils", "engine.training_utils_v1", _TRAINING_UTILS),
    **_below("layers.convolutional", "layers.convolutional.base_conv", "Conv"),
    **_below(
        "layers.convolutional", "layers.convolutional.base_separable_conv", "SeparableConv"
    ),
    **_below(
        "layers.normalization", "layers.normalization.batch_normalization", "BatchNormalizationBase"
    ),
    **_below(
        "layers.normalization", "layers.normalization.batch_normalization_v1", "BatchNormalization"
    ),
    **_below(
        "layers.normalization", "layers.normalization.layer_normalization", "LayerNormalization"
    ),
    **_below("layers.pooling", "layers.pooling.base_pooling1d", "Pooling1D"),
    **_below("layers.pooling", "layers.pooling.base_pooling2d", "Pooling2D"),
    **_below("layers.pooling", "layers.pooling.base_pooling3d", "Pooling3D"),
    **_below("layers.pooling", "layers.pooling.base_global_pooling1d", "GlobalPooling1D"),
    **_below("layers.pooling", "layers.pooling.base_global_pooling2d", "GlobalPooling2D"),
    **_below("layers.pooling", "layers.pooling.base_global_pooling3d", "GlobalPooling3D"),
    **_below("layers.recurrent", "layers.rnn.dropout_rnn_cell_mixin", "DropoutRNNCellMixin"),
    **_below("layers.recurrent", "layers.rnn.gru_v1", "GRU GRUCell"),
    **_below("layers.recurrent", "layers.rnn.lstm_v1", "LSTM LSTMCell"),
    **_below("layers.recurrent_v2", "layers.rnn.gru", "GRU GRUCell"),
    **_below("layers.recurrent_v2", "layers.rnn.lstm", "LSTM LSTMCell"),
    **_below("losses", "losses", "cosine_proximity=cosine_similarity"),
    **_below("mixed_precision.experimental.policy", "mixed_precision.policy",
             "set_policy=set_global_policy"),
    **_below("models", "models.cloning", "_insert_ancillary_layers"),
    **_below("optimizer_v2.optimizer_v2", "optimizers.legacy.optimizer_v2", "OptimizerV2"),
    **_below("preprocessing.image", "utils.image_utils",
             "array_to_img img_to_array load_img save_img"),
    **_below("preprocessing.sequence", "utils.data_utils", "pad_sequences"),
    **{
        f"{module}.{name}": place
        for module in ("saving", "saving.saved_model", "saving.saved_model_experimental")
        for name, place in _OF_SAVED_MODELS.items()
    },
    "saving.saving_utils.def_function": "tensorflow.python.eager.def_function",
    **_below("utils", "saving.legacy.serialization", _SERIALIZATION),
    **_below("utils.generic_utils", "saving.legacy.serialization", _SERIALIZATION),
    **_below(
        "utils.generic_utils",
        "saving.object_registration",
        "CustomObjectScope custom_object_scope get_custom_objects",
    ),
    **_below("utils.tf_utils", "utils.control_flow_util", "constant_value smart_cond"),
}  # fmt: skip

_MULTI_GPU = (
    "2.1",
    "Build the model in tf.distribute.MirroredStrategy().scope(), or pass the strategy to "
    "RunConfig as train_distribute.",
)
# By name or module below tensorflow.python.keras: the first TensorFlow without it, "" if only
# tf_keras lacks it, and what to write instead.
REMOVED_FROM_KERAS = {
    "engine.data_adapter.expand_1d": (
        "",
        "Write tf.nest.map_structure(lambda x: tf.expand_dims(x, -1) if x.shape.rank == 1 else x, "
        "data).",
    ),
    "engine.network._map_graph_network": (
        "2.3",
        "Write tf_keras.src.engine.functional._map_graph_network(inputs, outputs).",
    ),
    "engine.training._keras_api_gauge": ("2.4", "Leave it out: it counted calls for Google."),
    "engine.training.write_scalar_summaries": (
        "",
        "Write tf.summary.scalar(name, value, step) for each of the logs.",
    ),
    "layers.recurrent.PeepholeLSTMCell": ("", _PEEPHOLES),
    "mixed_precision.experimental.loss_scale_optimizer": (
        "2.4",
        "Write tf.keras.mixed_precision.LossScaleOptimizer(optimizer), with dynamic=False and "
        "initial_scale for a fixed loss scale.",
    ),
    "saving.saving_utils.model_input_signature": (
        "",
        "Write tf_keras.src.saving.legacy.saving_utils.model_call_inputs(model), which returns "
        "positional and keyword arguments.",
    ),
    "testing_utils.should_run_tf_function": (
        "2.3",
        "Write tf.executing_eagerly_outside_functions().",
    ),
    "utils.io_utils.HDF5Matrix": (
        "2.4",
        "Write h5py.File(path)[name], and read its slices in a generator.",
    ),
    "utils.multi_gpu_model": _MULTI_GPU,
    "utils.multi_gpu_utils": _MULTI_GPU,
    "wrappers.scikit_learn": (
        "2.13",
        "Write a class with fit and predict around the model: the package scikeras wraps models of "
        "Keras 3 only.",
    ),
}
