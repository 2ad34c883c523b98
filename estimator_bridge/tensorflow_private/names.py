"""Private names of TensorFlow that are used unchanged, each with its reason."""

from __future__ import annotations

# Where XLA compiles the traced code, the gradient of tf.slice uses one of these operations. The sum
# over replicas and the replica's ID have no public XLA operations.
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

# A dataset's options in its graph: whether it may reorder its elements.
from tensorflow.core.framework import dataset_options_pb2 as dataset_options

# An entry of a MetaGraphDef's collections of variables; it says of which kind the variable is.
from tensorflow.core.framework.variable_pb2 import VariableDef

# The message in saved_model.pb, which tf.contrib.saved_model.reader returns.
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

# The checkpoints that tf.contrib.learn's monitors look for; as with the log, tests replace it.
from tensorflow.python.checkpoint import checkpoint_management

# Saver.save and the hooks of old programs check isinstance(session, SessionInterface).
from tensorflow.python.client.session import SessionInterface

# A batch that is split inside a tf.function reaches strategy.run as PerReplica; the public
# experimental_distribute_values_from_function works outside functions only.
from tensorflow.python.distribute.values import PerReplica

# Its ``execute`` runs a function by its name. The public call of a function makes checks first, and
# the context's call_function makes the settings of the execution again each time.
from tensorflow.python.eager import execute as eager_execution

# Multi-process collectives are configured when TensorFlow is initialized. With v2 behavior off, the
# strategy's constructor initializes TensorFlow without them.
from tensorflow.python.eager.context import _reset_context as reset_eager_context

# The TF2 side (datasets, strategies, tf.function) runs eagerly even after the program called
# tf.compat.v1.disable_v2_behavior(); no public API switches one block of code. The functions that a
# lifted graph calls are registered with the context too: import_graph_def registers them with the
# graph only, so that no other function could call them.
from tensorflow.python.eager.context import context as eager_context
from tensorflow.python.eager.context import eager_mode

# The classes of feature columns, from which those of tf.contrib.layers derive; the public API has
# only the functions that create them.
from tensorflow.python.feature_column import feature_column_v2 as feature_columns

# The function that makes each constant of a graph: tf.constant and tf.convert_to_tensor end there.
from tensorflow.python.framework import ops as graph_operations

# The shapes in a dataset's function: the public import of a GraphDef takes no function apart.
from tensorflow.python.framework.function_def_to_graph import function_def_to_graph

# What Session.run returns for IndexedSlices; it never had a public name.
from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

# An op's statefulness and outputs; the public raw_ops do not expose them.
from tensorflow.python.framework.op_def_registry import get as op_def

# Reads a TFRecord at a byte: public readers stop at the first damaged record.
from tensorflow.python.lib.io.tf_record import tf_record_random_reader

# Branches and loops are built differently where XLA compiles the traced code. A control flow
# context marks that (see below), and only tf.function and tf.compat.v1.tpu.replicate enter it.
#
# The index tables of tf.contrib.lookup lost their public names. Exported graphs hold these tables,
# and out-of-vocabulary IDs depend on them.
from tensorflow.python.ops import control_flow_util_v2, lookup_ops

# The functions of tf.contrib.summary; no public function writes the same events.
from tensorflow.python.ops import summary_ops_v2 as contrib_summary

# The k-means graph: its kernels are public, and the code that uses them never was.
from tensorflow.python.ops.clustering_ops import KMeans as KMeansGraph
from tensorflow.python.ops.control_flow_ops import XLAControlFlowContext

# A barrier, in which tf.contrib.training's batches of sequences wait for their states: its kernels
# are public, and the class that uses them lost its name.
#
# tf.contrib.staging's buffer: the same.
from tensorflow.python.ops.data_flow_ops import Barrier, StagingArea

# Four counts in one scope, whose variables tf.contrib.metrics names so; public metrics each open
# a scope of their own.
from tensorflow.python.ops.metrics_impl import (
    _confusion_matrix_at_thresholds as confusion_matrix_at_thresholds,
)

# The average precision of classes that are already ranked; the public metric ranks scores.
from tensorflow.python.ops.metrics_impl import (
    _streaming_sparse_average_precision_at_top_k as average_precision_at_top_k,
)

# TF1 programs test a variable's truth value to see whether it exists; TF2 variables raise there. A
# TF1 graph runs its own initializers, so its variables must start uninitialized.
from tensorflow.python.ops.resource_variable_ops import (
    BaseResourceVariable,
    UninitializedVariable,
)

# The log of tf.contrib.learn's monitors, whose functions TensorFlow 1's own tests replace; the
# public alias would not see that.
from tensorflow.python.platform import tf_logging

# Estimator's export module, which libraries import; TensorFlow kept it without a public name.
from tensorflow.python.saved_model import model_utils as saved_model_utils

# The classes of TPU embedding columns; the public API has only the functions that create them.
from tensorflow.python.tpu import feature_column_v2 as tpu_feature_columns

# Loops for tpu.rewrite, which never had a public name outside of tf.contrib.
from tensorflow.python.tpu import training_loop as tpu_training_loop

# A TPU's infeed and outfeed, for programs without TPUEstimator; public only in tf.contrib.
from tensorflow.python.tpu.ops import tpu_ops
from tensorflow.python.tpu.tpu_feed import InfeedQueue as TPUInfeedQueue

# TensorFlow's and users' CrossShardOptimizer read the number of shards from this context.
from tensorflow.python.tpu.tpu_function import get_tpu_context

# Returns the read of the global step that TensorFlow's hooks fetch, None if not created.
from tensorflow.python.training.training_util import (
    _get_global_step_read as existing_global_step_read,
)

# The original reads the global step through this before model_fn runs. Op-level seeds depend on the
# number of operations created before, so this one counts.
from tensorflow.python.training.training_util import (
    _get_or_create_global_step_read as global_step_read,
)

# The arguments of a function as Estimator saw them, which libraries import from its module util.
# tf.contrib.framework.nest; the public tf.nest has only five of its functions.
from tensorflow.python.util import function_utils, nest

__all__ = [
    "Barrier",
    "BaseResourceVariable",
    "IndexedSlicesValue",
    "KMeansGraph",
    "PerReplica",
    "SavedModel",
    "SessionInterface",
    "StagingArea",
    "TPUInfeedQueue",
    "UninitializedVariable",
    "VariableDef",
    "XLAControlFlowContext",
    "average_precision_at_top_k",
    "checkpoint_management",
    "confusion_matrix_at_thresholds",
    "contrib_should_record_summaries",
    "contrib_summary",
    "control_flow_util_v2",
    "dataset_options",
    "eager_context",
    "eager_execution",
    "eager_mode",
    "existing_global_step_read",
    "feature_columns",
    "function_def_to_graph",
    "function_utils",
    "gen_xla_ops",
    "get_tpu_context",
    "global_step_read",
    "graph_operations",
    "lookup_ops",
    "nest",
    "op_def",
    "reset_eager_context",
    "saved_model_utils",
    "tf_logging",
    "tf_record_random_reader",
    "tpu_feature_columns",
    "tpu_ops",
    "tpu_training_loop",
]

# tf.contrib.summary records nothing by default; tf.summary does.
contrib_should_record_summaries = contrib_summary._legacy_contrib_should_record_summaries
