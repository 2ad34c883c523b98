"""A SavedModel's signature: the inputs it takes, and its call."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.base.any_files import check_no_pipes_below
from estimator_bridge.errors import DataError

__all__ = ["ExampleInput", "Input", "ServedModel", "load_model"]

_DEFAULT = "serving_default"
_PARSERS = ("ParseExample", "ParseExampleV2")
_IMAGE_DECODERS = frozenset(
    f"Decode{kind}" for kind in ("AndCropJpeg", "Bmp", "Gif", "Image", "Jpeg", "Png", "WebP")
)


@dataclasses.dataclass(frozen=True)
class Input:
    """An input of a signature.

    Attributes:
      name: its name.
      dtype: its type.
      shape: the shape of one example; None where a size is free.
    """

    name: str
    dtype: tf.DType
    shape: tuple[int | None, ...]


@dataclasses.dataclass(frozen=True)
class ExampleInput:
    """The input of a signature that parses serialized `tf.train.Example` records.

    Attributes:
      name: the input's name.
      dtypes: the types of the features that it parses, by name.
    """

    name: str
    dtypes: Mapping[str, tf.DType]


@dataclasses.dataclass(frozen=True)
class ServedModel:
    """A signature of a SavedModel.

    Attributes:
      path: the SavedModel's folder.
      signature: the signature's name.
      inputs: its inputs.
      examples: the input that parses records, if it is the only one.
      batch_size: the size that a batch must have; None if it is free.
      call: computes a batch's outputs by name from its inputs by name.
      decodes_images: whether an operation of it decodes images' files.
    """

    path: str
    signature: str
    inputs: tuple[Input, ...]
    examples: ExampleInput | None
    batch_size: int | None
    call: Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]]
    decodes_images: bool


def load_model(path: str, signature: str | None = None, outputs: Sequence[str] = ()) -> ServedModel:
    """Loads a signature of a SavedModel.

    Args:
      path: the SavedModel's folder.
      signature: the signature; None: serving_default, or the only one.
      outputs: the outputs that are computed; empty: all.

    Raises:
      DataError: the SavedModel cannot be loaded, or has no such signature or output.
    """
    try:
        check_no_pipes_below(path)
        saved_model = tf.saved_model.load(path, tags=None)
    except (OSError, ValueError, RuntimeError, tf.errors.OpError) as error:
        lines = str(getattr(error, "message", None) or error).strip().splitlines()
        raise DataError(f"{path}: not a SavedModel that can be loaded: {lines[0]}") from error
    name = _choose_signature(path, list(saved_model.signatures), signature)
    function = saved_model.signatures[name]
    specs = function.structured_input_signature[1]
    output_names = sorted(function.structured_outputs)
    missing = sorted(set(outputs) - set(output_names))
    if missing:
        raise DataError(
            f"{path}: signature {name!r} has no output {missing[0]!r}, but "
            f"{', '.join(output_names)}."
        )
    inputs = tuple(_input(path, input_name, spec) for input_name, spec in sorted(specs.items()))
    fixed = {spec.shape[0] for spec in specs.values()} - {None}

    def call(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        _ = saved_model  # holds the variables, which the function refers to weakly
        arguments = {one.name: tf.constant(values[one.name], one.dtype) for one in inputs}
        outputs_by_name = function(**arguments)
        return {output: outputs_by_name[output].numpy() for output in outputs or output_names}

    examples = _examples(function, inputs)
    size, decodes = min(fixed) if fixed else None, _decodes_images(function)
    return ServedModel(path, name, inputs, examples, size, call, decodes)


def _choose_signature(path: str, names: Sequence[str], signature: str | None) -> str:
    if signature is None:
        signature = names[0] if len(names) == 1 else _DEFAULT
    if signature not in names:
        raise DataError(
            f"{path}: no signature {signature!r}. Name one with --signature: "
            f"{', '.join(sorted(names)) or 'it has none'}."
        )
    return signature


def _input(path: str, name: str, spec: tf.TensorSpec) -> Input:
    if spec.shape.rank is None or spec.shape.rank == 0:
        raise DataError(
            f"{path}: input {name!r} has the shape {spec.shape}, whose first dimension is no "
            "batch. Export the model with inputs of shape [None, ...]."
        )
    return Input(name, spec.dtype, tuple(spec.shape[1:]))


def _decodes_images(function: Any) -> bool:
    graph = function.graph.as_graph_def()  # with the functions that it calls
    bodies = [
        graph.node,
        *(library_function.node_def for library_function in graph.library.function),
    ]
    return any(node.op in _IMAGE_DECODERS for body in bodies for node in body)


def _examples(function: Any, inputs: Sequence[Input]) -> ExampleInput | None:
    """Returns the input, if it is the only one, whose strings a parser of Examples gets."""
    if len(inputs) != 1 or inputs[0].dtype != tf.string or inputs[0].shape:
        return None
    parsers = [op for op in function.graph.get_operations() if op.type in _PARSERS]
    if not parsers:
        return None
    dtypes: dict[str, tf.DType] = {}
    for op in parsers:
        dtypes.update(_dense(op))
    return ExampleInput(inputs[0].name, dtypes)


def _dense(op: tf.Operation) -> dict[str, tf.DType]:
    """Returns the types of the features that an operation parses."""
    if op.type == "ParseExampleV2":
        sparse, dense = (tf.get_static_value(op.inputs[at]) for at in (2, 3))
    else:
        count = op.get_attr("Nsparse")
        keys = [tf.get_static_value(value) for value in op.inputs[2:]]
        sparse, dense = keys[:count], keys[count : count + op.get_attr("Ndense")]
    dtypes = {}
    for names, attribute in ((sparse, "sparse_types"), (dense, "Tdense")):
        for name, dtype in zip([] if names is None else names, op.get_attr(attribute)):
            text = name if isinstance(name, bytes) else np.asarray(name).item()
            dtypes[text.decode()] = tf.as_dtype(dtype)
    return dtypes
