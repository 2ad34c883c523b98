"""Arrays in the HDF5 file that Keras loads by name: `model.load_weights(path, by_name=True)`.

Keras finds a layer's group by the layer's name, and assigns the group's arrays to the layer's
weights in order. A checkpoint has no order, so the arrays of a layer are sorted into the order in
which Keras' own layers create them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from estimator_bridge.errors import DataError

__all__ = ["check_names", "read", "write"]

# Weights of Keras' layers, in the order in which each layer creates them. Weights that training
# does not change come last, as in `layer.weights`.
_ORDER = (
    "embeddings",
    "depthwise_kernel",
    "pointwise_kernel",
    "kernel",
    "recurrent_kernel",
    "gamma",
    "beta",
    "bias",
    "moving_mean",
    "moving_variance",
)
_PARTS = 2


def check_names(names: list[str]) -> None:
    """Checks that each variable can be assigned to a layer's weight.

    Raises:
      DataError: a name has no layer, or the order of a layer's weights is not known.
    """
    _layers(names)


def write(path: str, values: Mapping[str, np.ndarray]) -> None:
    """Writes arrays by name: the layer's name, "/", and the weight's name.

    Raises:
      DataError: see `check_names`.
    """
    import h5py

    layers = _layers(list(values))
    with h5py.File(path, "w") as file:
        file.attrs["layer_names"] = [layer.encode() for layer in layers]
        file.attrs["backend"] = b"tensorflow"
        for layer, names in layers.items():
            group = file.create_group(layer)
            group.attrs["weight_names"] = [name.encode() for name in names]
            for name in names:
                group.create_dataset(name, data=values[name])


def read(path: str) -> dict[str, np.ndarray]:
    """Returns the arrays of a file, by name."""
    import h5py

    with h5py.File(path, "r") as file:
        return {
            _text(name): np.asarray(file[_text(layer)][_text(name)])
            for layer in file.attrs["layer_names"]
            for name in file[_text(layer)].attrs["weight_names"]
        }


def _layers(names: list[str]) -> dict[str, list[str]]:
    """Returns the names of each layer's variables, in the order of its weights."""
    layers: dict[str, list[str]] = {}
    for name in names:
        layer, _, weight = name.rpartition("/")
        if not layer or not weight:
            raise DataError(
                f"--to keras: the variable {name!r} is in no layer: want names such as "
                "dense/kernel. Rename it with --table, or leave it out there with '-'."
            )
        layers.setdefault(layer, []).append(name)
    for layer, variables in layers.items():
        unknown = [name for name in variables if name.rpartition("/")[2] not in _ORDER]
        if unknown and len(variables) >= _PARTS:
            raise DataError(
                f"--to keras: the layer {layer!r} has {', '.join(sorted(variables))}, and the "
                f"order of its weights is not known because of {', '.join(sorted(unknown))}. Keras "
                "assigns by order: rename them with --table to names of Keras' own layers "
                f"({', '.join(_ORDER)}), or convert --to npz and assign by name."
            )
        variables.sort(key=_rank)
    return layers


def _rank(name: str) -> int:
    weight = name.rpartition("/")[2]
    return _ORDER.index(weight) if weight in _ORDER else len(_ORDER)


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name
