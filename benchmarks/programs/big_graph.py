"""A graph of about 7,000 nodes: BERT-base's twelve layers, with tiny sizes."""

from __future__ import annotations

import time

from benchmarks.estimators import estimators, v1
from benchmarks.models.bert import Bert
from benchmarks.orders import Orders

__all__ = ["serve"]


class _FirstStep(v1.train.SessionRunHook):
    time = cpu = 0.0

    def begin(self):
        """Counts the nodes."""
        self.nodes = len(v1.get_default_graph().get_operations())

    def after_run(self, run_context, run_values):
        """Records the time of the first step."""
        self.time = self.time or time.perf_counter()
        self.cpu = self.cpu or time.process_time()


def serve(way: str, orders: Orders, layers: int = 12) -> None:
    """Executes one order: measures train() to its first step, without the model_fn itself.

    Args:
      way: 'xN' multiplies the layers by N; others do not matter.
      orders: one order.
      layers: the number of the encoder's layers.
    """
    layers *= int(way[1:]) if way[0] == "x" and way[1:].isdigit() else 1
    model = Bert(batch=2, length=8, layers=layers, size=16, heads=2, words=50)
    model_fn, took = model.spec(estimators), []

    def timed(features, labels, mode):
        start, start_cpu = time.perf_counter(), time.process_time()
        spec = model_fn(features, labels, mode)
        took.append((time.perf_counter() - start, time.process_time() - start_cpu))
        return spec

    for _ in orders:
        estimator = estimators.Estimator(timed, config=estimators.RunConfig(tf_random_seed=1))
        hook = _FirstStep()
        start, start_cpu = time.perf_counter(), time.process_time()
        estimator.train(model.dataset, hooks=[hook], steps=2)
        orders.tell(
            **{
                "train() to first step beside model_fn, s": hook.time - start - took[-1][0],
                "train() to first step beside model_fn, CPU s": (
                    hook.cpu - start_cpu - took[-1][1]
                ),
                "model_fn, s": took[-1][0],
                "nodes": hook.nodes,
            }
        )
