"""Small uses of each private name of TensorFlow, which fail if a release has changed it."""

from tooling.tensorflow_probes import (
    contrib_names,
    graphs,
    hooks,
    keras,
    placement,
    saving,
    used_unchanged,
)
from tooling.tensorflow_probes.registry import PROBES

__all__ = [
    "PROBES",
    "contrib_names",
    "graphs",
    "hooks",
    "keras",
    "placement",
    "saving",
    "used_unchanged",
]
