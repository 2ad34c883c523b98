"""The context in which programs of 0.2.0 imported TensorFlow; every import is quiet since."""

from estimator_bridge.base.quiet_start import quietly, settle_devices

__all__ = ["quietly", "settle_devices"]
