"""Checks the data before importing TensorFlow, which takes seconds."""

from __future__ import annotations

import os

from estimator_bridge.base.any_files import is_folder
from models.mnist.idx import find_mnist, shapes_of
from models.mnist.records import open_records

__all__ = ["DIGITS_FOLDER", "check_data"]

DIGITS_FOLDER = "digits"


def check_data(data_dir: str) -> None:
    """Checks the existing data; if there is none, it is written later.

    Args:
        data_dir: see `models.mnist.dataset.open_data`.

    Raises:
        DataError: a file is damaged or missing; the message names it.
        OSError: a file cannot be read.
    """
    pairs = find_mnist(data_dir)
    folder = os.path.join(data_dir, DIGITS_FOLDER)
    if pairs is not None:
        shapes_of(pairs)
    elif is_folder(folder):
        open_records(folder)
