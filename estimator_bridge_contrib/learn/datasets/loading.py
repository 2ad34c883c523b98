"""Data sets by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from estimator_bridge_contrib.learn.datasets import base, mnist, synthetic, text_datasets

__all__ = ["DATASETS", "SYNTHETIC", "load_dataset", "make_dataset"]

DATASETS: dict[str, Callable[..., Any]] = {
    "iris": base.load_iris,
    "boston": base.load_boston,
    "mnist": mnist.load_mnist,
    "dbpedia": text_datasets.load_dbpedia,
}
SYNTHETIC: dict[str, Callable[..., base.Dataset]] = {
    "circles": synthetic.circles,
    "spirals": synthetic.spirals,
}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """Reads a data set.

    Args:
      name: "iris", "boston", "mnist" or "dbpedia".
      size: see `load_dbpedia`; other data sets have one size.
      test_with_fake_data: see `load_dbpedia`.

    Returns:
      A `Dataset`, or the `Datasets` of MNIST and DBpedia.

    Raises:
      ValueError: there is no such data set.
      FileNotFoundError: a file is missing; the error says which to put where.
    """
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}. Use one of {sorted(DATASETS)}.")
    return DATASETS[name](size, test_with_fake_data) if name == "dbpedia" else DATASETS[name]()


def make_dataset(
    name: str,
    n_samples: int = 100,
    noise: float | None = None,
    seed: int = 42,
    *args: Any,
    **kwargs: Any,
) -> base.Dataset:
    """Draws a data set.

    Args:
      name: "circles" or "spirals".
      n_samples: the number of points.
      noise: the standard deviation of noise to add; None for no noise.
      seed: the seed of NumPy's global generator.
      *args: further arguments of `circles` or `spirals`.
      **kwargs: as well.

    Raises:
      ValueError: there is no such data set.
    """
    if name not in SYNTHETIC:
        raise ValueError(
            f"Synthetic dataset not found or not implemeted: {name}. Use one of "
            f"{sorted(SYNTHETIC)}."
        )
    dataset = SYNTHETIC[name](n_samples, noise, seed, *args, **kwargs)
    return dataset
