"""tf.contrib at this path: each import returns a module of `estimator_bridge_contrib`."""

from estimator_bridge.tf_contrib.aliases import lead_to_contrib

lead_to_contrib(__name__)
