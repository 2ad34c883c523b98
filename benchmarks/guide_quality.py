"""Measures the quality that the TPU guides' programs reach on emulated cores.

    python -m benchmarks.guide_quality [--cores 1 8] [--epochs 10] [--seeds 3]

The programs are those of tests/keras_and_loops/guide_programs.py, on scikit-learn's digits.
"""

from __future__ import annotations

import argparse
import os
import runpy
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import estimator_bridge as eb  # first: it selects Keras 2

import tensorflow as tf  # isort: skip

PROGRAMS = Path(__file__).resolve().parents[1] / "tests" / "keras_and_loops" / "guide_programs.py"

__all__ = ["main"]


def main() -> None:
    """Prints the test accuracy of each program, by number of cores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 8], help="numbers of cores")
    parser.add_argument("--epochs", type=int, default=10, help="passes over 1,440 digits")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each")
    args = parser.parse_args()
    eb.runtime.emulate_cores(max(args.cores))
    programs = runpy.run_path(str(PROGRAMS))
    print(f"TensorFlow {tf.__version__}, {args.epochs} epochs, 357 test digits")
    for cores in args.cores:
        resolver = eb.tpu.TPUClusterResolver(f"emulated:{cores}")
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        strategy = tf.distribute.TPUStrategy(resolver)
        for name in ("fit", "custom_loop"):
            accuracies = []
            for seed in range(args.seeds):
                tf.keras.utils.set_random_seed(seed)
                accuracies.append(programs[name](strategy, epochs=args.epochs))
            text = " ".join(f"{accuracy:.4f}" for accuracy in accuracies)
            print(f"{name:<12} on {cores} core(s): test accuracy {text}")


if __name__ == "__main__":
    main()
