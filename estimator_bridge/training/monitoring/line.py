"""The line that shows the progress of a training."""

from __future__ import annotations

from estimator_bridge.compile_for.units import as_si
from estimator_bridge.training.progress_reports import StepReport

__all__ = ["duration", "sentence"]

# Larger numbers, such as a diverged loss, are written with an exponent.
_LARGE = 1e9


def sentence(report: StepReport) -> str:
    """Returns the line: step, loss, rates, the share of waiting, FLOP/s, time left."""
    of_total = f"/{report.total_steps:,}" if report.total_steps else ""
    parts = [f"step {report.step:,}{of_total}"]
    if report.loss is not None:
        loss = report.loss
        parts.append(f"loss {loss:.4f}" if abs(loss) < _LARGE else f"loss {loss:.4g}")
    if report.steps_per_sec is not None:
        parts.append(f"{_rate(report.steps_per_sec)} steps/s")
    if report.examples_per_sec is not None:
        parts.append(f"{_rate(report.examples_per_sec)} examples/s")
    use = report.use
    if use.input_wait is not None:
        parts.append(f"{use.input_wait:.0%} waiting for input")
    if use.flops_per_sec is not None:
        share = "" if use.matrix_share is None else f" ({use.matrix_share:.1%} of peak)"
        parts.append(f"{as_si(use.flops_per_sec)}FLOP/s{share}")
    if report.seconds_left is not None:
        parts.append(f"{duration(report.seconds_left)} left")
    return "  ".join(parts)


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def duration(seconds: float) -> str:
    """Formats seconds as `0:07`, `12:30` or `3:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
