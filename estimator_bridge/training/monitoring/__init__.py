"""A run that shows itself: its line, its figures, its report."""

from estimator_bridge.training.monitoring.monitor import (
    Monitor,
    monitored,
    shown_stage,
    with_monitor,
    writes_report,
)
from estimator_bridge.training.monitoring.report_page import write_report

__all__ = ["Monitor", "monitored", "shown_stage", "with_monitor", "write_report", "writes_report"]
