"""Layers that change the form of their inputs."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope
from estimator_bridge_contrib.layers.utils import channels_first, collect_named_outputs

__all__ = [
    "dense_to_sparse",
    "flatten",
    "images_to_sequence",
    "one_hot_encoding",
    "sequence_to_images",
]

v1 = tf.compat.v1


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: str | None = None) -> tf.Tensor:
    """Flattens all dimensions but the first.

    Args:
      inputs: a tensor [batch, ...].
      outputs_collections: collections to add the outputs to.
      scope: the name scope.

    Returns:
      A tensor [batch, values].
    """
    with v1.name_scope(scope, "Flatten", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        sizes = inputs.shape.as_list() if inputs.shape.rank else [None, None]
        if None in sizes[1:]:
            batch = tf.shape(inputs)[0] if sizes[0] is None else sizes[0]
            outputs = tf.reshape(inputs, tf.stack([batch, -1]), name="flatten/Reshape")
            outputs.set_shape([sizes[0], None])
        else:
            shape = [-1 if sizes[0] is None else sizes[0], math.prod(sizes[1:])]
            outputs = tf.reshape(inputs, shape, name="flatten/Reshape")
        return collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> tf.Tensor:
    """Converts class indices to one-hot vectors.

    Args:
      labels: integers [batch].
      num_classes: the vectors' length.
      on_value: the value of the class's entry.
      off_value: the value of the others.
      outputs_collections: collections to add the outputs to.
      scope: the name scope.

    Returns:
      A tensor [batch, num_classes].
    """
    with v1.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = tf.convert_to_tensor(labels)
        if labels.dtype == tf.int32:
            labels = tf.cast(labels, tf.int64)
        outputs = tf.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def dense_to_sparse(
    tensor: Any, eos_token: Any = 0, outputs_collections: Any = None, scope: Any = None
) -> tf.SparseTensor:
    """Returns the entries of a tensor that differ from a value, as a SparseTensor.

    Args:
      tensor: a tensor, such as padded sequences of ids [batch, length].
      eos_token: the value to leave out.
      outputs_collections: collections to add the outputs to.
      scope: the variable scope.
    """
    with v1.variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = tf.convert_to_tensor(tensor)
        indices = tf.where(tf.not_equal(tensor, tf.constant(eos_token, tensor.dtype)))
        outputs = tf.SparseTensor(
            indices, tf.gather_nd(tensor, indices), tf.shape(tensor, out_type=tf.int64)
        )
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def images_to_sequence(
    inputs: Any,
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> tf.Tensor:
    """Converts images to sequences of columns, one sequence per row, for recurrent layers.

    Args:
      inputs: images [batch, height, width, channels], or with channels second.
      data_format: 'NHWC' or 'NCHW'.
      outputs_collections: collections to add the outputs to.
      scope: the name scope.

    Returns:
      A tensor [width, batch * height, channels].
    """
    first = channels_first(data_format, ("NCHW", "NHWC"))
    with v1.name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        if first:
            inputs = tf.transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.shape.as_list()
        outputs = tf.reshape(tf.transpose(inputs, [2, 0, 1, 3]), [width, -1, depth])
        return collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def sequence_to_images(
    inputs: Any,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> tf.Tensor:
    """The inverse of ``images_to_sequence``.

    Args:
      inputs: a tensor [width, batch * height, channels].
      height: the images' height.
      output_data_format: 'channels_last' or 'channels_first'.
      outputs_collections: collections to add the outputs to.
      scope: the name scope.

    Returns:
      Images [batch, height, width, channels], or with channels second.
    """
    with v1.name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        width, rows, depth = inputs.shape.as_list()
        batch = -1 if rows is None else rows // height
        rows_apart = tf.reshape(inputs, [width, batch, height, depth])
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        return collect_named_outputs(outputs_collections, sc, tf.transpose(rows_apart, order))
