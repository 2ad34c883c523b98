"""tf.contrib.legacy_seq2seq: models of unrolled sequences, and their losses."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["legacy_seq2seq"].opened()
