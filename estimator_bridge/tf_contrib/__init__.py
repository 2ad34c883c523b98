"""What this library itself knows of tf.contrib: where it is, and what to use if a name is missing.

The supported parts of tf.contrib are the package `estimator_bridge_contrib`, which uses this
library. Nothing here imports it: it is opened by name when a program uses tf.contrib.
"""
