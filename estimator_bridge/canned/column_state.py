"""Keeps the variables and tables that feature columns create."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["ColumnState"]


class ColumnState(tf.__internal__.feature_column.StateManager):
    """Creates variables by ``get_variable``, so that scopes, partitioners and getters apply."""

    def __init__(self) -> None:
        super().__init__(None, True)
        self.variables: list[Any] = []
        self._by_column: dict[Any, dict[str, Any]] = {}

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Creates a variable in the current variable scope; see ``StateManager``."""
        variables = self._by_column.setdefault(feature_column, {})
        if name in variables:
            raise ValueError(f"Variable already exists: {name!r} of column {feature_column.name}.")
        variables[name] = tf.compat.v1.get_variable(
            name,
            shape,
            dtype or tf.float32,
            initializer,
            trainable=trainable,
            use_resource=use_resource,
        )
        self.variables.append(variables[name])
        return variables[name]

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """Returns an existing variable.

        Raises:
          ValueError: there is none with that name.
        """
        variables = self._by_column.get(feature_column, {})
        if name not in variables:
            raise ValueError(f"Variable does not exist: {name!r} of column {feature_column.name}.")
        return variables[name]
