"""Sparse ids of TPU embeddings as dense tensors, one row an example, on their way to the cores.

A batch is padded, joined and split along its first dimension. Sparse tensors travel that way as
strings of shape [batch size, 3], one row for each example, and become sparse again in the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.data import BatchInput
from estimator_bridge.data.self_contained import Outside
from estimator_bridge.graph import LiftedSession
from estimator_bridge.tpu.embedding_features import EmbeddingFeature, check_features

__all__ = ["PackedIds", "pack_ids"]

# A size for dimensions of unknown size, which lookups do not read. It fits int32.
_MOST = 2**31 - 1


def pack_ids(
    part: BatchInput, features: Mapping[str, EmbeddingFeature], batch_size: int | None
) -> BatchInput:
    """Packs the sparse ids and weights of TPU embeddings.

    Args:
      part: the input that input_fn returned.
      features: the features that the embeddings look up.
      batch_size: the size of its batches if all are full; None if the last may be short. The
        shapes of other tensors take precedence.

    Returns:
      The input that feeds the cores: the same, if nothing has to be packed.

    Raises:
      ValueError: ids are strings, or their weights are missing or dense.
    """
    is_pair = isinstance(part.spec, (tuple, list)) and not hasattr(part.spec, "_fields")
    features_spec = part.spec[0] if is_pair else part.spec
    if not isinstance(features_spec, Mapping):
        return part
    check_features(features, features_spec)
    ways: dict[str, _Way] = {}
    for feature in features.values():
        for key, dtype in ((feature.key, None), (feature.weights, feature.weight_type)):
            if (
                key is not None
                and key in features_spec
                and _is_packed(features_spec[key], feature.width)
            ):
                ways[key] = _Way(
                    features_spec[key], feature.width, dtype or features_spec[key].dtype
                )
    if not ways:
        return part
    sizes = {_first(spec) for spec in tf.nest.flatten(part.spec)} - {None}
    return PackedIds(part, is_pair, ways, sizes.pop() if len(sizes) == 1 else batch_size)


class _Way(NamedTuple):
    """How one feature is packed: what input_fn returned, its width, and its type in the model."""

    spec: Any
    width: int | None
    dtype: tf.DType

    def packed_spec(self, batch_size: int | None) -> tf.TensorSpec:
        first, *others = self.spec.shape.as_list()
        first = batch_size if first is None else first
        if isinstance(self.spec, tf.SparseTensorSpec):
            return tf.TensorSpec([first, 3], tf.string)
        return tf.TensorSpec([first, self.width, *others[1:]], self.spec.dtype)

    def pack(self, ids: Any) -> tf.Tensor:
        if self.width is not None and not isinstance(ids, tf.SparseTensor):
            return _to_width(ids, self.width)
        ids = tf.sparse.reorder(tf.cast(ids, self.dtype))
        if self.width is not None:
            ids = tf.sparse.retain(ids, ids.indices[:, 1] < self.width)
        return tf.io.serialize_many_sparse(ids)

    def unpack(self, rows: tf.Tensor) -> Any:
        """Returns the sparse tensor of a replica's rows: strings of shape [batch size, 3]."""
        if not isinstance(self.spec, tf.SparseTensorSpec):
            return rows
        ids = tf.io.deserialize_many_sparse(rows, self.dtype, self.spec.shape.rank)
        _, *sizes = self.spec.shape.as_list()
        if self.width is not None:
            sizes[0] = self.width
        # Only constant sizes lead to static shapes of what is computed.
        shape = [rows.shape[0], *(_MOST if size is None else size for size in sizes)]
        return tf.SparseTensor(ids.indices, ids.values, tf.constant(shape, tf.int64))


class PackedIds(BatchInput):
    """An input whose sparse ids are packed, and whose dense ids of sequences have one length.

    Args:
      part: the input that input_fn returned.
      is_pair: whether its batches are (features, labels).
      ways: by the name of a feature: how it is packed.
      batch_size: the size of its batches; None if it is unknown.
    """

    def __init__(
        self,
        part: BatchInput,
        is_pair: bool,
        ways: Mapping[str, _Way],
        batch_size: int | None,
    ):
        self._part, self._is_pair = part, is_pair
        self._ways, self._batch_size = ways, batch_size
        specs = dict(part.spec[0] if is_pair else part.spec)
        specs.update({key: way.packed_spec(batch_size) for key, way in ways.items()})
        super().__init__(part._graph, (specs, *part.spec[1:]) if is_pair else specs)

    @property
    def is_eager(self) -> bool:
        """Whether the dataset was created outside of any graph."""
        return self._part.is_eager

    @property
    def outside(self) -> Outside:
        """What its elements depend on outside of it."""
        return self._part.outside

    @property
    def may_end(self) -> bool:
        """Whether the input can end."""
        return self._part.may_end

    def dataset(self, session: LiftedSession) -> tf.data.Dataset:
        """Returns a dataset of the packed batches."""
        return self._part.dataset(session).map(self._pack)

    @property
    def is_packed(self) -> bool:
        """Whether batches hold other tensors than model_fn gets."""
        return True

    def unpack(self, batch: Any) -> Any:
        """Returns the argument of model_fn, with the sparse tensors that were packed."""
        features = batch[0] if self._is_pair else batch
        unpacked = {key: way.unpack(features[key]) for key, way in self._ways.items()}
        features = {**features, **unpacked}
        return (features, *batch[1:]) if self._is_pair else features

    def _pack(self, features: Any, *labels: Any) -> Any:
        packed = {key: way.pack(features[key]) for key, way in self._ways.items()}
        for key, value in packed.items():
            packed[key] = tf.ensure_shape(value, [self._batch_size, *value.shape[1:]])
        features = {**features, **packed}
        return (features, *labels) if self._is_pair else features


def _first(spec: Any) -> int | None:
    shape = getattr(spec, "shape", None)
    return shape.as_list()[0] if shape is not None and shape.rank else None


def _is_packed(spec: Any, width: int | None) -> bool:
    if isinstance(spec, tf.SparseTensorSpec):
        return True
    # Dense ids change only if their number has to.
    is_matrix = isinstance(spec, tf.TensorSpec) and (spec.shape.rank or 0) >= 2
    return is_matrix and width is not None and spec.shape.as_list()[1] != width


def _to_width(ids: tf.Tensor, width: int) -> tf.Tensor:
    """Returns dense ids of shape [batch size, width, ...], truncated or padded with no id."""
    ids = ids[:, :width]
    rest = [[0, 0]] * (ids.shape.rank - 2)
    missing = width - tf.shape(ids)[1]
    no_id = "" if ids.dtype == tf.string else tf.constant(-1, ids.dtype)
    padded = tf.pad(ids, [[0, 0], [0, missing], *rest], constant_values=no_id)
    padded.set_shape([ids.shape[0], width, *ids.shape[2:]])
    return padded
