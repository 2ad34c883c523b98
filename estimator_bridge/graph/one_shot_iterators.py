"""Rewrites one-shot iterators, whose dataset is a function of the graph's library.

Their kernel keeps the iterator to itself and has no shared name for it. So each becomes an ordinary
iterator that is initialized with the dataset that the function makes.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["as_initialized", "dataset_call"]


def dataset_call(iterator: Any) -> Any:
    """Returns the node that makes a one-shot iterator's dataset.

    Args:
      iterator: a NodeDef of type OneShotIterator.
    """
    call = tf.compat.v1.NodeDef(name="dataset_of_" + iterator.name, op="PartitionedCall")
    call.attr["f"].func.CopyFrom(iterator.attr["dataset_factory"].func)
    call.attr["Tin"].list.SetInParent()
    call.attr["Tout"].list.type.append(tf.variant.as_datatype_enum)
    return call


def as_initialized(iterator: Any) -> list[Any]:
    """Returns an iterator of the same name, its dataset, and its initializer."""
    plain = tf.compat.v1.NodeDef(name=iterator.name, op="IteratorV2")
    for attribute in ("container", "output_shapes", "output_types", "shared_name"):
        plain.attr[attribute].CopyFrom(iterator.attr[attribute])
    call = dataset_call(iterator)
    make = tf.compat.v1.NodeDef(name="initializer_of_" + iterator.name, op="MakeIterator")
    make.input[:] = [call.name, plain.name]
    return [plain, call, make]
