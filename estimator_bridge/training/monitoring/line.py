"""The line that shows the progress of a training."""

from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.compile_for.units import as_share, as_si
from estimator_bridge.training.progress_reports import StepReport

__all__ = ["duration", "sentence"]

# Other numbers, such as a diverged loss, are written with an exponent.
_SMALL, _LARGE = 1e-3, 1e9
_SPACE = "  "
_LEAST_FIRST = ("flops", "steps", "examples", "left", "wait")


def sentence(report: StepReport, width: int | None = None) -> str:
    """Returns the line: step, loss, rates, the share of waiting, FLOP/s, time left.

    Args:
      report: the progress.
      width: the number of characters that there is room for; None for any. Figures that do not fit
        are left out, the least important first.
    """
    parts = dict(_parts(report))
    for name in _LEAST_FIRST:
        if width is None or len(_SPACE.join(parts.values())) <= width:
            break
        parts.pop(name, None)
    return _SPACE.join(parts.values())


def _parts(report: StepReport) -> Iterator[tuple[str, str]]:
    of_total = f"/{report.total_steps:,}" if report.total_steps else ""
    yield "step", f"step {report.step:,}{of_total}"
    if report.loss is not None:
        yield "loss", f"loss {_loss(report.loss)}"
    if report.steps_per_sec is not None:
        yield "steps", f"{_rate(report.steps_per_sec)} steps/s"
    if report.examples_per_sec is not None:
        yield "examples", f"{_rate(report.examples_per_sec)} examples/s"
    use = report.use
    if use.input_wait is not None:
        yield "wait", f"{use.input_wait:.0%} waiting for input"
    if use.flops_per_sec is not None:
        share = "" if use.matrix_share is None else f" ({as_share(use.matrix_share)} of peak)"
        yield "flops", f"{as_si(use.flops_per_sec)}FLOP/s{share}"
    if report.seconds_left is not None and report.step != report.total_steps:
        yield "left", f"{duration(report.seconds_left)} left"


def _loss(value: float) -> str:
    is_usual = value == 0 or _SMALL <= abs(value) < _LARGE
    return f"{value:.4f}" if is_usual else f"{value:.4g}"


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def duration(seconds: float) -> str:
    """Formats seconds as `0:07`, `12:30` or `3:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
