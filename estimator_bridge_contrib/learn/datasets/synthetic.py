"""Points on circles and spirals, of two or more classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from estimator_bridge_contrib.learn.datasets.base import Dataset

__all__ = ["circles", "spirals"]

_Curve = Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]]


def circles(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    factor: float = 0.8,
    n_classes: int = 2,
    *args: Any,
    **kwargs: Any,
) -> Dataset:
    """Draws circles around one center, one for each class.

    Args:
      n_samples: the number of points.
      noise: the standard deviation of noise to add; None for no noise.
      seed: the seed of NumPy's global generator.
      factor: the ratio of a class's radius to that of the class before.
      n_classes: the number of classes.
      *args: ignored.
      **kwargs: ignored.

    Returns:
      The points, [n_samples, 2], and their classes, shuffled.
    """
    del args, kwargs

    def draw(angles: np.ndarray, label: int) -> tuple[np.ndarray, np.ndarray]:
        radius = factor**label
        return radius * np.cos(angles), radius * np.sin(angles)

    def draw_rest(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # The original draws the angles of the x and the y separately.
        return np.cos(angles), np.sin(np.random.rand(len(angles)) * 2 * np.pi)

    return _points(n_samples, n_classes, 2 * np.pi, draw, draw_rest, noise, seed)


def spirals(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    mode: str = "archimedes",
    n_loops: int = 2,
    *args: Any,
    **kwargs: Any,
) -> Dataset:
    """Draws two spirals, one for each class.

    Args:
      n_samples: the number of points.
      noise: the standard deviation of noise to add; None for no noise.
      seed: the seed of NumPy's global generator.
      mode: the distance of the loops: "archimedes" for equal, "bernoulli" for growing, "fermat" for
        shrinking distances.
      n_loops: the number of loops.
      *args: ignored.
      **kwargs: ``exp_scale``, the growth of a "bernoulli" spiral, 0.1 by default.

    Returns:
      The points, [n_samples, 2], and their classes, shuffled.

    Raises:
      ValueError: the mode is unknown.
    """
    del args
    scale = kwargs.get("exp_scale", 0.1)
    radii: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "archimedes": lambda angles: angles,
        "bernoulli": lambda angles: np.exp(scale * angles),
        "fermat": np.sqrt,
    }
    if mode not in radii:
        raise ValueError(f"Cannot generate spiral with mode {mode}. Use one of {sorted(radii)}.")

    def draw(angles: np.ndarray, label: int) -> tuple[np.ndarray, np.ndarray]:
        radius, turned = radii[mode](angles), angles + label * np.pi
        x, y = radius * np.cos(turned), radius * np.sin(turned)
        return x / np.max(np.abs(x)), y / np.max(np.abs(y))

    end = 2 * n_loops * np.pi
    return _points(n_samples, 2, end, draw, lambda angles: draw(angles, 0), noise, seed)


def _points(
    n_samples: int,
    n_classes: int,
    end: float,
    draw: Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]],
    draw_rest: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    noise: float | None,
    seed: int | None,
) -> Dataset:
    """Draws as many points of each class; what is left over belongs to the first class."""
    if seed is not None:
        np.random.seed(seed)
    size, rest = divmod(n_samples, n_classes)
    angles = np.linspace(0, end, size)
    drawn = [np.stack(draw(angles, label)) for label in range(n_classes)]
    if rest:
        drawn.append(np.stack(draw_rest(np.random.rand(rest) * 2 * np.pi)))
    points = np.concatenate(drawn, axis=1).T
    classes = np.array([*range(n_classes), 0], np.int32)
    labels = np.repeat(classes, [*[size] * n_classes, rest])
    order = np.random.permutation(n_samples)
    if noise is not None:
        points = points + np.random.normal(scale=noise, size=points.shape)
    return Dataset(points[order], labels[order])
