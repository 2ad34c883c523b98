"""Formats findings for a reader: a verdict, then each rule once, with its count and an example."""

from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.base.terminal_text import printable
from estimator_bridge.migrate.check import Report
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.registry import all_rules
from estimator_bridge.migrate.reports.as_lines import describe_extent, describe_place

__all__ = ["count_places", "render", "runs_as_it_is"]

_FOR_A_PERSON = (Severity.BY_HAND, Severity.UNAVAILABLE)


def render(report: Report) -> str:
    """Returns a verdict, the rules by severity, and how much was read."""
    lines = [_verdict(report.findings), ""]
    for severity in reversed(Severity):  # what a person has to do comes first
        lines += _rules([each for each in report.findings if each.severity is severity])
    lines += [
        f"{file.path}: passed over: {file.passed_over}" for file in report.files if file.passed_over
    ]
    with_findings = sum(bool(file.findings) for file in report.files)
    where = f", findings in {with_findings}; --verbose lists each" if with_findings else ""
    return "\n".join(map(printable, [*lines, f"{describe_extent(report)}{where}"]))


def _verdict(findings: list[Finding]) -> str:
    rewritten = sum(each.severity is Severity.REWRITTEN for each in findings)
    if rewritten and runs_as_it_is(findings):
        return (
            "Runs as it is under `estimator-bridge run`; for plain Python, `rewrite` does all: "
            f"{count_places(rewritten)}."
        )
    for_a_person = sum(each.severity in _FOR_A_PERSON for each in findings)
    if not for_a_person:
        return (
            f"`rewrite` does all: {count_places(rewritten)}." if rewritten else "Nothing to change."
        )
    if not rewritten:
        return f"{count_places(for_a_person)} for a person, and nothing for `rewrite`."
    return f"`rewrite` does all but {for_a_person} of {count_places(rewritten + for_a_person)}."


def runs_as_it_is(findings: list[Finding]) -> bool:
    """Whether nothing was noticed that `estimator-bridge run` does not do for a program."""
    return all(
        each.severity is Severity.WORKS
        or (each.severity is Severity.REWRITTEN and all_rules()[each.rule].under_run)
        for each in findings
    )


def count_places(count: int) -> str:
    """Returns a number of places in words."""
    return f"{count} {'place' if count == 1 else 'places'}"


def _rules(findings: list[Finding]) -> Iterator[str]:
    """Yields the lines of one severity, the most frequent rule first."""
    if not findings:
        return
    by_rule: dict[str, list[Finding]] = {}
    for each in findings:
        by_rule.setdefault(each.rule, []).append(each)
    yield f"{findings[0].severity.value}: {len(findings)}"
    for rule, of_rule in sorted(by_rule.items(), key=lambda item: -len(item[1])):
        first = of_rule[0]
        yield f"  {rule} {len(of_rule):>4}  {all_rules()[rule].title}"
        yield f"              {describe_place(first)}: {first.message}. {first.how}".rstrip()
    yield ""
