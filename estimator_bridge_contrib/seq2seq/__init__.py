"""``tf.contrib.seq2seq``: decoders, helpers that choose their tokens, attention, and losses."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["seq2seq"].opened()
