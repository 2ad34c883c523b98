"""The one table of TensorFlow's private names that old programs import.

`estimator-bridge run`, `install()`, `check` and `rewrite` read it. It loads no TensorFlow. All
names are below tensorflow.python. A place is a full name, or starts with "tf1.": a public name of
tf.compat.v1.
"""

from __future__ import annotations

from estimator_bridge.legacy.tf1.private_keras import (
    MODULES_OF_KERAS,
    NAMES_OF_KERAS,
    REMOVED_FROM_KERAS,
)

__all__ = [
    "MODULES",
    "NAMES",
    "NAMESPACES",
    "REMOVED",
    "ROOT",
    "V1_NAMES",
    "advice_on",
    "place_of",
    "v1_place_of",
]

ROOT = "tensorflow.python."
_PYTHON = "tensorflow.python"
_HERE = "estimator_bridge.legacy.tf1.removed_functions"

# Modules that have moved; modules below them are below the new path. The longest matching path
# applies.
MODULES = {
    **{f"keras{path}": place for path, place in MODULES_OF_KERAS.items()},
    "data.experimental.ops.distribute_options": f"{_PYTHON}.data.ops.options",
    "distribute.all_reduce": f"{_PYTHON}.distribute.v1.all_reduce",
    "distribute.distribution_strategy_context": "tf1.distribute",
    "distribute.estimator_training": "estimator_bridge.legacy.tf1.estimator_training",
    "errors_impl": f"{_PYTHON}.framework.errors_impl",
    "feature_column.dense_features": "tf_keras.src.feature_column.dense_features",
    "feature_column.dense_features_v2": "tf_keras.src.feature_column.dense_features_v2",
    "layers.base": "tf_keras.src.legacy_tf_layers.base",
    "layers.convolutional": "tf_keras.src.legacy_tf_layers.convolutional",
    "layers.core": "tf_keras.src.legacy_tf_layers.core",
    "layers.layers": "tf1.layers",
    "layers.normalization": "tf_keras.src.legacy_tf_layers.normalization",
    "layers.pooling": "tf_keras.src.legacy_tf_layers.pooling",
    "ops.losses.loss_reduction": "tf1.keras.losses",
    "ops.rnn_cell": "tf1.nn.rnn_cell",
    "ops.rnn_cell_impl": "tf_keras.src.layers.rnn.legacy_cells",
    "platform.parameterized": "absl.testing.parameterized",
    "training.checkpointable": f"{_PYTHON}.trackable",
    "training.distribute": "tf1.distribute",
    "training.distribution_strategy_context": "tf1.distribute",
    "training.tracking": f"{_PYTHON}.trackable",
    "training.tracking.graph_view": f"{_PYTHON}.checkpoint.graph_view",
    "training.tracking.object_identity": f"{_PYTHON}.util.object_identity",
    "training.tracking.tracking": f"{_PYTHON}.trackable.autotrackable",
    "training.tracking.util": f"{_PYTHON}.checkpoint.checkpoint",
    "training.training_ops": f"{_PYTHON}.ops.gen_training_ops",
}

# By prefix of a module's path: the namespace of tf.compat.v1 with its public names.
NAMESPACES = {
    "client.device_lib": "config",
    "data": "data",
    "distribute": "distribute",
    "eager.context": "config",
    "feature_column": "feature_column",
    "framework.graph_util": "graph_util",
    "layers": "layers",
    "lib.io": "python_io",
    "ops.image_ops": "image",
    "ops.init_ops": "initializers",
    "ops.linalg": "linalg",
    "ops.lookup_ops": "lookup",
    "ops.losses": "losses",
    "ops.metrics": "metrics",
    "ops.nn": "nn",
    "ops.parsing_ops": "io",
    "ops.random_ops": "random",
    "ops.rnn_cell": "nn.rnn_cell",
    "ops.rnn": "nn",
    "ops.sparse_ops": "sparse",
    "ops.string_ops": "strings",
    "ops.summary": "summary",
    "ops": "math",
    "platform.gfile": "gfile",
    "platform.tf_logging": "logging",
    "pywrap_tensorflow": "train",
    "saved_model": "saved_model",
    "summary": "summary",
    "tpu": "tpu",
    "training": "train",
    "util": "nest",
}


def _below(module: str, place: str, names: str) -> dict[str, str]:
    """Returns the places of a module's names, whose new name follows "=" if it differs."""
    pairs = (word.partition("=") for word in names.split())
    return {f"{module}.{old}": f"{place}.{new or old}" for old, _, new in pairs}


# Names that have moved, or have an equivalent.
NAMES = {
    **{f"keras.{name}": place for name, place in NAMES_OF_KERAS.items()},
    "context": f"{_PYTHON}.eager.context",
    **_below("data.experimental.ops.sleep", f"{_PYTHON}.data.experimental.ops.testing", "sleep"),
    **_below("data.ops.dataset_ops", f"{_PYTHON}.data.ops.map_op", "MapDataset=_MapDataset"),
    **_below("data.ops.dataset_ops", f"{_PYTHON}.data.ops.zip_op", "ZipDataset=_ZipDataset"),
    **_below("data.ops.dataset_ops", "tf1.data", "Options"),
    **_below(
        "distribute.cross_device_ops",
        f"{_PYTHON}.distribute.cross_device_ops",
        "choose_the_best=select_cross_device_ops",
    ),
    **_below(
        "distribute.distribution_strategy_context",
        f"{_PYTHON}.distribute.distribute_lib",
        "get_cross_replica_context",
    ),
    **_below(
        "distribute.input_lib",
        f"{_PYTHON}.distribute.input_util",
        "get_distributed_datasets_from_function",
    ),
    **_below(
        "distribute.input_lib",
        f"{_PYTHON}.distribute.v1.input_lib",
        "DatasetIterator InputFunctionIterator",
    ),
    **_below("distribute.values", f"{_PYTHON}.distribute.ps_values", "AggregatingVariable"),
    **_below("distribute.values", f"{_PYTHON}.distribute.tpu_values", "TPUMirroredVariable"),
    **_below(
        "distribute.values",
        f"{_PYTHON}.distribute.distribute_utils",
        "select_replica validate_colocate_distributed_variable value_container",
    ),
    **_below("eager.function", "tf1", "defun=function"),
    **_below("eager.tape", f"{_PYTHON}.eager.record", "record_operation stop_recording"),
    **_below(
        "feature_column.feature_column_lib",
        "tf_keras.src.feature_column.dense_features",
        "DenseFeatures",
    ),
    **_below(
        "feature_column.feature_column_v2",
        f"{_PYTHON}.feature_column.feature_column_v2_types",
        "FeatureColumn",
    ),
    **_below("framework.common_shapes", _HERE, "unknown_shape"),
    **_below("framework.graph_util", "tf1.graph_util", "convert_variables_to_constants"),
    **_below("framework.ops", _HERE, "RegisterShape"),
    **_below("framework.ops", "tf1", "IndexedSlices Tensor register_tensor_conversion_function"),
    **_below("framework.ops", f"{_PYTHON}.framework.tensor_conversion", "convert_to_tensor_v2"),
    **_below("framework.tensor_shape", _HERE, "matrix scalar vector"),
    **_below("layers.base", "tf_keras.src.engine.input_spec", "InputSpec"),
    # TensorFlow's own module is there, and looks for its names where tf_keras had them once.
    **_below(
        "layers.normalization",
        "tf_keras.src.legacy_tf_layers.normalization",
        "BatchNormalization BatchNorm=BatchNormalization batch_normalization "
        "batch_norm=batch_normalization",
    ),
    **_below(
        "ops.array_ops",
        f"{_PYTHON}.ops.tensor_getitem_override",
        "_SliceHelperVar=_slice_helper_var",
    ),
    **_below("ops.array_ops", "tf1", "stack unstack"),
    **_below("ops.control_flow_ops", f"{_PYTHON}.ops.control_flow_case", "_case_helper"),
    **_below("ops.control_flow_ops", f"{_PYTHON}.ops.while_loop", "while_loop_v2"),
    **_below("ops.control_flow_ops", "tf1", "Assert case cond while_loop"),
    **_below("ops.resource_variable_ops", _HERE, "_from_proto_fn=variable_of_proto"),
    **_below("ops.resource_variable_ops", _HERE, "_to_proto_fn=proto_of_variable"),
    **_below(
        "ops.rnn_cell_impl",
        "tf_keras.src.layers.rnn.legacy_cell_wrappers",
        "assert_like_rnncell",
    ),
    **_below(
        "ops.variable_scope",
        "tf1",
        "disable_resource_variables enable_resource_variables resource_variables_enabled "
        "variable=Variable",
    ),
    **_below("ops.variables", f"{_PYTHON}.ops.ref_variable", "RefVariable"),
    **_below("ops.variables", "tf1", "VariableV1=Variable"),
    **_below("pywrap_tensorflow", f"{_PYTHON}.client._pywrap_events_writer", "EventsWriter"),
    **_below(
        "pywrap_tensorflow",
        f"{_PYTHON}.client.pywrap_tf_session",
        "EqualGraphDefWrapper TF_GetAllOpList TF_GetBuffer TF_TryEvaluateConstant_wrapper",
    ),
    **_below(
        "pywrap_tensorflow",
        f"{_PYTHON}.pywrap_tfe",
        "TFE_ContextGetDevicePlacementPolicy TFE_Py_FastPathExecute",
    ),
    **_below("pywrap_tensorflow", "tf1.train", "NewCheckpointReader"),
    **_below(
        "saved_model.loader_impl",
        f"{_PYTHON}.saved_model.loader_impl",
        "_parse_saved_model=parse_saved_model",
    ),
    **_below(
        "saved_model.load", f"{_PYTHON}.trackable.resource", "_RestoredResource=RestoredResource"
    ),
    **_below(
        "saved_model.utils_impl",
        f"{_PYTHON}.saved_model.path_helpers",
        "get_or_create_variables_dir get_variables_path",
    ),
    **_below("tpu.tpu", f"{_PYTHON}.tpu.tpu_replication", "outside_compilation"),
    **_below(
        "tpu.tpu_embedding",
        "estimator_bridge.tpu_embedding_parameters",
        "AdagradParameters AdamParameters StochasticGradientDescentParameters",
    ),
    **_below(
        "training.distribution_strategy_context",
        "tf1.distribute",
        "has_distribution_strategy=has_strategy",
    ),
    **_below("training.tracking.tracking", f"{_PYTHON}.trackable.asset", "TrackableAsset=Asset"),
    **_below(
        "training.tracking.tracking",
        f"{_PYTHON}.trackable.resource",
        "ResourceTracker TrackableResource resource_tracker_scope",
    ),
    **_below("util.nest", "tf1.nest", "is_sequence=is_nested"),
    **_below(
        "util.nest",
        f"{_PYTHON}.util.nest",
        "_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ=IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ",
    ),
    **_below(
        "util.nest",
        f"{_PYTHON}.util.nest_util",
        "_DOT _SHALLOW_TREE_HAS_INVALID_KEYS=SHALLOW_TREE_HAS_INVALID_KEYS "
        "_STRUCTURES_HAVE_MISMATCHING_LENGTHS=STRUCTURES_HAVE_MISMATCHING_LENGTHS "
        "_STRUCTURES_HAVE_MISMATCHING_TYPES=STRUCTURES_HAVE_MISMATCHING_TYPES",
    ),
    **_below(
        "util.tf_export",
        "estimator_bridge.legacy.library.estimator_export",
        "estimator_export",
    ),
}

# Names that TensorFlow has, but binds to the TF2 version when it is imported. In TF1 each is this
# public name.
V1_NAMES = {
    **_below(
        "data", "tf1.data", "Dataset FixedLengthRecordDataset TFRecordDataset TextLineDataset"
    ),
    **_below(
        "data.experimental",
        "tf1.data.experimental",
        "Counter CsvDataset RandomDataset SqlDataset choose_from_datasets "
        "make_batched_features_dataset make_csv_dataset sample_from_datasets",
    ),
    **_below("framework.device", "tf1", "DeviceSpec"),
}

_EMBEDDING = (
    "estimator_bridge.tpu.experimental.EmbeddingConfigSpec, which TPUEstimator takes as "
    "embedding_config_spec"
)
_PROFILER = "tf.profiler.experimental"
# Names and modules that have no equivalent: the first version of TensorFlow without them, and what
# to write. The advice on a module is that on its names, too.
REMOVED = {
    **{f"keras.{name}": advice for name, advice in REMOVED_FROM_KERAS.items()},
    "autograph.core.converter.EntityContext": (
        "2.3",
        "Write tensorflow.python.autograph.pyct.transformer.Context.",
    ),
    "autograph.core.converter.standard_analysis": (
        "2.3",
        "Call tensorflow.python.autograph.pyct.static_analysis.activity.resolve and its siblings, "
        "or write tf.autograph.to_code.",
    ),
    "autograph.core.naming": ("2.3", "Write tensorflow.python.autograph.pyct.naming.Namer."),
    "autograph.pyct.compiler": ("2.2", "Write tensorflow.python.autograph.pyct.loader.load_ast."),
    "data.experimental.ops.threadpool": (
        "2.6",
        "Set options.threading.private_threadpool_size of tf.data.Options.",
    ),
    "distribute.cross_device_utils.build_collective_gather": (
        "2.4",
        "Write tf.distribute.get_replica_context().all_gather(value, axis=0).",
    ),
    "distribute.cross_device_utils.build_collective_reduce": (
        "2.4",
        "Write tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, value).",
    ),
    "distribute.estimator_training.train_and_evaluate": (
        "2.16",
        "Write tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec): it reads "
        "TF_CONFIG and needs no coordinator.",
    ),
    "distribute.input_lib.get_distributed_dataset": (
        "2.8",
        "Write strategy.experimental_distribute_dataset(dataset).",
    ),
    **dict.fromkeys(
        (
            "distribute.values.LogicalDeviceSpec",
            "distribute.values.ReplicaDeviceMap",
            "distribute.values.SingleDeviceMap",
        ),
        ("2.2", "Leave it out: distributed values have no device map. Write value.values."),
    ),
    **dict.fromkeys(
        ("distribute.values.regroup", "distribute.values.update_regroup"),
        (
            "2.3",
            "Write tensorflow.python.distribute.distribute_utils.regroup or update_regroup, "
            "without device_map.",
        ),
    ),
    "distribute.values.select_device_mirrored": (
        "2.2",
        "Write tensorflow.python.distribute.distribute_utils.select_replica(replica_id, "
        "structured).",
    ),
    "eager.function.Function": ("2.14", "Write tf.function(...), whose result is callable."),
    "eager.function.defun_with_attributes": (
        "2.13",
        "Write tf.function(func, input_signature, experimental_attributes=attributes).",
    ),
    "eager.function.register": (
        "2.12",
        "Write func.get_concrete_function(*arguments).add_to_graph().",
    ),
    "eager.profiler": (
        "2.20",
        f"Write {_PROFILER}.start(logdir) and {_PROFILER}.stop(), which writes the profile.",
    ),
    "eager.profiler.Profiler": ("2.20", f"Write {_PROFILER}.Profile(logdir)."),
    "eager.profiler.start_profiler_server": ("2.20", f"Write {_PROFILER}.server.start(port)."),
    "eager.profiler_client": (
        "2.20",
        f"Write {_PROFILER}.client.trace(service_addr, logdir, duration_ms).",
    ),
    "framework.op_def_library.OpDefLibrary": (
        "2.1",
        "Write tensorflow.python.framework.op_def_library.apply_op(op_type_name, **arguments).",
    ),
    **dict.fromkeys(
        (
            "framework.op_def_registry._registered_ops",
            "framework.op_def_registry.get_registered_ops",
        ),
        (
            "2.1",
            "For one operation write tensorflow.python.framework.op_def_registry.get(name), which "
            "returns its OpDef or None.",
        ),
    ),
    "framework.op_def_registry.register_op_list": (
        "2.1",
        "Leave it out: tf.load_op_library registers the operations of a library.",
    ),
    "framework.ops._TensorLike": ("2.3", "Write tf.is_tensor(value) for the isinstance."),
    "framework.ops.register_dense_tensor_like_type": (
        "2.3",
        "Leave it out, and write tf.register_tensor_conversion_function(tensor_type, function).",
    ),
    "ops.functional_ops.partitioned_call": (
        "2.13",
        "Write tf.raw_ops.PartitionedCall(args=args, Tout=tout, f=f), or call the tf.function.",
    ),
    "pywrap_tensorflow.PyRecordReader_New": (
        "2.2",
        "Write tf.compat.v1.python_io.tf_record_iterator(path).",
    ),
    "saved_model.load.load_internal": ("2.9", "Write tf.saved_model.load(export_dir, tags)."),
    "saved_model.nested_structure_coder.StructureCoder": (
        "2.8",
        "Its methods are functions now: write nested_structure_coder.encode_structure(structure), "
        "decode_proto(proto) and can_encode(structure).",
    ),
    "tpu.profiler.profiler_analysis_pb2_grpc": (
        "2.13",
        f"Write {_PROFILER}.client.trace(service_addr, logdir, duration_ms).",
    ),
    "tpu.tpu_embedding": ("2.16", f"Write {_EMBEDDING}."),
    "training.experimental.loss_scale.get_loss_scale_weights": (
        "2.4",
        "Leave it out: save the LossScaleOptimizer, which tracks its own loss scale.",
    ),
    "util.deprecation_wrapper": (
        "2.13",
        "Write tensorflow.python.util.module_wrapper.TFModuleWrapper.",
    ),
}


def place_of(name: str) -> str | None:
    """Returns the place of a name of `NAMES`.

    Args:
      name: a full name: "tensorflow.python.util.nest.is_sequence".

    Returns:
      Its place; None for names without a row.
    """
    return NAMES.get(name[len(ROOT) :]) if name.startswith(ROOT) else None


def v1_place_of(name: str) -> str | None:
    """Returns what a name of `V1_NAMES` is in TF1.

    Args:
      name: the full name of a module, of a name in one, or of an attribute of that.

    Returns:
      The name below "tf1"; None for other names.
    """
    parts = name[len(ROOT) :].split(".") if name.startswith(ROOT) else []
    for end in range(len(parts), 0, -1):
        place = V1_NAMES.get(".".join(parts[:end]))
        if place is not None:
            return ".".join([place, *parts[end:]])
    return None


def advice_on(name: str) -> str | None:
    """Returns the version in which a name went, and what to write instead.

    Args:
      name: the full name of a module or a name in one.

    Returns:
      Two sentences; None for names that are neither in `REMOVED` nor below a module there.
    """
    below = name[len(ROOT) :] if name.startswith(ROOT) else ""
    if below in NAMES:
        return None
    while below:
        if below in REMOVED:
            version, instead = REMOVED[below]
            reason = (
                f"TensorFlow {version} removed it" if version else "The package tf_keras lacks it"
            )
            return f"{reason}. {instead}"
        below = below.rpartition(".")[0]
    return None
