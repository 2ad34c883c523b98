"""One global batch over an increasing number of emulated cores; an order is a number of steps."""

from __future__ import annotations

from benchmarks.estimators import estimators
from benchmarks.models import MODELS
from benchmarks.orders import Orders
from benchmarks.programs.steps import Measured, tpu_model_fn

__all__ = ["serve"]


def serve(way: str, orders: Orders, model: str, batch: int) -> None:
    """Executes orders.

    Args:
      way: 'cores_N'.
      orders: orders with 'steps' each, whole loops of 10.
      model: the name of the model.
      batch: the global batch size.
    """
    instance, tpu = MODELS[model](), estimators.tpu
    instance.batch = batch
    config = tpu.RunConfig(
        master=f"emulated:{way.removeprefix('cores_')}",
        tpu_config=tpu.TPUConfig(iterations_per_loop=10),
        save_checkpoints_steps=10**9,
        tf_random_seed=1,
    )
    estimator = tpu.TPUEstimator(tpu_model_fn(instance), config=config, train_batch_size=batch)
    estimator.train(lambda params: instance.dataset(), hooks=[Measured(orders)])
