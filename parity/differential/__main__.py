"""Runs small behaviors under TensorFlow's own Estimator and here, and compares them.

    python -m parity.differential --original PY215 [--tf1 PY115] [--record] [--report]
    python -m parity.differential [--modes v2on,v2off] [--cores N] [CASE ...]

PY215 is a Python that has TensorFlow 2.15, PY115 one that has TensorFlow 1.15; the judge of both is
taken from ``parity/differential/goldens`` where it is not named. CASE is a case or a theme. Cases
for cores run on N emulated ones too, and have to give what one core of the original gives. The exit
status is 0 if each case agrees, or docs/differences.md says why it does not.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from parity.differential import recorded, report
from parity.differential.catalogue import Case, select_cases
from parity.differential.side import Outcomes, run_side
from parity.differential.verdicts import BAD, Verdict, expected, judge

__all__ = ["main"]


def _options(arguments: list[str] | None) -> tuple[argparse.Namespace, list[Case]]:
    parser = argparse.ArgumentParser(prog="python -m parity.differential", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("words", nargs="*", metavar="CASE", help="cases or themes; default: all")
    parser.add_argument("--original", metavar="PY215", help="a Python with TensorFlow 2.15")
    parser.add_argument("--tf1", metavar="PY115", help="a Python with TensorFlow 1.15")
    parser.add_argument("--modes", default="v2on,v2off", help="default: %(default)s")
    parser.add_argument("--cores", type=int, default=2, help="0 leaves them out; default: 2")
    parser.add_argument("--repeat", type=int, default=5, help="runs of a case that races")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--record", action="store_true", help="keep the originals' outcomes")
    parser.add_argument("--report", action="store_true", help=f"write {report.REPORT.name}")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="keep this side's outcomes there; cases that it has are not run again",
    )
    parser.add_argument("--no-run-here", action="store_true", help="with --record: that alone")
    options = parser.parse_args(arguments)
    options.modes = options.modes.split(",")
    if not set(options.modes) <= {"v2on", "v2off"}:
        parser.error(f"--modes takes v2on, v2off or both; got {','.join(options.modes)}")
    if options.record and not (options.original or options.tf1):
        parser.error("--record keeps what an original gives: add --original or --tf1")
    try:
        cases = select_cases(options.words)
    except ValueError as error:
        parser.error(str(error))
    if options.report and options.words:
        parser.error("--report is about all cases: leave their names out")
    return options, cases


def _watch(who: str) -> Any:
    def watch(name: str, outcome: Any, seconds: float) -> None:
        marks = [key for key in ("hang", "crash") if isinstance(outcome, dict) and key in outcome]
        print(f"  {who:8} {name} {seconds:.1f} s {' '.join(marks).upper()}", flush=True)

    return watch


def _run_originals(options: argparse.Namespace, cases: list[Case]) -> recorded.References:
    """The recorded outcomes, with those of the Pythons that are named in their places."""
    references = recorded.load()
    plan = [(mode, mode, options.original) for mode in options.modes if options.original]
    if options.tf1:
        plan.append((recorded.TF1, "v2off", options.tf1))
    races = {case.name for case in cases if case.races}
    for reference, mode, python in plan:
        outcomes_by_case = run_side(
            python,
            cases,
            mode,
            repeat=options.repeat,
            jobs=options.jobs,
            watch=_watch(reference),
        )
        of_reference = references.setdefault(reference, {})
        for name, outcomes in outcomes_by_case.items():
            previous = of_reference.get(name, []) if name in races else []
            of_reference[name] = recorded.merged(previous, outcomes) if previous else outcomes
        if options.record:
            _record(references, cases)
    return references


def _record(references: recorded.References, cases: list[Case]) -> None:
    """Writes the files of the themes that the cases are of."""
    themes: dict[str, list[str]] = {case.theme: [] for case in cases}
    for case in select_cases([]):
        if case.theme in themes:
            themes[case.theme].append(case.name)
    recorded.save(references, themes)


def _judge(
    options: argparse.Namespace, cases: list[Case], references: recorded.References
) -> list[Verdict]:
    modes = [*options.modes, *(["cores"] if options.cores else [])]
    table = expected()
    verdicts = []
    outcomes_by_mode = _read_outcomes(options.keep)
    one_at_a_time = threading.Lock()
    for mode in modes:
        outcomes: dict[str, Outcomes] = outcomes_by_mode.setdefault(mode, {})
        say = _watch(f"here, {mode}")

        def watch(name: str, outcome: Any, seconds: float) -> None:
            with one_at_a_time:  # each process that works has a thread here
                outcomes[name] = [(1, outcome)]  # noqa: B023 - called within this turn
                say(name, outcome, seconds)  # noqa: B023
                if options.keep:
                    recorded.write_whole(options.keep, json.dumps(outcomes_by_mode))

        run_side(
            sys.executable,
            [case for case in cases if case.name not in outcomes],
            mode,
            cores=options.cores,
            jobs=options.jobs,
            watch=watch,
        )
        for case in cases:
            if case.name in outcomes and case.runs_in(mode):
                verdicts.append(judge(case, mode, outcomes[case.name], references, table))
    return verdicts


def _read_outcomes(path: Path | None) -> dict[str, dict[str, Outcomes]]:
    """This side's outcomes of an earlier, perhaps interrupted run: mode to case to outcomes."""
    if path is None or not path.exists():
        return {}
    return json.loads(path.read_text(encoding="utf-8"))


def main(arguments: list[str] | None = None) -> int:
    """The command; see the module's docstring.

    Returns:
      0 if no case differs undocumented and no documented difference is gone.
    """
    options, cases = _options(arguments)
    began = time.time()
    references = _run_originals(options, cases)
    if options.no_run_here:
        return 0
    verdicts = _judge(options, cases, references)
    for verdict in verdicts:
        if verdict.kind in BAD:
            print(f"{verdict.kind} {verdict.mode} {verdict.case}")
            for line in verdict.lines[:12]:
                print(f"    {line}")
    for line in report.summary(verdicts):
        print(line)
    print(f"{time.time() - began:.0f} s")
    if options.report:
        report.write(verdicts, cases, references)
    return 1 if any(verdict.kind in BAD for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
