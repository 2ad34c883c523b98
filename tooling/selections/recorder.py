"""A plugin of pytest that records the CPU time of each file of tests.

    python -m pytest -p tooling.selections.recorder --record-seconds seconds.json

Works in one process and in several of pytest-xdist, whose workers hand their times to the first.
"""

from __future__ import annotations

import collections
import json
import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

_KEY = "seconds_of_files"


def cpu_seconds() -> float:
    """Returns the CPU time of this process and of the children that it waited for, in seconds."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


class Recorder:
    """Adds up the CPU time of each file's tests, fixtures included."""

    def __init__(self, output: Path) -> None:
        self._output = output
        self._seconds: collections.defaultdict[str, float] = collections.defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Times one test and adds it to its file."""
        start = cpu_seconds()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid.partition("::")[0]] += cpu_seconds() - start

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Adds what a worker of pytest-xdist recorded."""
        for name, seconds in getattr(node, "workeroutput", {}).get(_KEY, {}).items():
            self._seconds[name] += seconds

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hands the times to the first process, or writes the file."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_KEY] = dict(self._seconds)
            return
        write_seconds(self._output, self._seconds, session.config.rootpath)


def write_seconds(output: Path, seconds: Mapping[str, float], root: Path) -> None:
    """Writes the times of a run; files that it did not run keep theirs while they exist."""
    before = json.loads(output.read_text(encoding="utf-8")) if output.exists() else {}
    lines = {name: value for name, value in before.items() if (root / name).exists()}
    lines.update({name: round(value, 1) for name, value in seconds.items()})
    text = json.dumps(lines, indent=0, sort_keys=True)
    output.write_text(text + "\n", encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --record-seconds."""
    parser.addoption(
        "--record-seconds", type=Path, required=True, help="a JSON file: CPU seconds by file"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Starts to record."""
    config.pluginmanager.register(Recorder(config.getoption("--record-seconds")))
