"""Names that only tf.contrib made public; TensorFlow still has the code."""

from __future__ import annotations

# Graphs that reduce tensors of several devices.
from tensorflow.python.distribute.v1 import all_reduce as all_reduce_graphs

# Modes of eager execution, and what TensorFlow does with tensors on another device.
from tensorflow.python.eager import context as eager_modes

# Calls a function after each operation; tf.debugging has only checks that are ready made.
from tensorflow.python.framework import op_callbacks

# Decorators that run a test as a graph and eagerly.
from tensorflow.python.framework import test_util as test_modes

# The operations of a graph, with their definitions.
from tensorflow.python.framework.meta_graph import stripped_op_list_for_graph

# A TensorSpec with a range of values.
from tensorflow.python.framework.tensor_spec import BoundedTensorSpec

# Initializers that keep the norm of what passes through a convolution.
from tensorflow.python.ops import init_ops as v1_initializers

# Reads records in random order: its kernel is public, its class never was.
from tensorflow.python.ops.data_flow_ops import RecordInput

# Triangular matrices and softplus, for parameters of distributions.
from tensorflow.python.ops.distributions import util as distribution_parameters

# Keeps variables of tf.layers' functions between eager calls.
from tensorflow.python.ops.variable_scope import EagerVariableStore

# Initializers that load a matrix whose rows and columns belong to other vocabularies now. Warm
# starting uses them.
from tensorflow.python.training.checkpoint_ops import (
    _load_and_remap_matrix_initializer as load_and_remap_matrix_initializer,
)

# The same, for embeddings.
from tensorflow.python.training.checkpoint_ops import (
    _load_embedding_initializer as load_embedding_initializer,
)

__all__ = [
    "BoundedTensorSpec",
    "EagerVariableStore",
    "RecordInput",
    "all_reduce_graphs",
    "distribution_parameters",
    "eager_modes",
    "load_and_remap_matrix_initializer",
    "load_embedding_initializer",
    "op_callbacks",
    "stripped_op_list_for_graph",
    "test_modes",
    "v1_initializers",
]
