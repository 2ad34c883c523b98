"""The functions of tf.contrib.receptive_field, in the file from which programs import them."""

from estimator_bridge_contrib.receptive_field.compute_order import get_compute_order
from estimator_bridge_contrib.receptive_field.fields import compute_receptive_field_from_graph_def

__all__ = ["compute_receptive_field_from_graph_def", "get_compute_order"]
