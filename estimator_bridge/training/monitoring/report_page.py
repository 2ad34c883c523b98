"""Writes the report of a run: one HTML file in model_dir that needs no other."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping, Sequence
from html import escape

import tensorflow as tf

from estimator_bridge.base.any_files import is_remote
from estimator_bridge.base.redaction import redacted, redacted_lines
from estimator_bridge.checkpoint import explained_full_disk_of
from estimator_bridge.compile_for.html_parts import document, figures_row, table
from estimator_bridge.compile_for.units import as_share, as_si
from estimator_bridge.own_files import identity_of, output_to_read, replace_output
from estimator_bridge.training.event_files import scalars_by_step
from estimator_bridge.training.monitoring.curves import STYLE, Curve, chart
from estimator_bridge.training.monitoring.run_record import Point, RunRecord, read_record

__all__ = ["FILE", "write_report"]

FILE = "report.html"
_MOST_CURVES = 24
_MOST_PICTURE_BYTES = 4 << 20
_MOST_TEXT_BYTES = 1 << 20
_PAGE_STYLE = (
    STYLE
    + ".picture { max-width: 100%; border-radius: 6px; background: #fff; }\n"
    + ".note { margin-top: .8rem; }\n"
)
# Scalars that the report draws from the record.
_OWN = ("monitor/", "global_step/sec", "examples/sec")

Scalars = Mapping[int, Mapping[str, float]]


def write_report(model_dir: str | os.PathLike[str]) -> str:
    """Writes `report.html` into a model's folder, from what its runs left there.

    Curves and metrics come from the event files; throughput, waiting and FLOP/s from the record of
    a training with a `Monitor`; pictures are the PNG files of the folder.

    Args:
      model_dir: the folder.

    Returns:
      The path of the report. A user's own file of that name stays, and the report goes beside it.

    Raises:
      FileNotFoundError: there is no such folder.
      DiskError: the disk is full, read-only, or fails; an earlier report is unchanged.
    """
    folder = os.fspath(model_dir)
    if not tf.io.gfile.isdir(folder):
        raise FileNotFoundError(
            f"write_report: there is no folder {folder!r}. Give the model_dir of an estimator that "
            "was trained."
        )
    record = read_record(folder)
    training = scalars_by_step(os.path.join(folder, "*.tfevents.*"))
    evaluations = dict(_evaluations(folder))
    sections = [
        f"<h1>Run in {escape(os.path.basename(os.path.abspath(folder)) or folder)}</h1>",
        _head(record, evaluations),
        _curves(training, evaluations),
        _metrics(evaluations),
        _pace(record),
        _samples(record),
        _pictures(folder),
        _configuration(folder, record),
        "<footer><p>Of the run's files only event files, monitor.json and pictures are read. "
        f"To look closer: <code>tensorboard --logdir {escape(folder)}</code></p></footer>",
    ]
    page = document(f"Run in {folder}", sections, _PAGE_STYLE)
    path = os.path.join(folder, FILE)
    with explained_full_disk_of(f"The report {path}", only_writes=True):
        return replace_output(path, page.encode("utf-8"))


def _evaluations(folder: str) -> Iterator[tuple[str, Scalars]]:
    """Yields the scalars of each evaluation, by the name of its folder."""
    for name in sorted(each.rstrip("/") for each in tf.io.gfile.listdir(folder)):
        if name == "eval" or name.startswith("eval_"):
            scalars = scalars_by_step(os.path.join(folder, name, "*.tfevents.*"))
            if scalars:
                yield name, scalars


def _head(record: RunRecord, evaluations: Mapping[str, Scalars]) -> str:
    figures = []
    for name, scalars in evaluations.items():
        last = scalars[max(scalars)]
        where = "" if name == "eval" else f" of {name}"
        figures += [(_number(value), f"{tag}{where}") for tag, value in last.items()][:4]
    if record.points:
        late = record.points[-1]
        figures.append((f"{late.step:,}", "steps"))
        if (rate := _typical(record.points, "examples_per_sec")) is not None:
            figures.append((f"{rate:,.0f}", "examples per second"))
        elif (rate := _typical(record.points, "steps_per_sec")) is not None:
            figures.append((_number(rate), "steps per second"))
        if (wait := _typical(record.points, "input_wait")) is not None:
            figures.append((f"{wait:.0%}", "of the time waiting for input"))
        if (flops := _typical(record.points, "flops_per_sec")) is not None:
            figures.append((f"{as_si(flops)}FLOP/s", "products and convolutions"))
        if (share := _typical(record.points, "matrix_share")) is not None:
            figures.append((as_share(share), "of the matrix units' peak"))
    notes = "".join(f'<p class="warn note">{escape(note)}</p>' for note in record.notes)
    if not figures and not notes:
        return ""
    return f"<section>{figures_row(figures)}{notes}</section>"


def _typical(points: Sequence[Point], name: str) -> float | None:
    """Returns the median over the run: the first steps and pauses are unlike the rest."""
    values = sorted(v for p in points if (v := getattr(p, name)) is not None)
    return values[len(values) // 2] if values else None


def _curves(training: Scalars, evaluations: Mapping[str, Scalars]) -> str:
    of_eval = evaluations.get("eval", {})
    tags = _tags(training)
    loss = next((tag for tag in ("loss", "loss_1") if tag in tags), None)
    charts = []
    if loss or "loss" in _tags(of_eval):
        curves = [Curve("training", _points(training, loss or "loss"))]
        curves.append(Curve("evaluation", _points(of_eval, "loss"), "two"))
        charts.append(chart("loss", curves, _number))
    rest = [tag for tag in tags if tag != loss and not tag.startswith(_OWN)]
    both = [tag for tag in _tags(of_eval) if tag not in ("loss", "global_step")]
    for tag in [*both, *(tag for tag in rest if tag not in both)]:
        curves = [Curve("training", _points(training, tag))] if tag in rest else []
        curves.append(Curve("evaluation", _points(of_eval, tag), "two"))
        if sum(len(curve.points) for curve in curves) > 1:  # one value is in the table
            charts.append(chart(tag, curves, _number))
    for name, scalars in evaluations.items():
        if name != "eval":
            for tag in _tags(scalars):
                if tag != "global_step":
                    points = _points(scalars, tag)
                    charts.append(chart(f"{name}: {tag}", [Curve(name, points, "two")], _number))
    figures = [one for one in charts if one]
    if not figures:
        return ""
    left_out = len(figures) - _MOST_CURVES
    note = f"<p class='soft'>{left_out} more in TensorBoard.</p>" if left_out > 0 else ""
    return _section("Curves", f'<div class="charts">{"".join(figures[:_MOST_CURVES])}</div>{note}')


def _tags(scalars: Scalars) -> list[str]:
    return list(dict.fromkeys(tag for values in scalars.values() for tag in values))


def _points(scalars: Scalars, tag: str) -> list[tuple[int, float]]:
    return [(step, values[tag]) for step, values in scalars.items() if tag in values]


def _metrics(evaluations: Mapping[str, Scalars]) -> str:
    parts = []
    for name, scalars in evaluations.items():
        tags = [tag for tag in _tags(scalars) if tag != "global_step"]
        steps = list(scalars)[-10:]
        rows = [[f"{s:,}", *(_number(scalars[s][t]) if t in scalars[s] else "" for t in tags)]
                for s in steps]  # fmt: skip
        more = f" (the last {len(steps)} of {len(scalars)})" if len(scalars) > len(steps) else ""
        parts.append(
            f"<h3>{escape(name)}{more}</h3>"
            + table(["#step", *(f"#{escape(tag)}" for tag in tags)], rows)
        )
    return _section("Evaluations", "".join(parts)) if parts else ""


def _pace(record: RunRecord) -> str:
    def points(name: str, factor: float = 1.0) -> list[tuple[int, float]]:
        values = [(p.step, getattr(p, name)) for p in record.points]
        return [(step, value * factor) for step, value in values if value is not None]

    kinds = {
        "examples per second": ("examples_per_sec", as_si),
        "steps per second": ("steps_per_sec", as_si),
        "waiting for input": ("input_wait", _percent),
        "FLOP/s": ("flops_per_sec", as_si),
        "share of the matrix units' peak": ("matrix_share", _percent),
    }
    figures = [
        chart(title, [Curve("", values)], format_value, True)
        for title, (name, format_value) in kinds.items()
        if len(values := points(name)) > 1  # one value is at the top
    ]
    return (
        _section("Throughput", f'<div class="charts">{"".join(figures)}</div>') if figures else ""
    )


def _samples(record: RunRecord) -> str:
    if not record.samples:
        return ""
    names = list(dict.fromkeys(name for sample in record.samples for name in sample))
    rows = [
        [f"<code>{escape(sample.get(name, ''))}</code>" for name in names]
        for sample in record.samples
    ]
    return _section("Predictions", table([escape(name) for name in names], rows))


def _pictures(folder: str) -> str:
    pictures = []
    for name in sorted(tf.io.gfile.listdir(folder)):
        path = os.path.join(folder, name)
        size = _size_of_file(path) if name.endswith(".png") else None
        if size is None or size > _MOST_PICTURE_BYTES:
            continue
        with tf.io.gfile.GFile(path, "rb") as file:
            data = base64.b64encode(file.read()).decode("ascii")
        pictures.append(
            f"<h3>{escape(name)}</h3>"
            f'<img class="picture" alt="{escape(name)}" src="data:image/png;base64,{data}">'
        )
    return _section("Pictures", "".join(pictures)) if pictures else ""


def _configuration(folder: str, record: RunRecord) -> str:
    rows = [
        [escape(name), f"<code>{escape(redacted(value))}</code>"]
        for name, value in record.configuration.items()
    ]
    parts = [table(["name", "value"], rows)] if rows else []
    path = output_to_read(os.path.join(folder, "run.yaml"))
    if _size_of_file(path) is not None:
        with tf.io.gfile.GFile(path, "rb") as file:
            text = file.read(_MOST_TEXT_BYTES).decode("utf-8", "replace")
        parts.append(f"<h3>run.yaml</h3><pre>{escape(redacted_lines(text))}</pre>")
    return _section("Configuration", "".join(parts)) if parts else ""


def _size_of_file(path: str) -> int | None:
    """Returns a file's size; None for a pipe, a device and a folder, which are not read."""
    identity = identity_of(path if is_remote(path) else os.path.realpath(path))
    return None if identity is None else identity[0]


def _section(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2>{content}</section>"


def _number(value: float) -> str:
    if value and (abs(value) < 1e-3 or abs(value) >= 1e6):
        return f"{value:.3g}"
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) >= 10 else f"{value:.4g}"


def _percent(value: float) -> str:
    return f"{value:.1%}" if 0 < value < 0.1 else f"{value:.0%}"
