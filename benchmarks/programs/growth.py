"""Training steps of an MLP that grows in one respect; see ``steps``."""

from __future__ import annotations

from benchmarks.estimators import estimators
from benchmarks.models.mlp import MLP
from benchmarks.orders import Orders
from benchmarks.programs.steps import Measured

__all__ = ["serve"]

_EXAMPLES = 1024


def serve(way: str, orders: Orders, of: str) -> None:
    """Executes orders.

    Args:
      way: 'xN', the factor.
      orders: orders with 'steps' each.
      of: what grows: 'batch', 'depth' (hidden layers) or 'examples' (of the array in memory).
    """
    factor = int(way[1:])
    model = MLP(32 * factor if of == "batch" else 32, factor if of == "depth" else 1)
    if of not in ("batch", "depth", "examples"):
        raise ValueError(f"'batch', 'depth' or 'examples' can grow; got {of!r}.")
    count = _EXAMPLES * (factor if of in ("batch", "examples") else 1)
    config = estimators.RunConfig(save_checkpoints_steps=10**9, tf_random_seed=1)
    estimator = estimators.Estimator(model.spec(estimators), config=config)
    estimator.train(lambda: model.dataset(count), hooks=[Measured(orders)])
