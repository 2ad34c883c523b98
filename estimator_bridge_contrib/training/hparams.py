"""tf.contrib.training.HParams: typed hyperparameters, as attributes of one object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from estimator_bridge_contrib.training.hparam_proto import is_hparam_def, to_hparam_def, values_of
from estimator_bridge_contrib.training.hparam_values import cast_hparam, parse_values

__all__ = ["HParams"]


class _NotAnHParamDefError(TypeError, AssertionError):
    """A value is not the message; TensorFlow 1.15 raised an AssertionError."""


class HParams:
    """Hyperparameters by name, each with the type of its first value.

    Args:
      hparam_def: the result of ``to_proto``, with which the hyperparameters start.
      model_structure: stored for ``get_model_structure``.
      **kwargs: the hyperparameters: numbers, bools, texts, or non-empty lists of one of these.

    Raises:
      ValueError: a name is a member of this class, or a list is empty.
      TypeError: ``hparam_def`` is not such a message.
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any):
        # By name: the type of the value or of its elements, and whether it is a list.
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        if hparam_def is not None:
            if not is_hparam_def(hparam_def):
                raise _NotAnHParamDefError(
                    f"hparam_def must be a HParamDef, as HParams.to_proto returns it; got "
                    f"{hparam_def!r}. Give hyperparameters by name: HParams(rate=0.1)."
                )
            for name, value in values_of(hparam_def).items():
                self.add_hparam(name, value)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a hyperparameter.

        Raises:
          ValueError: the name exists already or is a member of this class, or the list is empty.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(
                f"Hyperparameter name is reserved: {name}. It is one already (set_hparam changes "
                "it), or a method of HParams."
            )
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(
                f"Multi-valued hyperparameters cannot be empty: {name}. Elements define the type."
            )
        self._hparam_types[name] = (type(value[0] if is_list else value), is_list)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Changes a hyperparameter to another value of its type.

        Raises:
          KeyError: there is no such hyperparameter.
          ValueError: the value does not have its type.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [cast_hparam(name, kind, element) for element in value])
            return
        if is_list:
            raise ValueError(
                f"Must pass a list for multi-valued parameter: {name}. Got {value!r}; the list is "
                f"{getattr(self, name)!r}."
            )
        setattr(self, name, cast_hparam(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a hyperparameter, if there is one of this name."""
        if self._hparam_types.pop(name, None) is not None:
            delattr(self, name)

    def parse(self, values: str) -> HParams:
        """Changes the hyperparameters that a text such as "rate=0.1,layers=[8,4]" assigns.

        Returns:
          This object.

        Raises:
          ValueError: the text is malformed, or names an unknown hyperparameter.
        """
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Changes several hyperparameters.

        Returns:
          This object.

        Raises:
          KeyError: there is no such hyperparameter.
          ValueError: a value does not have its type.
        """
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    set_from_map = override_from_dict

    def parse_json(self, values_json: str) -> HParams:
        """Like ``override_from_dict``, for a JSON object."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(
        self,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """Returns the hyperparameters as a JSON object; arguments as for json.dumps."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Returns the hyperparameters as a HParamDef; its floats have 32 bits.

        Args:
          export_scope: has no effect; TensorFlow's other to_proto methods take it.

        Raises:
          ValueError: a value is None, or has a type that the message cannot hold.
        """
        del export_scope
        return to_hparam_def(self.values(), self._hparam_types)

    @staticmethod
    def from_proto(hparam_def: Any, import_scope: str | None = None) -> HParams:
        """Returns the hyperparameters of a HParamDef.

        Args:
          hparam_def: the result of ``to_proto``.
          import_scope: has no effect.
        """
        del import_scope
        return HParams(hparam_def=hparam_def)

    def values(self) -> dict[str, Any]:
        """Returns the hyperparameters as a dict, in the order in which they were added."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a hyperparameter's value, or ``default`` if there is none of this name.

        Raises:
          ValueError: it exists, and ``default`` is incompatible with its type.
        """
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            type_name = f"list<{kind}>" if is_list else str(kind)
            message = f"Hparam '{key}' of type '{type_name}' is incompatible with default={default}"
            if is_list != isinstance(default, list):
                raise ValueError(message)
            try:
                for value in default if is_list else [default]:
                    cast_hparam(key, kind, value)
            except ValueError as error:
                raise ValueError(f"{message}. {error}") from error
        return getattr(self, key)

    def set_model_structure(self, model_structure: Any) -> None:
        """Stores an object with the hyperparameters."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """Returns the object given to ``set_model_structure`` or the constructor."""
        return self._model_structure

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"
