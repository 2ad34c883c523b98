"""Keeps the first predictions of a call of predict() for the report."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint.watched_folders import WatchedFolder
from estimator_bridge.errors import DiskError
from estimator_bridge.training.monitoring.report_page import write_report
from estimator_bridge.training.monitoring.run_record import read_record, write_record

__all__ = ["with_samples"]

_SAMPLES = 10
_WIDTH = 120


def with_samples(predictions: Iterable[Any], model_dir: str) -> Iterator[Any]:
    """Yields predictions; at the end the first ones are in the report.

    Args:
      predictions: of single examples.
      model_dir: the folder of the report.
    """
    samples: list[Mapping[str, str]] = []
    with contextlib.ExitStack() as stack:
        # Not `watched_folder`: the thread does other things between two predictions.
        folder = WatchedFolder(model_dir, ("model_dir", "prediction"), stack)
        try:
            for prediction in predictions:
                if len(samples) < _SAMPLES:
                    samples.append(_as_text(prediction))
                yield prediction
        finally:
            if loss := folder.loss():
                logging.warning("model_dir %s %s: it gets no report.", model_dir, loss)
            elif samples:
                try:
                    record = dataclasses.replace(read_record(model_dir), samples=samples)
                    write_record(model_dir, record)
                    write_report(model_dir)
                except DiskError as error:  # the predictions are computed
                    logging.warning("%s", error)


def _as_text(prediction: Any) -> dict[str, str]:
    values = prediction if isinstance(prediction, Mapping) else {"prediction": prediction}
    return {str(name): _shorten(value) for name, value in values.items()}


def _shorten(value: Any) -> str:
    if isinstance(value, bytes):
        text = value.decode("utf-8", "replace")
    else:
        text = np.array2string(
            np.asarray(value), precision=4, suppress_small=True, threshold=12, max_line_width=_WIDTH
        )
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}..."
