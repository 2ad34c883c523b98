"""Lists the cases without importing TensorFlow: their decorators are read, not run."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple, Optional

__all__ = ["FOLDER", "Case", "catalogue", "select_cases"]

FOLDER = Path(__file__).parent / "cases"


class Case(NamedTuple):
    """A case; the fields after ``theme`` are the arguments of its decorator.

    Attributes:
      name: its function's name, unique among all cases.
      theme: its file's name, without ``.py``.
      only: the one mode that it is for, 'v2on' or 'v2off'; None for both.
      races: why the original's outcome varies from run to run; None where it does not.
      cores: it runs on emulated cores too, and has to give what one core of the original gives.
      seconds: how long it may take before it counts as a hang.
    """

    name: str
    theme: str
    only: Optional[str] = None
    races: Optional[str] = None
    cores: bool = False
    seconds: float = 120.0

    def runs_in(self, mode: str) -> bool:
        """Returns whether it is for a mode: 'v2on', 'v2off' or 'cores'."""
        if mode == "cores":
            return self.cores
        return self.only in (None, mode)


def catalogue() -> dict[str, Case]:
    """Returns all cases by name, in the order of themes and lines.

    Raises:
      ValueError: two cases have one name.
    """
    cases: dict[str, Case] = {}
    for path in sorted(FOLDER.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef):
                continue
            for decorator in node.decorator_list:
                facts = _facts(decorator)
                if facts is None:
                    continue
                if node.name in cases:
                    raise ValueError(
                        f"two cases are named {node.name}: in {cases[node.name].theme}.py and in "
                        f"{path.name}. Rename one of them."
                    )
                cases[node.name] = Case(node.name, path.stem, **facts)
    return cases


def _facts(decorator: ast.expr) -> dict | None:
    """The arguments of ``@case`` or ``@case(...)``; None for another decorator."""
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not isinstance(call, ast.Name) or call.id != "case":
        return None
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in keywords}


def select_cases(words: list[str]) -> list[Case]:
    """Returns the cases that a command line names.

    Args:
      words: names of cases or of themes; all cases if there are none.

    Raises:
      ValueError: a word is neither.
    """
    cases = catalogue()
    if not words:
        return list(cases.values())
    themes = {case.theme for case in cases.values()}
    unknown = sorted(set(words) - themes - set(cases))
    if unknown:
        raise ValueError(
            f"no such case: {', '.join(unknown)}; name a case or one of the themes "
            f"{', '.join(sorted(themes))}"
        )
    return [case for case in cases.values() if case.name in words or case.theme in words]
