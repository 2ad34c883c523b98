"""tf.contrib.framework: scopes of arguments, variables and checkpoints, nested structures."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.legacy.contrib.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scope_func_key,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from estimator_bridge.legacy.contrib.framework import nest
from estimator_bridge.legacy.contrib.framework.assigning import (
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
)
from estimator_bridge.legacy.contrib.framework.deprecating import (
    deprecated,
    deprecated_arg_values,
    deprecated_args,
)
from estimator_bridge.legacy.contrib.framework.finding import (
    add_model_variable,
    filter_variables,
    get_local_variables,
    get_model_variables,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
)
from estimator_bridge.legacy.contrib.framework.steps import (
    VariableDeviceChooser,
    assert_global_step,
    assert_or_get_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_variable,
    local_variable,
    zero_initializer,
)
from estimator_bridge.legacy.contrib.framework.tensors import (
    assert_scalar_int,
    get_name_scope,
    get_placeholders,
    prepend_name_scope,
    reduce_sum_n,
    remove_squeezable_dimensions,
    smart_case,
    smart_cond,
    smart_constant_value,
    strip_name_scope,
    with_same_shape,
    with_shape,
)
from estimator_bridge.legacy.contrib.model_variables import model_variable, variable
from estimator_bridge.legacy.missing import missing_getattr

__all__ = [
    "TensorSpec",
    "VariableDeviceChooser",
    "add_arg_scope",
    "add_model_variable",
    "arg_scope",
    "arg_scope_func_key",
    "arg_scoped_arguments",
    "argsort",
    "assert_global_step",
    "assert_or_get_global_step",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_scalar_int",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "convert_to_tensor_or_sparse_tensor",
    "create_global_step",
    "current_arg_scope",
    "deprecated",
    "deprecated_arg_values",
    "deprecated_args",
    "filter_variables",
    "get_global_step",
    "get_local_variables",
    "get_model_variables",
    "get_name_scope",
    "get_or_create_global_step",
    "get_placeholders",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_variable",
    "has_arg_scope",
    "init_from_checkpoint",
    "is_non_decreasing",
    "is_numeric_tensor",
    "is_strictly_increasing",
    "is_tensor",
    "list_variables",
    "load_checkpoint",
    "load_variable",
    "local_variable",
    "model_variable",
    "nest",
    "prepend_name_scope",
    "reduce_sum_n",
    "remove_squeezable_dimensions",
    "smart_case",
    "smart_cond",
    "smart_constant_value",
    "sort",
    "strip_name_scope",
    "variable",
    "with_same_shape",
    "with_shape",
    "zero_initializer",
]

_v1 = tf.compat.v1

TensorSpec = tf.TensorSpec
argsort = tf.argsort
assert_same_float_dtype = _v1.debugging.assert_same_float_dtype
assert_scalar = _v1.assert_scalar
convert_to_tensor_or_sparse_tensor = _v1.convert_to_tensor_or_sparse_tensor
init_from_checkpoint = _v1.train.init_from_checkpoint
is_non_decreasing = _v1.is_non_decreasing
is_numeric_tensor = _v1.is_numeric_tensor
is_strictly_increasing = _v1.is_strictly_increasing
is_tensor = tf.is_tensor
list_variables = _v1.train.list_variables
load_checkpoint = _v1.train.load_checkpoint
load_variable = _v1.train.load_variable
sort = tf.sort

_REMAP = (
    "is not there. Use tf.estimator.WarmStartSettings with a VocabInfo, which maps rows by their "
    "vocabularies."
)

__getattr__ = missing_getattr(
    __name__,
    {
        "RecordInput": "is not there. Use tf.data.TFRecordDataset with shuffle and batch.",
        "fuse_op": "fused operations for mobile devices, and is not there. Use tf.lite.",
        "load_and_remap_matrix_initializer": _REMAP,
        "load_linear_multiclass_bias_initializer": _REMAP,
        "load_variable_slot_initializer": _REMAP,
        "print_op": "is not there. Use tf.compat.v1.Print(input, [input]), or tf.print.",
        "py_func": "is not there. Use tf.compat.v1.py_func, or tf.numpy_function.",
    },
    "tf.contrib.framework",
)
