"""Read-only attributes of a configuration, each with a docstring."""

from __future__ import annotations

from typing import Any

__all__ = ["Place", "Setting"]


class Setting:
    """A read-only property stored in the config's `_settings`."""

    def __init__(self, doc: str):
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, config: Any, owner: type | None = None) -> Any:
        return self if config is None else config._settings[self._name]

    def __set__(self, config: Any, value: Any) -> None:
        raise AttributeError(
            f"can't set attribute {self._name!r} of {type(config).__name__}; "
            f"use config = config.replace({self._name}=...)"
        )


class Place(Setting):
    """A read-only property that TF_CONFIG sets and `replace` cannot change."""

    def __get__(self, config: Any, owner: type | None = None) -> Any:
        return self if config is None else getattr(config._cluster_place, self._name)

    def __set__(self, config: Any, value: Any) -> None:
        raise AttributeError(
            f"can't set attribute {self._name!r} of {type(config).__name__}: TF_CONFIG decides it"
        )
