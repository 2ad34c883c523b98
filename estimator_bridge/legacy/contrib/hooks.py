"""tf.contrib.hooks: one hook, which moved to tf.train."""

from estimator_bridge import ProfilerHook

__all__ = ["ProfilerHook"]
