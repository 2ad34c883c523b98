"""tf.contrib.session_bundle: the models for serving before SavedModel."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["session_bundle"].opened()
