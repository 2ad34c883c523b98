"""The messages of a bundle: signatures, and files that tensors name.

They are made when this module is loaded, and have the names and numbers of TensorFlow 1, so either
reads what the other wrote.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import (  # type: ignore[import-untyped]
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)

__all__ = [
    "AssetFile",
    "ClassificationSignature",
    "GenericSignature",
    "RegressionSignature",
    "Signature",
    "Signatures",
    "TensorBinding",
]

_PACKAGE = "tensorflow.serving"
_FILE = "tensorflow/contrib/session_bundle/manifest.proto"
_Field = descriptor_pb2.FieldDescriptorProto
# By message: its fields in the order of their numbers. "map" is from texts to messages.
_MESSAGES = {
    "TensorBinding": "tensor_name",
    "AssetFile": "tensor_binding:TensorBinding filename",
    "RegressionSignature": "input:TensorBinding output:TensorBinding",
    "ClassificationSignature": "input:TensorBinding classes:TensorBinding scores:TensorBinding",
    "GenericSignature": "map:map:TensorBinding",
    "Signature": (
        "regression_signature:RegressionSignature "
        "classification_signature:ClassificationSignature generic_signature:GenericSignature"
    ),
    "Signatures": "default_signature:Signature named_signatures:map:Signature",
}
# The message of which one field at a time is set, and the name of that choice.
_CHOICE = ("Signature", "type")


def _described() -> Any:
    """Describes the file of the messages."""
    file = descriptor_pb2.FileDescriptorProto(name=_FILE, package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name == _CHOICE[0]:
            message.oneof_decl.add(name=_CHOICE[1])
        for number, words in enumerate(fields.split(), 1):
            field, *kinds = words.split(":")
            field_proto = _add_field(message, field, number, kinds[-1] if kinds else None)
            if name == _CHOICE[0]:
                field_proto.oneof_index = 0
            if "map" in kinds[:1]:
                _make_map(message, field_proto)
    return file


def _add_field(message: Any, name: str, number: int, kind: str | None) -> Any:
    field = message.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
    field.type = _Field.TYPE_MESSAGE if kind else _Field.TYPE_STRING
    if kind:
        field.type_name = f".{_PACKAGE}.{kind}"
    return field


def _make_map(message: Any, field: Any) -> None:
    """Makes a field a map, which protobuf stores as repeated pairs of a nested message."""
    pair = "".join(word.capitalize() for word in field.name.split("_")) + "Entry"
    entry = message.nested_type.add(name=pair)
    entry.options.map_entry = True
    _add_field(entry, "key", 1, None)
    _add_field(entry, "value", 2, field.type_name.rpartition(".")[2])
    field.label = _Field.LABEL_REPEATED
    field.type_name = f".{_PACKAGE}.{message.name}.{pair}"


def _message_class(name: str) -> Any:
    descriptor = _POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}")
    return message_factory.GetMessageClass(descriptor)


_POOL = descriptor_pool.Default()  # text formats look up messages in it
_POOL.AddSerializedFile(_described().SerializeToString())

AssetFile = _message_class("AssetFile")
ClassificationSignature = _message_class("ClassificationSignature")
GenericSignature = _message_class("GenericSignature")
RegressionSignature = _message_class("RegressionSignature")
Signature = _message_class("Signature")
Signatures = _message_class("Signatures")
TensorBinding = _message_class("TensorBinding")
