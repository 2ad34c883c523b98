"""Names that only tf.contrib made public; TensorFlow still has the code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

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

# The shape that a tensor holds, as far as it is known when the graph is built.
from tensorflow.python.framework.tensor_util import constant_value_as_shape

# Initializers that keep the norm of what passes through a convolution.
from tensorflow.python.ops import init_ops as v1_initializers

# Reads records in random order: its kernel is public, its class never was.
from tensorflow.python.ops.data_flow_ops import RecordInput

# The inverses of special functions, for quantiles of distributions.
from tensorflow.python.ops.distributions import special_math as distribution_functions

# Triangular matrices and softplus, for parameters of distributions.
from tensorflow.python.ops.distributions import util as distribution_parameters

# Distributions of the softplus of a parameter.
from tensorflow.python.ops.distributions.beta import BetaWithSoftplusConcentration

# Functions of what a distribution draws; the distributions of them are gone.
from tensorflow.python.ops.distributions.bijector_impl import Bijector
from tensorflow.python.ops.distributions.exponential import ExponentialWithSoftplusRate
from tensorflow.python.ops.distributions.gamma import GammaWithSoftplusConcentrationRate
from tensorflow.python.ops.distributions.identity_bijector import Identity as IdentityBijector
from tensorflow.python.ops.distributions.laplace import LaplaceWithSoftplusScale
from tensorflow.python.ops.distributions.normal import NormalWithSoftplusScale
from tensorflow.python.ops.distributions.student_t import StudentTWithAbsDfSoftplusScale

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

# Silences warnings of names that the library itself uses.
from tensorflow.python.util import deprecation

__all__ = [
    "BetaWithSoftplusConcentration",
    "Bijector",
    "BoundedTensorSpec",
    "EagerVariableStore",
    "ExponentialWithSoftplusRate",
    "GammaWithSoftplusConcentrationRate",
    "IdentityBijector",
    "LaplaceWithSoftplusScale",
    "NormalWithSoftplusScale",
    "RecordInput",
    "StudentTWithAbsDfSoftplusScale",
    "all_reduce_graphs",
    "constant_value_as_shape",
    "distribution_functions",
    "distribution_parameters",
    "eager_modes",
    "graph_parents",
    "load_and_remap_matrix_initializer",
    "load_embedding_initializer",
    "op_callbacks",
    "registers_divergence",
    "stripped_op_list_for_graph",
    "test_modes",
    "v1_initializers",
]


def graph_parents(distribution: Any) -> list[Any]:
    """The tensors on which a distribution depends.

    Bijectors have them as a public property, and distributions do not.
    """
    return list(distribution._graph_parents)


def registers_divergence(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator of the divergence of two distributions of a class.

    The public RegisterKL logs a warning of several lines when the module is imported.
    """

    def register(divergence: Callable[..., Any]) -> Callable[..., Any]:
        with deprecation.silence():
            return tf.compat.v1.distributions.RegisterKL(kind, kind)(divergence)

    return register
