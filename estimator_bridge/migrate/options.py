"""What a user has chosen: by arguments, and in pyproject.toml."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.migrate.registry import Rule, selected

__all__ = ["ConfigurationError", "Options", "read_configuration"]

_TABLE = "estimator-bridge"


class ConfigurationError(Exception):
    """pyproject.toml holds what cannot be used; the message says what was wanted."""


@dataclass(frozen=True)
class Options:
    """What is looked for, and where.

    Attributes:
      select: codes of rules, or what they begin with; none means all.
      ignore: likewise, what is left out.
      exclude: patterns of files that are not looked at.
      dialect: what `import tensorflow` means in all files; None lets each source tell.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    dialect: Dialect | None = None

    def rules(self) -> tuple[Rule, ...]:
        """The rules that are looked for.

        Raises:
          ValueError: a code is none.
        """
        return selected(self.select, self.ignore)

    def given(self, **chosen: Any) -> Options:
        """These options with others in their place; None leaves one as it is."""
        return replace(self, **{name: v for name, v in chosen.items() if v is not None})


def read_configuration(folder: str) -> Options:
    """Reads the table ``[tool.estimator-bridge]`` of the nearest pyproject.toml.

    Args:
      folder: where the search begins; it goes on in the folders above.

    Raises:
      ConfigurationError: the file is broken, or the table has what it must not.
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
        raise ConfigurationError(f"{path} is broken: {error}") from None
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
    for name in ("tomllib", "tomli"):  # Python has its own since 3.11
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    return None


def _options(path: str, table: Mapping[str, Any]) -> Options:
    known = {field.name for field in fields(Options)}
    chosen: dict[str, Any] = {}
    for name, value in table.items():
        if name not in known:
            raise ConfigurationError(
                f"{path}: [tool.{_TABLE}] has no setting {name!r}; it has "
                f"{', '.join(sorted(known))}"
            )
        if name == "dialect":
            if value not in ("tf1", "tf2"):
                raise ConfigurationError(f"{path}: dialect is 'tf1' or 'tf2', not {value!r}")
            chosen[name] = Dialect[value.upper()]
        elif not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ConfigurationError(f"{path}: {name} is a list of strings, not {value!r}")
        else:
            chosen[name] = tuple(value)
    return Options(**chosen)
