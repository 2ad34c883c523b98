"""Names of ``model_fn``."""

from __future__ import annotations

from estimator_bridge.heads.keys import MetricKeys

__all__ = ["AVERAGE_LOSS_METRIC_KEY", "LOSS_METRIC_KEY"]

AVERAGE_LOSS_METRIC_KEY = MetricKeys.LOSS_MEAN
LOSS_METRIC_KEY = MetricKeys.LOSS
