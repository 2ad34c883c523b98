"""tf.estimator.tpu.experimental."""

from estimator_bridge.legacy.missing import MISSING, missing_getattr

__all__: list[str] = []

__getattr__ = missing_getattr(__name__, MISSING["tpu.experimental"])
