"""tf.contrib.grid_rnn: RNN cells on grids of several dimensions."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["grid_rnn"].opened()
