"""HParamDef, the message in which TensorFlow 1 stored hyperparameters.

TensorFlow 2 does not have it, so it is described here. Its fields have the names, types and numbers
that they have in TensorFlow 1.15.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf import (  # type: ignore[import-untyped]
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)

__all__ = ["is_hparam_def", "to_hparam_def", "values_of"]

_FIELD = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "tensorflow"
# By kind of value: the wire's type, and the numbers of the field of one value and of a list.
_KINDS = {
    "int64": (_FIELD.TYPE_INT64, 1, 4),
    "float": (_FIELD.TYPE_FLOAT, 2, 5),
    "bytes": (_FIELD.TYPE_BYTES, 3, 6),
    "bool": (_FIELD.TYPE_BOOL, 7, 8),
}


def to_hparam_def(values: Mapping[str, Any], kinds: Mapping[str, tuple[type, bool]]) -> Any:
    """Returns the message of some hyperparameters.

    Args:
      values: the values by name.
      kinds: by name, the type of the value or its elements, and whether it is a list.

    Raises:
      ValueError: a value has a type that the message cannot hold.
    """
    message = _message()()
    for name, (kind, is_list) in kinds.items():
        field, value = _field(name, kind), values[name]
        if is_list:
            elements = getattr(message.hparam[name], f"{field}_list").value
            elements.extend(_stored(value))
        else:
            setattr(message.hparam[name], f"{field}_value", *_stored([value]))
    return message


def is_hparam_def(value: Any) -> bool:
    """Returns whether a value is such a message."""
    return getattr(getattr(value, "DESCRIPTOR", None), "full_name", "") == f"{_PACKAGE}.HParamDef"


def values_of(message: Any) -> dict[str, Any]:
    """Returns the hyperparameters of a message by name; bytes become text."""
    values = {}
    for name, stored in message.hparam.items():
        kind = stored.WhichOneof("kind")
        value = getattr(stored, kind)
        values[name] = [_text(each) for each in value.value] if "list" in kind else _text(value)
    return values


def _field(name: str, kind: type) -> str:
    if issubclass(kind, bool):
        return "bool"
    for base, field in ((int, "int64"), (float, "float"), ((str, bytes), "bytes")):
        if issubclass(kind, base):
            return field
    raise ValueError(
        f"Hyperparameter {name!r} has the type {kind.__name__}, which HParamDef cannot hold. It "
        "holds numbers, bools, texts, and lists of one of them."
    )


def _stored(values: Iterable[Any]) -> list[Any]:
    return [each.encode() if isinstance(each, str) else each for each in values]


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


@functools.cache
def _message() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="estimator_bridge/hparam.proto", package=_PACKAGE, syntax="proto3"
    )
    outer = file.message_type.add(name="HParamDef")
    scope = f".{_PACKAGE}.HParamDef"
    value = outer.nested_type.add(name="HParamType")
    value.oneof_decl.add(name="kind")
    for kind, (type_, one, many) in _KINDS.items():
        list_name = f"{kind.capitalize()}List"
        elements = outer.nested_type.add(name=list_name)
        elements.field.add(name="value", number=1, type=type_, label=_FIELD.LABEL_REPEATED)
        value.field.add(
            name=f"{kind}_value", number=one, type=type_, label=_FIELD.LABEL_OPTIONAL, oneof_index=0
        )
        value.field.add(
            name=f"{kind}_list",
            number=many,
            type=_FIELD.TYPE_MESSAGE,
            type_name=f"{scope}.{list_name}",
            label=_FIELD.LABEL_OPTIONAL,
            oneof_index=0,
        )
    entry = outer.nested_type.add(name="HparamEntry")
    entry.options.map_entry = True
    optional = _FIELD.LABEL_OPTIONAL
    entry.field.add(name="key", number=1, type=_FIELD.TYPE_STRING, label=optional)
    entry.field.add(
        name="value",
        number=2,
        type=_FIELD.TYPE_MESSAGE,
        type_name=f"{scope}.HParamType",
        label=optional,
    )
    outer.field.add(
        name="hparam",
        number=1,
        type=_FIELD.TYPE_MESSAGE,
        type_name=f"{scope}.HparamEntry",
        label=_FIELD.LABEL_REPEATED,
    )
    pool = descriptor_pool.DescriptorPool()  # its own: another package may define the message too
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.HParamDef"))
