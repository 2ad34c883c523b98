"""RunConfig's train_distribute and eval_distribute: a model_fn under a tf.distribute strategy.

The model is traced once, for one replica, under a strategy that writes down what the replicas do
together (``tracing``); the step then runs under the strategy that the program gave.
"""

from estimator_bridge.training.distribution.execution import DistributedExecution
from estimator_bridge.training.distribution.strategies import strategy_for

__all__ = ["DistributedExecution", "strategy_for"]
