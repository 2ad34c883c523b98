"""``tf.contrib.layers``: layers that make their variables in the current variable scope."""

from estimator_bridge.legacy.contrib.layers import utils
from estimator_bridge.legacy.contrib.layers.activations import (
    bias_add,
    dropout,
    maxout,
    poincare_normalize,
    scale_gradient,
    softmax,
    spatial_softmax,
    unit_norm,
)
from estimator_bridge.legacy.contrib.layers.batch_norm import batch_norm
from estimator_bridge.legacy.contrib.layers.composition import repeat, stack
from estimator_bridge.legacy.contrib.layers.convolution import (
    conv1d,
    conv2d,
    conv3d,
    convolution,
    convolution1d,
    convolution2d,
    convolution3d,
)
from estimator_bridge.legacy.contrib.layers.dense import (
    elu,
    fully_connected,
    linear,
    relu,
    relu6,
)
from estimator_bridge.legacy.contrib.layers.dense_legacy import (
    legacy_fully_connected,
    legacy_linear,
    legacy_relu,
)
from estimator_bridge.legacy.contrib.layers.depthwise import (
    conv2d_in_plane,
    convolution2d_in_plane,
    separable_conv2d,
    separable_convolution2d,
)
from estimator_bridge.legacy.contrib.layers.embedding import (
    bow_encoder,
    embed_sequence,
    embedding_lookup_unique,
    safe_embedding_lookup_sparse,
)
from estimator_bridge.legacy.contrib.layers.feature_columns import (
    bucketized_column,
    create_feature_spec_for_parsing,
    crossed_column,
    embedding_column,
    one_hot_column,
    real_valued_column,
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sparse_column_with_vocabulary_file,
    weighted_sparse_column,
)
from estimator_bridge.legacy.contrib.layers.gradients import adaptive_clipping_fn
from estimator_bridge.legacy.contrib.layers.initializers import (
    variance_scaling_initializer,
    xavier_initializer,
    xavier_initializer_conv2d,
)
from estimator_bridge.legacy.contrib.layers.missing import MISSING
from estimator_bridge.legacy.contrib.layers.normalization import (
    group_norm,
    instance_norm,
    layer_norm,
)
from estimator_bridge.legacy.contrib.layers.optimize_loss import (
    OPTIMIZER_CLS_NAMES,
    OPTIMIZER_SUMMARIES,
    optimize_loss,
)
from estimator_bridge.legacy.contrib.layers.pooling import (
    avg_pool2d,
    avg_pool3d,
    max_pool2d,
    max_pool3d,
    pool,
)
from estimator_bridge.legacy.contrib.layers.regularizers import (
    apply_regularization,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    sum_regularizer,
)
from estimator_bridge.legacy.contrib.layers.reshaping import (
    dense_to_sparse,
    flatten,
    images_to_sequence,
    one_hot_encoding,
    sequence_to_images,
)
from estimator_bridge.legacy.contrib.layers.summaries import (
    summarize_activation,
    summarize_activations,
    summarize_biases,
    summarize_collection,
    summarize_tensor,
    summarize_tensors,
    summarize_variables,
    summarize_weights,
)
from estimator_bridge.legacy.contrib.layers.transposed import (
    conv2d_transpose,
    conv3d_transpose,
    convolution2d_transpose,
    convolution3d_transpose,
)
from estimator_bridge.legacy.missing import missing_getattr

__getattr__ = missing_getattr(__name__, MISSING, "tf.contrib.layers")

__all__ = [
    "OPTIMIZER_CLS_NAMES",
    "OPTIMIZER_SUMMARIES",
    "adaptive_clipping_fn",
    "apply_regularization",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bias_add",
    "bow_encoder",
    "bucketized_column",
    "conv1d",
    "conv2d",
    "conv2d_in_plane",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "convolution",
    "convolution1d",
    "convolution2d",
    "convolution2d_in_plane",
    "convolution2d_transpose",
    "convolution3d",
    "convolution3d_transpose",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "dense_to_sparse",
    "dropout",
    "elu",
    "embed_sequence",
    "embedding_column",
    "embedding_lookup_unique",
    "flatten",
    "fully_connected",
    "group_norm",
    "images_to_sequence",
    "instance_norm",
    "l1_l2_regularizer",
    "l1_regularizer",
    "l2_regularizer",
    "layer_norm",
    "legacy_fully_connected",
    "legacy_linear",
    "legacy_relu",
    "linear",
    "max_pool2d",
    "max_pool3d",
    "maxout",
    "one_hot_column",
    "one_hot_encoding",
    "optimize_loss",
    "poincare_normalize",
    "pool",
    "real_valued_column",
    "relu",
    "relu6",
    "repeat",
    "safe_embedding_lookup_sparse",
    "scale_gradient",
    "separable_conv2d",
    "separable_convolution2d",
    "sequence_to_images",
    "softmax",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "spatial_softmax",
    "stack",
    "sum_regularizer",
    "summarize_activation",
    "summarize_activations",
    "summarize_biases",
    "summarize_collection",
    "summarize_tensor",
    "summarize_tensors",
    "summarize_variables",
    "summarize_weights",
    "unit_norm",
    "utils",
    "variance_scaling_initializer",
    "weighted_sparse_column",
    "xavier_initializer",
    "xavier_initializer_conv2d",
]
