"""Makes golden.npz by running the real tf.estimator under MirroredStrategy on two CPU cores.

    pip install tensorflow-cpu==2.15.1        # Python 3.11, an environment of its own
    cd tests && python -m goldens.distributed.make_distributed

By optimizer: OPTIMIZER/weights/NAME, OPTIMIZER/evaluation/KEY and OPTIMIZER/losses.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from goldens.distributed.distributed_program import (
    OPTIMIZERS,
    STEPS,
    build,
    observe,
    test_input,
    train_input,
)


def main() -> None:
    """Writes golden.npz beside this file."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    cores = [tf.config.LogicalDeviceConfiguration() for _ in range(2)]
    tf.config.set_logical_device_configuration(cpu, cores)
    arrays = {}
    for name in OPTIMIZERS:
        # The default, collectives, may wait without end in a session on a machine of few cores.
        strategy = tf.distribute.MirroredStrategy(
            ["/cpu:0", "/cpu:1"], tf.distribute.ReductionToOneDevice()
        )
        with tempfile.TemporaryDirectory() as folder:
            estimator = build(tf.compat.v1.estimator, name, strategy, folder)
            estimator.train(train_input, steps=STEPS)
            seen = observe(estimator, estimator.evaluate(test_input))
        arrays.update({f"{name}/{key}": value for key, value in seen.items()})
        print(f"made {name}")
    np.savez_compressed(Path(__file__).with_name("golden.npz"), **arrays)


if __name__ == "__main__":
    main()
