"""Measures the time from a process's start to its first training step, new or resumed."""

from __future__ import annotations

import tempfile
import time

from benchmarks.orders import Orders

__all__ = ["serve"]


def serve(way: str, orders: Orders, steps: int = 1) -> None:
    """Executes one order: trains twice.

    The second training continues from the first one's checkpoint, in the same process; the start of
    the process itself is measured separately.
    """
    del way
    from benchmarks.estimators import estimators, v1
    from benchmarks.models.mlp import MLP

    import_end, imported_cpu = time.time(), time.process_time()

    class FirstStep(v1.train.SessionRunHook):
        """Records the time when the first step is done."""

        time = cpu = 0.0

        def after_run(self, run_context, run_values):
            self.time, self.cpu = self.time or time.time(), self.cpu or time.process_time()

    model = MLP()
    config = estimators.RunConfig(tf_random_seed=1)
    with tempfile.TemporaryDirectory() as folder:
        for order in orders:
            start_time = order["started"]

            def train():
                estimator = estimators.Estimator(model.spec(estimators), folder, config)
                hook = FirstStep()
                start, start_cpu = time.time(), time.process_time()
                estimator.train(model.dataset, hooks=[hook], steps=steps)
                return hook.time - start, time.time() - hook.time, hook.cpu, hook.cpu - start_cpu

            first, end, cpu, first_cpu = train()
            resume_secs, _, _, resumed_cpu = train()
            orders.tell(
                **{
                    "process to first step, s": import_end - start_time + first,
                    "process to first step, CPU s": cpu,
                    "imports, s": import_end - start_time,
                    "imports, CPU s": imported_cpu,
                    "train() to first step, s": first,
                    "train() to first step, CPU s": first_cpu,
                    "last step to end of train(), s": end,
                    "resumed train() to first step, s": resume_secs,
                    "resumed train() to first step, CPU s": resumed_cpu,
                    "process to first resumed step, s": import_end - start_time + resume_secs,
                }
            )
