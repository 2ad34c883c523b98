"""The table of rules: each file in `rules/` registers its rules when it is imported."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from estimator_bridge.migrate.findings import Finding
from estimator_bridge.migrate.module import Module

__all__ = ["Rule", "all_rules", "rule", "select_rules"]

_CODE = re.compile(r"EB\d{3}")


class _Check(Protocol):
    __doc__: str | None

    def __call__(self, module: Module) -> Iterable[Finding]: ...


@dataclass(frozen=True)
class Rule:
    """A rule.

    Attributes:
      code: EB and three digits.
      title: a few words for reports.
      text: the documentation in Markdown: why, before, after.
      check: returns the findings in a module.
      on_files: whether it is reported while files are read; `check` then finds nothing.
      under_run: whether `estimator-bridge run` does for a program what `rewrite` would write.
    """

    code: str
    title: str
    text: str
    check: Callable[[Module], Iterable[Finding]]
    on_files: bool = False
    under_run: bool = False


_RULES: dict[str, Rule] = {}


def rule(
    code: str, title: str, on_files: bool = False, under_run: bool = False
) -> Callable[[_Check], _Check]:
    """Adds a rule to the table. The function's docstring is its documentation.

    Raises:
      ValueError: the code is invalid or taken, or there is no docstring.
    """

    def add(check: _Check) -> _Check:
        text = inspect.getdoc(check)
        if not _CODE.fullmatch(code) or code in _RULES or not text:
            raise ValueError(f"{code}: wanted EB and three digits, not yet taken, and a docstring")
        _RULES[code] = Rule(code, title, text, check, on_files, under_run)
        return check

    return add


@functools.cache
def all_rules() -> Mapping[str, Rule]:
    """Returns all rules by code, in order."""
    from estimator_bridge.migrate import rules

    for file in pkgutil.iter_modules(rules.__path__):
        importlib.import_module(f"{rules.__name__}.{file.name}")
    return dict(sorted(_RULES.items()))


def select_rules(select: Iterable[str], ignore: Iterable[str]) -> tuple[Rule, ...]:
    """Returns the rules that codes or prefixes of codes select.

    Args:
      select: codes such as "EB010", or prefixes such as "EB01"; empty selects all.
      ignore: codes or prefixes to leave out.

    Raises:
      ValueError: no rule has such a code.
    """
    select, ignore = tuple(select), tuple(ignore)
    for start in (*select, *ignore):
        if not any(code.startswith(start) for code in all_rules()):
            raise ValueError(
                f"no rule has the code or prefix {start!r}; "
                f"`estimator-bridge check --list-rules` shows them"
            )
    return tuple(
        candidate
        for code, candidate in all_rules().items()
        if (not select or code.startswith(select)) and not code.startswith(ignore or ("-",))
    )
