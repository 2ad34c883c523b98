"""Names of ``tpu.tpu_estimator``."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["BatchConfig", "ExportSavedModelApiVersion", "export_estimator_savedmodel"]


class ExportSavedModelApiVersion(enum.Enum):
    """The format of a model exported for a TPU. Both write the same format."""

    V1 = 1
    V2 = 2


class BatchConfig(NamedTuple):
    """The batching of requests to a served model on a TPU.

    Attributes:
      num_batch_threads: number of batches processed at the same time.
      max_batch_size: the largest batch size.
      batch_timeout_micros: how long a batch that is not full waits.
      allowed_batch_sizes: sizes that batches are padded to, in ascending order.
      max_enqueued_batches: number of batches that may wait.
    """

    num_batch_threads: int
    max_batch_size: int
    batch_timeout_micros: int
    allowed_batch_sizes: Sequence[int]
    max_enqueued_batches: int = 100


def export_estimator_savedmodel(
    estimator: Any,
    export_dir_base: str,
    serving_input_receiver_fn: Callable[[], Any],
    assets_extra: Any = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """Exports an Estimator's model; see ``Estimator.export_saved_model``.

    The original converted it to a TPUEstimator first. Here an export runs anywhere.
    """
    return estimator.export_saved_model(
        export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
    )
