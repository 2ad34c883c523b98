"""Names of ``tpu.tpu_estimator``."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["BatchConfig", "ExportSavedModelApiVersion", "export_estimator_savedmodel"]


class ExportSavedModelApiVersion(enum.Enum):
    """How a model was exported for a TPU. One format is written for both."""

    V1 = 1
    V2 = 2


class BatchConfig(NamedTuple):
    """How a served model on a TPU joined requests to batches.

    Attributes:
      num_batch_threads: how many batches are processed at a time.
      max_batch_size: of a batch.
      batch_timeout_micros: how long a batch that is not full waits.
      allowed_batch_sizes: to which batches are padded, in ascending order.
      max_enqueued_batches: how many wait.
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

    The original made it a TPUEstimator before. Here an export runs anywhere.
    """
    return estimator.export_saved_model(
        export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
    )
