"""tf.contrib.quantize: rewrites of a graph that make it compute as a quantized model would."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["quantize"].opened()
