"""What train_and_evaluate exports after an evaluation."""

from estimator_bridge.training.exporters.best import BestExporter
from estimator_bridge.training.exporters.exporter import Exporter
from estimator_bridge.training.exporters.scheduled_exporters import FinalExporter, LatestExporter

__all__ = ["BestExporter", "Exporter", "FinalExporter", "LatestExporter"]
