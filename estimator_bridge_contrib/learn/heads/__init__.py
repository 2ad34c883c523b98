"""The heads of tf.contrib.learn: from a model's logits to its ModelFnOps."""
