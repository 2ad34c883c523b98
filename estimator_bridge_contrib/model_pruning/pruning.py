"""Pruning: masks that change during the training, by a schedule."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge_contrib.model_pruning import pruning_utils
from estimator_bridge_contrib.model_pruning.masks import (
    apply_mask,
    get_masked_weights,
    get_masks,
    get_thresholds,
    get_weight_sparsity,
    get_weights,
)
from estimator_bridge_contrib.model_pruning.pruning_hparams import (
    block_sizes,
    check_hparams,
    get_pruning_hparams,
    of_weights,
    sparsities,
)

__all__ = [
    "Pruning",
    "apply_mask",
    "get_masked_weights",
    "get_masks",
    "get_pruning_hparams",
    "get_thresholds",
    "get_weight_sparsity",
    "get_weights",
]

_v1 = tf.compat.v1


class Pruning:
    """Sets the smallest weights to zero, of those that have masks.

    The share of zeros grows from ``initial_sparsity`` to ``target_sparsity``, as
    ``target + (initial - target) * (1 - p) ** exponent``, where p is the elapsed share of the
    schedule. The variable ``NAME/last_mask_update_step`` has the global step of the last change.

    Args:
      spec: options, as from ``get_pruning_hparams``; by default, its defaults.
      global_step: the global step; by default, the graph's.
      sparsity: the share of zeros, a scalar, instead of that of the schedule.

    Raises:
      ValueError: an option is out of its range.
    """

    def __init__(self, spec: Any = None, global_step: Any = None, sparsity: Any = None):
        self._spec = spec if spec else get_pruning_hparams()
        check_hparams(self._spec)
        step = _v1.train.get_global_step() if global_step is None else global_step
        self._global_step = tf.cast(step, tf.int32)
        self._sparsity = self._scheduled_sparsity() if sparsity is None else sparsity
        self._assign_ops: list[Any] = []
        self._last_update_step = self._get_last_update_step()
        self._block_dims = [self._spec.block_height, self._spec.block_width]
        self._block_dims_map = block_sizes(self._spec.block_dims_map)
        self._weight_sparsity_map = sparsities(self._spec.weight_sparsity_map)

    def _scheduled_sparsity(self) -> tf.Tensor:
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with tf.name_scope(spec.name):
            elapsed = tf.divide(tf.cast(self._global_step - begin, tf.float32), end - begin)
            remainder = 1 - tf.minimum(1.0, tf.maximum(0.0, elapsed))
            return tf.add(
                (spec.initial_sparsity - spec.target_sparsity)
                * tf.pow(remainder, spec.sparsity_function_exponent),
                spec.target_sparsity,
                name="sparsity",
            )

    def _get_last_update_step(self) -> Any:
        on_tpu = self._spec.use_tpu or None
        with _v1.variable_scope(self._spec.name, use_resource=on_tpu, reuse=_v1.AUTO_REUSE):
            return _v1.get_variable(
                "last_mask_update_step",
                [],
                tf.int32,
                initializer=_v1.zeros_initializer(),
                trainable=False,
            )

    def _get_sparsity(self, weight_name: str) -> Any:
        """Returns the present share of zeros for weights of some name."""
        target = of_weights(self._weight_sparsity_map, weight_name, "weight_sparsity_map", None)
        if target is None:
            return self._sparsity
        share = tf.divide(tf.constant(target), tf.constant(self._spec.target_sparsity))
        return tf.multiply(self._sparsity, share)

    def _update_mask(self, weights: Any, threshold: Any) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the new threshold and the new mask of weights.

        Args:
          weights: the weights, or the means or maxima of their blocks.
          threshold: the present threshold.
        """
        sparsity = self._get_sparsity(weights.op.name)
        decay = self._spec.threshold_decay
        with tf.name_scope(f"{weights.op.name}_pruning_ops"):
            sizes = tf.abs(weights)
            count = tf.size(sizes)
            kept_count = tf.cast(tf.round(tf.cast(count, tf.float32) * (1 - sparsity)), tf.int32)
            ordered, _ = tf.math.top_k(tf.reshape(sizes, [-1]), k=count)
            smallest_kept = tf.gather(ordered, kept_count - 1)
            new_threshold = tf.add_n(
                [tf.multiply(smallest_kept, 1 - decay), tf.multiply(threshold, decay)]
            )
            return new_threshold, tf.cast(sizes >= new_threshold, sizes.dtype)

    def _maybe_update_block_mask(self, weights: Any, threshold: Any) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the new threshold and the new mask, of blocks if the weights are a matrix.

        Args:
          weights: the weights; dimensions of size 1 do not count.
          threshold: the present threshold.

        Raises:
          ValueError: the pooling function is unknown.
        """
        block = of_weights(
            self._block_dims_map, weights.op.name, "block_dims_map", self._block_dims
        )
        matrix = tf.squeeze(weights)
        if matrix.shape.rank != 2 or block == [1, 1]:
            return self._update_mask(weights, threshold)
        sizes = matrix.shape.as_list()
        # In place: in 1.15.5, the size of the first weights is that of all that follow.
        block[:] = [own if size == -1 else size for size, own in zip(block, sizes)]
        pooling = self._spec.block_pooling_function
        if pooling not in ("AVG", "MAX"):
            raise ValueError(
                f"Unknown pooling function for block sparsity: {pooling!r}. Use 'AVG' or 'MAX'."
            )
        with tf.name_scope(f"{weights.op.name}_pruning_ops"):
            pooled = self._pooled(tf.abs(matrix), block, f"{weights.op.name}_pooled")
            new_threshold, mask = self._update_mask(pooled, threshold)
            mask = tf.slice(pruning_utils.expand_tensor(mask, block), [0, 0], sizes)
        return new_threshold, tf.reshape(mask, tf.shape(weights))

    def _pooled(self, matrix: tf.Tensor, block: list[int], name: str) -> tf.Tensor:
        pooling = self._spec.block_pooling_function
        if self._spec.use_tpu:
            return pruning_utils.factorized_pool(matrix, block, pooling, block, "SAME", name)
        image = tf.reshape(matrix, [1, *matrix.shape.as_list(), 1])
        return tf.squeeze(tf.nn.pool(image, block, pooling, block, "SAME", name=name), [0, 3])

    def _get_mask_assign_ops(self) -> None:
        """Makes the assignments of new masks and thresholds."""
        masks, thresholds, all_weights = get_masks(), get_thresholds(), get_weights()
        if len(masks) != len(thresholds):
            raise ValueError(
                f"Number of masks {len(masks)} and number of thresholds {len(thresholds)} mismatch."
            )
        for mask, threshold, weights in zip(masks, thresholds, all_weights):
            is_partitioned = not isinstance(weights, (tf.Tensor, tf.Variable))
            whole = weights.as_tensor() if is_partitioned else weights
            new_threshold, new_mask = self._maybe_update_block_mask(whole, threshold)
            assign = (
                pruning_utils.partitioned_variable_assign
                if is_partitioned
                else pruning_utils.variable_assign
            )
            self._assign_ops.append(pruning_utils.variable_assign(threshold, new_threshold))
            self._assign_ops.append(assign(mask, new_mask))

    def mask_update_op(self) -> tf.Operation:
        """Returns an operation that changes the masks, whatever the global step is.

        Raises:
          ValueError: two patterns match the name of one of the weights, or the pooling function is
            unknown.
        """
        with tf.name_scope(self._spec.name):
            if not self._assign_ops:
                self._get_mask_assign_ops()
            noted = _v1.assign(
                self._last_update_step, self._global_step, name="last_mask_update_step_assign"
            )
            with tf.control_dependencies([noted.op, *(_operation(op) for op in self._assign_ops)]):
                logging.info("Updating masks.")
                return tf.no_op("mask_update")

    def conditional_mask_update_op(self) -> Any:
        """Returns an operation that changes the masks at the global steps of the options.

        Raises:
          ValueError: as ``mask_update_op``.
        """
        spec, step = self._spec, self._global_step
        with tf.name_scope(spec.name):
            has_begun = tf.greater_equal(step, spec.begin_pruning_step)
            goes_on = tf.logical_or(
                tf.less_equal(step, spec.end_pruning_step), tf.less(spec.end_pruning_step, 0)
            )
            is_due = tf.less_equal(tf.add(self._last_update_step, spec.pruning_frequency), step)
            is_wanted = tf.logical_and(tf.logical_and(has_begun, goes_on), is_due)
        return _v1.cond(is_wanted, self.mask_update_op, tf.no_op)

    def add_pruning_summaries(self) -> None:
        """Adds summaries of the schedule, and of each mask's share of zeros and its threshold."""
        with tf.name_scope(f"{self._spec.name}_summaries"):
            _v1.summary.scalar("sparsity", self._sparsity)
            _v1.summary.scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds()):
                _v1.summary.scalar(f"{mask.op.name}/sparsity", tf.math.zero_fraction(mask))
                _v1.summary.scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self) -> None:
        """Logs the options."""
        logging.info(self._spec.to_json())


def _operation(value: Any) -> Any:
    return value if isinstance(value, tf.Operation) else value.op
