"""Training steps of a small model that grows in one respect; see ``steps``."""

from __future__ import annotations

from benchmarks.estimators import estimators, tf, v1
from benchmarks.models.mlp import MLP
from benchmarks.orders import Orders
from benchmarks.programs.steps import EachLoss, Measured

__all__ = ["serve"]

_EXAMPLES, _VARIABLES = 1024, 160


def serve(way: str, orders: Orders, of: str) -> None:
    """Executes orders.

    Args:
      way: 'xN', the factor.
      orders: orders with 'steps' each.
      of: what grows: 'batch', 'depth' (hidden layers), 'examples' (of the array in memory),
        'hooks' (each fetches the loss of each step) or 'variables' (scalars, besides no layers).
    """
    factor = int(way[1:])
    if of not in ("batch", "depth", "examples", "hooks", "variables"):
        raise ValueError(
            f"'batch', 'depth', 'examples', 'hooks' or 'variables' can grow; got {of!r}."
        )
    model = MLP(32 * factor if of == "batch" else 32, factor if of == "depth" else 1)
    model_fn = model.spec(estimators)
    if of == "variables":
        model_fn = _of_variables(_VARIABLES * factor)
    count = _EXAMPLES * (factor if of in ("batch", "examples") else 1)
    config = estimators.RunConfig(save_checkpoints_steps=10**9, tf_random_seed=1)
    estimator = estimators.Estimator(model_fn, config=config)
    hooks = [EachLoss() for _ in range(factor)] if of == "hooks" else []
    estimator.train(lambda: model.dataset(count), hooks=[*hooks, Measured(orders)])


def _of_variables(count: int):
    def model_fn(features, labels, mode):
        del labels
        variables = [v1.get_variable(f"v{i}", []) for i in range(count)]
        loss = tf.add_n(variables) * tf.reduce_mean(features)
        optimizer = v1.train.GradientDescentOptimizer(1e-4)
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return estimators.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn
