"""The user's options, from arguments and pyproject.toml."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.migrate.registry import Rule, select_rules

__all__ = ["ConfigurationError", "Options", "read_configuration"]

_TABLE = "estimator-bridge"


class ConfigurationError(Exception):
    """pyproject.toml is invalid; the message says what was expected."""


@dataclass(frozen=True)
class Options:
    """The rules to apply, and the files to exclude.

    Attributes:
      select: codes of rules or their prefixes; empty for all.
      ignore: codes or prefixes to leave out.
      exclude: patterns of files to skip.
      dialect: the meaning of `import tensorflow` in all files; None to detect it in each source.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    dialect: Dialect | None = None

    def rules(self) -> tuple[Rule, ...]:
        """Returns the selected rules.

        Raises:
          ValueError: a code is unknown.
        """
        return select_rules(self.select, self.ignore)

    def override(self, **options: Any) -> Options:
        """Returns these options with some replaced; None keeps an option."""
        return replace(self, **{name: v for name, v in options.items() if v is not None})


def read_configuration(folder: str) -> Options:
    """Reads the table ``[tool.estimator-bridge]`` of the nearest pyproject.toml.

    Args:
      folder: the folder where the search begins; it continues in the folders above.

    Raises:
      ConfigurationError: the file or the table is invalid.
    """
    path = _nearest(os.path.abspath(folder))
    if path is None:
        return Options()
    with open(path, "rb") as file:
        content = file.read()
    if f"tool.{_TABLE}".encode() not in content:
        return Options()
    tomllib = _toml()
    if tomllib is None:
        raise ConfigurationError(
            f"{path} has a table [tool.{_TABLE}], and Python {sys.version_info[0]}."
            f"{sys.version_info[1]} cannot read TOML: pip install tomli"
        )
    try:
        document = tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}") from None
    return _options(path, document.get("tool", {}).get(_TABLE, {}))


def _nearest(folder: str) -> str | None:
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(path):
            return path
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _toml() -> Any:
    for name in ("tomllib", "tomli"):  # built in since Python 3.11
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    return None


def _options(path: str, table: Mapping[str, Any]) -> Options:
    settings = {field.name for field in fields(Options)}
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name not in settings:
            raise ConfigurationError(
                f"{path}: [tool.{_TABLE}] has no setting {name!r}; it has "
                f"{', '.join(sorted(settings))}"
            )
        if name == "dialect":
            if value not in ("tf1", "tf2"):
                raise ConfigurationError(f"{path}: dialect is 'tf1' or 'tf2', not {value!r}")
            values[name] = Dialect[value.upper()]
        elif not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ConfigurationError(f"{path}: {name} is a list of strings, not {value!r}")
        else:
            values[name] = tuple(value)
    return Options(**values)
