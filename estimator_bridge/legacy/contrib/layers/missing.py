"""Names of ``tf.contrib.layers`` that are not here, each with what to use."""

__all__ = ["MISSING"]

_INPUT_LAYER = (
    "is not supported. Use tf.compat.v1.feature_column.input_layer(features, columns) with the "
    "columns of tf.contrib.layers or tf.feature_column; its variables lie in the scope "
    "'input_layer'."
)
_LINEAR = "is not supported. Use tf.compat.v1.feature_column.linear_model(features, columns)."
_PARSE = (
    "is not supported. Use tf.io.parse_example(serialized, "
    "tf.contrib.layers.create_feature_spec_for_parsing(columns))."
)
_TARGET = (
    "is not supported; it was of tf.contrib.learn. Write the loss in model_fn, with "
    "tf.compat.v1.losses."
)
_SCATTERED = (
    "is not supported. Use tf.contrib.layers.embedding_column of a sparse_column_with_hash_bucket."
)
_REVERSIBLE = (
    "is not supported. The package tf-slim has it (pip install tf-slim; tf_slim.layers.{})."
)
_GDN = "is not supported. The package tensorflow-compression has it (tfc.layers.GDN)."

MISSING: dict[str, str] = {
    "DataFrameColumn": "is not supported. Use tf.feature_column.",
    "GDN": _GDN,
    "ProblemType": _TARGET,
    "RevBlock": _REVERSIBLE.format("RevBlock"),
    "binary_svm_target": _TARGET,
    "bucketize": "is not supported. Use tf.raw_ops.Bucketize(input=values, boundaries=[...]).",
    "check_feature_columns": "is not supported. What uses columns checks them.",
    "embedding_lookup_sparse_with_distributed_aggregation": (
        "is not supported. Use tf.compat.v1.nn.embedding_lookup_sparse, with the same arguments."
    ),
    "gdn": _GDN,
    "infer_real_valued_columns": (
        "is not supported. Use one tf.contrib.layers.real_valued_column(key, dimension) a feature."
    ),
    "input_from_feature_columns": _INPUT_LAYER,
    "joint_weighted_sum_from_feature_columns": _LINEAR,
    "make_place_holder_tensors_for_base_features": (
        "is not supported. Make a tf.compat.v1.placeholder for each feature."
    ),
    "multi_class_target": _TARGET,
    "parse_feature_columns_from_examples": _PARSE,
    "parse_feature_columns_from_sequence_examples": (
        "is not supported. Use tf.io.parse_single_sequence_example."
    ),
    "recompute_grad": "is not supported. Use tf.recompute_grad(function).",
    "regression_target": _TARGET,
    "rev_block": _REVERSIBLE.format("rev_block"),
    "scattered_embedding_column": _SCATTERED,
    "scattered_embedding_lookup": _SCATTERED,
    "scattered_embedding_lookup_sparse": _SCATTERED,
    "sequence_input_from_feature_columns": (
        "is not supported. Look ids up with tf.contrib.layers.embed_sequence."
    ),
    "shared_embedding_columns": (
        "is not supported. Use tf.compat.v1.feature_column.shared_embedding_columns(columns, "
        "dimension)."
    ),
    "sparse_feature_cross": "is not supported. Use tf.sparse.cross_hashed(inputs, num_buckets).",
    "transform_features": _INPUT_LAYER,
    "weighted_sum_from_feature_columns": _LINEAR,
}
