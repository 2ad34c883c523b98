"""Arrays in a .safetensors file, which PyTorch, JAX and others read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tensorflow as tf

__all__ = ["read", "write"]

_TYPES = {
    "BF16": tf.bfloat16.as_numpy_dtype,
    "BOOL": np.bool_,
    "C64": np.complex64,
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
    "I8": np.int8,
    "I16": np.int16,
    "I32": np.int32,
    "I64": np.int64,
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
}


def write(path: str, values: Mapping[str, np.ndarray]) -> None:
    """Writes arrays by name.

    Raises:
      ImportError: the package safetensors is not installed.
    """
    # Without contiguous memory, the package would write other numbers.
    contiguous = {name: np.ascontiguousarray(value) for name, value in values.items()}
    arrays = {name: array.reshape(values[name].shape) for name, array in contiguous.items()}
    _package().numpy.save_file(arrays, path, metadata={"format": "np"})


def read(path: str) -> dict[str, np.ndarray]:
    """Returns the arrays of a file, by name.

    Raises:
      ImportError: the package safetensors is not installed.
    """
    with open(path, "rb") as file:
        entries = _package().deserialize(file.read())
    return {
        name: np.frombuffer(one["data"], _TYPES[one["dtype"]]).reshape(one["shape"])
        for name, one in entries
    }


def _package():
    try:
        import safetensors
        import safetensors.numpy
    except ImportError as error:
        raise ImportError(
            "--to safetensors needs the package safetensors, which is not installed. Run: pip "
            "install 'estimator-bridge[safetensors]', or pip install safetensors; or choose --to "
            "npz, which needs none."
        ) from error
    return safetensors
