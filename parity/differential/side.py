"""Runs cases on one side, in as many processes as it takes: a new one after a hang or a crash."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from parity.differential.catalogue import Case
from parity.harness.worker_process import WorkerProcess

__all__ = ["Outcomes", "run_side"]

# The distinct outcomes of a case's runs, each with how often it came.
Outcomes = list[tuple[int, Any]]

_LOADING = 300.0  # seconds for TensorFlow's import on a busy machine
_CASES_A_PROCESS = 60  # graphs and compiled functions stay until a process ends


def run_side(
    python: str,
    cases: Sequence[Case],
    mode: str,
    *,
    cores: int = 0,
    repeat: int = 1,
    jobs: int = 1,
    watch: Callable[[str, Any, float], None] = lambda name, outcome, seconds: None,
) -> dict[str, Outcomes]:
    """Runs cases in one mode.

    Args:
      python: the Python, and so the TensorFlow, to run them by.
      cases: the cases; those that are not for the mode are left out.
      mode: 'v2on', 'v2off' or 'cores'.
      cores: how many to emulate in mode 'cores'.
      repeat: how often to run cases that race.
      jobs: processes at a time.
      watch: called with each case's name, outcome and seconds as they come.

    Returns:
      Each case's outcomes. A hang is ``{"hang": True}``; a process that ended in the middle of a
      case gives ``{"crash": status}``.
    """
    command = [python, "-W", "ignore", "-m", "parity.differential.worker"]
    command += ["--mode", mode, "--cores", str(cores)]
    mode_cases = [case for case in cases if case.runs_in(mode)]
    size = max(1, min(_CASES_A_PROCESS, -(-len(mode_cases) // jobs)))
    shares = [mode_cases[start : start + size] for start in range(0, len(mode_cases), size)]

    def run(share: list[Case]) -> dict[str, Outcomes]:
        return _Share(command, share, repeat, watch).outcomes()

    outcomes_by_case: dict[str, Outcomes] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for outcomes in pool.map(run, shares):
            outcomes_by_case.update(outcomes)
    return outcomes_by_case


class _Share:
    """Some cases of one side, and what came of them so far."""

    def __init__(
        self,
        command: list[str],
        cases: list[Case],
        repeat: int,
        watch: Callable[[str, Any, float], None],
    ):
        self._command, self._watch = command, watch
        self._cases = {case.name: case for case in cases}
        self._remaining = {case.name: repeat if case.races else 1 for case in cases}
        self._outcomes: dict[str, Outcomes] = {case.name: [] for case in cases}

    def outcomes(self) -> dict[str, Outcomes]:
        while self._remaining:
            self._one_process()
        return self._outcomes

    def _one_process(self) -> None:
        tasks = [[self._cases[name].theme, name, times] for name, times in self._remaining.items()]
        worker = WorkerProcess(self._command, tasks)
        running, last_event = "", time.monotonic()
        is_silent = has_run = is_spent = False

        def limit() -> float:
            seconds = self._cases[running].seconds if running else _LOADING
            return max(0.1, last_event + seconds - time.monotonic())

        for event in worker.events(limit):
            if event is None:
                is_silent = True
                break
            last_event = time.monotonic()
            if event["event"] == "start":
                running = event["case"]
            elif event["event"] == "end":
                running = ""
                self._add(event["case"], event["outcome"], event["seconds"])
                has_run = True
            is_spent = has_run and event["event"] == "spent"
        words = worker.last_words()
        status = worker.stop()
        if running:
            outcome = {"hang": True} if is_silent else {"crash": status}
            self._add(running, outcome, time.monotonic() - last_event)
        elif self._remaining and not is_spent:  # it never came to a case
            why = f"said nothing for {_LOADING:g} s" if is_silent else f"ended with {status}"
            raise RuntimeError(f"{' '.join(self._command)} {why} between two cases:\n{words}")

    def _add(self, name: str, outcome: Any, seconds: float) -> None:
        self._remaining[name] -= 1
        if not self._remaining[name]:
            del self._remaining[name]
        counts = self._outcomes[name]
        for index, (count, recorded_outcome) in enumerate(counts):
            if recorded_outcome == outcome:
                counts[index] = (count + 1, recorded_outcome)
                break
        else:
            counts.append((1, outcome))
        self._watch(name, outcome, seconds)
