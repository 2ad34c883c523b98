"""RunConfig's train_distribute and eval_distribute: a model_fn under a tf.distribute strategy.

The model is traced once, for one replica, under a strategy that records the replicas' exchanges
(``tracing_strategy``). The step then runs under the program's strategy.
"""

from estimator_bridge.training.distribution.execution import DistributedExecution
from estimator_bridge.training.distribution.strategies import strategy_for

__all__ = ["DistributedExecution", "strategy_for"]
