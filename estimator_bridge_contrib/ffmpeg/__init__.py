"""tf.contrib.ffmpeg: sound and films, by the program ffmpeg."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["ffmpeg"].opened()
