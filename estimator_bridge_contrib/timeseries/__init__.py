"""tf.contrib.timeseries: models of time series, as estimators."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["timeseries"].opened()
