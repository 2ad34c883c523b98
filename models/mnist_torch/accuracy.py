"""Classifies the test digits in PyTorch, with weights that TensorFlow trained.

python -m models.mnist_torch.accuracy digits.safetensors
"""

from __future__ import annotations

import argparse
import sys

from models.common.errors import UserError
from models.mnist.digits import split_digits
from models.mnist_torch.model import load, predict

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Prints the accuracy; returns the process's exit code.

    Args:
        argv: the file of weights; by default the process's arguments.
    """
    parser = argparse.ArgumentParser(description="Classifies the test digits in PyTorch.")
    parser.add_argument("weights", help="a file of weights, converted with names.txt")
    path = parser.parse_args(argv).weights
    images, labels = split_digits()["test"]
    try:
        model = load(path, *images.shape[1:])
    except (UserError, OSError) as error:
        print(f"{path}: {error}" if isinstance(error, OSError) else error, file=sys.stderr)
        return 1
    right = int((predict(model, images).argmax(axis=1) == labels).sum())
    print(f"{right} of {len(labels)} test digits classified correctly")
    return 0


if __name__ == "__main__":
    sys.exit(main())
