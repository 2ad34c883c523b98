"""Private names of TensorFlow that are used as they are, each with the reason."""

from __future__ import annotations

# The gradient of tf.slice takes an operation of these where XLA compiles what is traced. A sum over
# replicas, and a replica's number, are lowered to XLA by operations without a public name.
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

# A dataset's options, as its graph has them: whether it may give its elements in another order.
from tensorflow.core.framework import dataset_options_pb2 as dataset_options

# Saver.save and the hooks of old programs check isinstance(session, SessionInterface).
from tensorflow.python.client.session import SessionInterface

# A batch that is split inside a tf.function reaches strategy.run as PerReplica; the public
# experimental_distribute_values_from_function works outside functions only.
from tensorflow.python.distribute.values import PerReplica

# Collectives over several processes are a setting of TensorFlow's start, and where v2 behavior is
# off the constructor of the strategy that needs them starts TensorFlow without.
from tensorflow.python.eager.context import _reset_context as reset_eager_context

# The TF2 side (datasets, strategies, tf.function) runs eagerly even where the program called
# tf.compat.v1.disable_v2_behavior(); there is no public switch for one block of code.
# Functions that a lifted graph calls are made known to it too: import_graph_def makes them known
# to the graph alone, which runs as long as nothing but that graph's own program calls them.
from tensorflow.python.eager.context import context as eager_context
from tensorflow.python.eager.context import eager_mode

# What Session.run returns for IndexedSlices; it never had a public name.
from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

# Whether an op is stateful and what it returns; the public raw_ops do not tell.
from tensorflow.python.framework.op_def_registry import get as op_def

# How branches and loops become operations depends on whether XLA compiles what is traced. That is
# known from a context (see below), which only tf.function and tf.compat.v1.tpu.replicate enter.
#
# The index tables of tf.contrib.lookup lost their public names; the graphs of exported models have
# these tables, and ids out of the vocabulary are theirs.
from tensorflow.python.ops import control_flow_util_v2, lookup_ops

# The functions of tf.contrib.summary are still there, and no others write events like theirs.
from tensorflow.python.ops import summary_ops_v2 as contrib_summary

# The graph of k-means, whose kernels are public and whose use of them never was.
from tensorflow.python.ops.clustering_ops import KMeans as KMeansGraph
from tensorflow.python.ops.control_flow_ops import XLAControlFlowContext

# TF1 programs ask whether there is a variable by its truth, which raises for those of today.
# A TF1 graph runs its own initializers, so its variables must start uninitialized.
from tensorflow.python.ops.resource_variable_ops import (
    BaseResourceVariable,
    UninitializedVariable,
)

# What libraries import of Estimator's module of exports: TensorFlow kept it, without a public
# name.
from tensorflow.python.saved_model import model_utils as saved_model_utils

# The columns of TPU embeddings, to know them again; the public API has only what makes them.
from tensorflow.python.tpu import feature_column_v2 as tpu_feature_columns

# Loops that a program for tpu.rewrite builds; they never had a public name outside of tf.contrib.
from tensorflow.python.tpu import training_loop as tpu_training_loop

# A TPU's infeed and outfeed, as programs without TPUEstimator name them. Of the same kind.
from tensorflow.python.tpu.ops import tpu_ops
from tensorflow.python.tpu.tpu_feed import InfeedQueue as TPUInfeedQueue

# TensorFlow's and users' CrossShardOptimizer read the number of shards from this context.
from tensorflow.python.tpu.tpu_function import get_tpu_context

# The same, None where it has not been made: hooks of TensorFlow's fetch it when they are called.
from tensorflow.python.training.training_util import (
    _get_global_step_read as existing_global_step_read,
)

# The original reads the global step through this before model_fn runs; the op-level seeds of all
# that follows count its operations.
from tensorflow.python.training.training_util import (
    _get_or_create_global_step_read as global_step_read,
)

# The arguments of a function as Estimator saw them, which libraries import from its module util.
# tf.contrib.framework.nest: the public tf.nest has five of its functions.
from tensorflow.python.util import function_utils, nest

__all__ = [
    "BaseResourceVariable",
    "IndexedSlicesValue",
    "KMeansGraph",
    "PerReplica",
    "SessionInterface",
    "TPUInfeedQueue",
    "UninitializedVariable",
    "XLAControlFlowContext",
    "contrib_should_record_summaries",
    "contrib_summary",
    "control_flow_util_v2",
    "dataset_options",
    "eager_context",
    "eager_mode",
    "existing_global_step_read",
    "function_utils",
    "gen_xla_ops",
    "get_tpu_context",
    "global_step_read",
    "lookup_ops",
    "nest",
    "op_def",
    "reset_eager_context",
    "saved_model_utils",
    "tpu_feature_columns",
    "tpu_ops",
    "tpu_training_loop",
]

# tf.contrib.summary records nothing where nothing was said; tf.summary does.
contrib_should_record_summaries = contrib_summary._legacy_contrib_should_record_summaries
