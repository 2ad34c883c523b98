"""Small uses of each private name of TensorFlow, which fail if a release has changed it."""

from tooling.tensorflow_probes import graphs, hooks, keras, placement, saving, used_unchanged
from tooling.tensorflow_probes.registry import PROBES

__all__ = ["PROBES", "graphs", "hooks", "keras", "placement", "saving", "used_unchanged"]
