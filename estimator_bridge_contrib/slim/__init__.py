"""``tf.contrib.slim``: the package tf_slim if it is installed, otherwise slim's core.

The core consists of ``tf.contrib.layers`` and its layers, initializers and regularizers,
arg_scope, the functions for variables of ``tf.contrib.framework``, and losses and metrics. In both
cases arg_scope is shared with ``tf.contrib.framework``.
"""

from __future__ import annotations

import importlib.util

from estimator_bridge_contrib.namespaces import NAMESPACES

if importlib.util.find_spec("tf_slim") is None:
    __all__, __getattr__, __dir__ = NAMESPACES["slim"].opened()
else:
    from estimator_bridge_contrib.slim import package

    __all__, __getattr__, __dir__ = package.opened()
