"""Measures each way once a round, so that other load affects all ways."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Mapping

from benchmarks.process import MeasuredProcess
from benchmarks.workloads import Workload

__all__ = ["measure", "rounds_done", "rounds_of"]

# By metric, by way, one value a round.
Figures = dict[str, dict[str, list[float]]]

_RATE, _CPU = "steps/s", "CPU µs a step"
_TRIAL_SECS = 4.0  # of ways that try two kinds of steps before they choose one


def rounds_of(workload: Workload, rounds: int) -> int:
    """Returns the number of rounds of a workload, of which a share of ``rounds`` is asked."""
    return max(1, math.ceil(rounds * workload.share))


def rounds_done(figures: Figures, ways: Collection[str]) -> int:
    """Returns the number of rounds in which each of these ways was measured."""
    each = [len(by_way.get(way, ())) for by_way in figures.values() for way in ways]
    return min(each, default=0)


def measure(
    workload: Workload,
    pythons: Mapping[str, str],
    rounds: int,
    seconds: float,
    tell: Callable[[str], None] = lambda text: None,
    figures: Figures | None = None,
    keep: Callable[[Figures], None] = lambda figures: None,
) -> Figures:
    """Measures a workload.

    Args:
      workload: the workload to measure.
      pythons: the Python to use, by way.
      rounds: the number of rounds, before the workload's share.
      seconds: the approximate duration of a measurement of steps.
      tell: called with progress messages.
      figures: those of earlier rounds, which are continued. If they lack a way, or are of other
        ways, all is measured anew.
      keep: called with the figures after each round.
    """
    ways = [way for way in workload.ways if way in pythons]
    figures = figures or {}
    rounds_measured = rounds_done(figures, ways)
    if any(set(by_way) - set(ways) for by_way in figures.values()) or not rounds_measured:
        figures, rounds_measured = {}, 0
    for by_way in figures.values():
        for values in by_way.values():
            del values[rounds_measured:]
    rounds = rounds_of(workload, rounds)
    if rounds_measured >= rounds:
        return figures
    run = {"steps": _steps, "calls": _calls, "once": _once}[workload.kind]
    with contextlib.ExitStack() as stack:
        answer = run(workload, ways, pythons, seconds, stack)
        for i in range(rounds_measured, rounds):
            tell(f"{workload.title}: round {i + 1} of {rounds}")
            answers = {
                way: answer(way) for way in (ways if i % 2 else ways[::-1])
            }  # drift affects all
            for way, metrics in answers.items():
                for metric, value in metrics.items():
                    figures.setdefault(metric, {}).setdefault(way, []).append(value)
            keep(figures)
    return figures


def _start(workload: Workload, way: str, pythons: Mapping[str, str]) -> MeasuredProcess:
    options = dict(workload.options)
    if workload.program == "steps":
        options["call"] = workload.call
    return MeasuredProcess(pythons[way], workload.program_of(way), way, options)


def _open(
    workload: Workload,
    ways: list[str],
    pythons: Mapping[str, str],
    stack: contextlib.ExitStack,
) -> dict[str, MeasuredProcess]:
    processes = {}
    for way in ways:
        processes[way] = _start(workload, way, pythons)
        stack.callback(processes[way].close)
    return processes


def _steps(workload, ways, pythons, seconds, stack) -> Callable[[str], dict[str, float]]:
    processes = _open(workload, ways, pythons, stack)
    counts, call = {}, workload.call
    for way, process in processes.items():
        process.order(steps=2 * call)  # compiles
        rate = call / process.order(steps=call)["seconds"]
        if way == "xla_auto":
            process.order(steps=max(1, round(rate * _TRIAL_SECS / call)) * call)
            rate = call / process.order(steps=call)["seconds"]
        counts[way] = max(1, round(rate * seconds / call)) * call

    def answer(way: str) -> dict[str, float]:
        response = processes[way].order(steps=counts[way])
        cpu = response.pop("cpu") / counts[way]
        return {_RATE: counts[way] / response.pop("seconds"), _CPU: 1e6 * cpu, **response}

    return answer


def _calls(workload, ways, pythons, seconds, stack) -> Callable[[str], dict[str, float]]:
    del seconds
    processes = _open(workload, ways, pythons, stack)
    for process in processes.values():
        process.order()  # compiles
    return lambda way: _own(processes[way].order())


def _once(workload, ways, pythons, seconds, stack) -> Callable[[str], dict[str, float]]:
    del ways, seconds, stack

    def answer(way: str) -> dict[str, float]:
        process = _start(workload, way, pythons)
        with contextlib.closing(process):
            return _own(process.order(started=process.start_time))

    return answer


def _own(answer: dict[str, float]) -> dict[str, float]:
    """Returns what a program measured; for calls and starts it takes the CPU time itself."""
    return {metric: value for metric, value in answer.items() if metric != "cpu"}
