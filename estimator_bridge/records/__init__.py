"""Data sets as record files: written, checked, and read for training."""

from estimator_bridge.errors import DataError
from estimator_bridge.records.checking import RecordReport, check
from estimator_bridge.records.features import Feature, parse
from estimator_bridge.records.from_arrays import from_arrays, from_dataset
from estimator_bridge.records.from_csv import from_csv
from estimator_bridge.records.from_images import from_images
from estimator_bridge.records.input_functions import input_fn
from estimator_bridge.records.inspection import Finding, Labels
from estimator_bridge.records.kaggle import kaggle_bucket
from estimator_bridge.records.manifest import Manifest, Shard, read_manifest
from estimator_bridge.records.progress import Progress, ProgressLine
from estimator_bridge.records.sharding import shards_for
from estimator_bridge.records.source import Source
from estimator_bridge.records.writing import write

__all__ = [
    "DataError",
    "Feature",
    "Finding",
    "Labels",
    "Manifest",
    "Progress",
    "ProgressLine",
    "RecordReport",
    "Shard",
    "Source",
    "check",
    "from_arrays",
    "from_csv",
    "from_dataset",
    "from_images",
    "input_fn",
    "kaggle_bucket",
    "parse",
    "read_manifest",
    "shards_for",
    "write",
]


def __dir__() -> list[str]:
    return sorted(__all__)
