"""Writes patches of scikit-learn's two photographs in the layout of CIFAR-10's binary files.

python -m models.resnet.cifar_patches FOLDER

No dependency ships CIFAR-10. These images stand for it where its reader and its network are
trained: 416 patches to train on and 104 to test, of 32 by 32 pixels in color. The class is the
photograph, so that two of the ten classes are used.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import numpy as np

from models.common.notices import hide_tensorflow_notices

__all__ = ["main", "write_cifar_patches"]


def write_cifar_patches(folder: str) -> list[str]:
    """Writes the six files of CIFAR-10's binary version, with patches.

    Args:
        folder: gets `data_batch_1.bin` to `data_batch_5.bin` and `test_batch.bin`. Files that
            exist stay unchanged.

    Returns:
        The names of the files that were written.

    Raises:
        DiskFullError: the disk is full.
        OSError: a file cannot be written for another reason.
    """
    from models.common.saved_files import saved_file
    from models.flowers.patches import split_patches
    from models.resnet.cifar import FILES

    os.makedirs(folder, exist_ok=True)
    names = []
    for split, (images, labels) in split_patches("photograph").items():
        records = _records(images, labels)
        for name, part in zip(FILES[split], np.array_split(records, len(FILES[split]))):
            path = os.path.join(folder, name)
            if not os.path.exists(path):
                with saved_file(path) as temporary:
                    part.tofile(temporary)
                names.append(name)
    return names


def _records(images: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Returns uint8 [count, 3073]: labels, then the planes of red, green and blue."""
    planes = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    return np.concatenate([labels[:, np.newaxis].astype(np.uint8), planes], axis=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the files into a folder; returns the process's exit code.

    Args:
        arguments: those of the command; None: those of this process.
    """
    parser = argparse.ArgumentParser(
        prog="models.resnet.cifar_patches",
        description="Writes patches of scikit-learn's two photographs in the layout of CIFAR-10's "
        "binary files.",
    )
    parser.add_argument("folder", help="gets the six files; those that exist stay unchanged")
    folder = parser.parse_args(arguments).folder
    hide_tensorflow_notices()
    from estimator_bridge.base.quiet_start import quietly

    try:
        with quietly():
            names = write_cifar_patches(folder)
    except OSError as error:  # a full disk is one
        print(f"models.resnet.cifar_patches: {error}", file=sys.stderr)
        return 1
    print(f"{folder}: wrote {', '.join(names) if names else 'nothing, its files exist'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
