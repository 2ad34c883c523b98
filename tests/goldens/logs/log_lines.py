"""Reads the lines of TensorFlow's log in a program's standard error."""

import re

_START = re.compile(r"(?:INFO|WARNING|ERROR):tensorflow:")
_MASKS = [
    (r"\d+\.\d+ sec\)", "# sec)"),
    (r"(/sec: |Time : )[\d.]+s?", r"\1#"),
    (r"(evaluation at )[\dT:Z-]+", r"\1#"),
    (r"temp-[^/]+(/[0-9a-f]{32}\.export)?", "temp-#"),
    (r"0x[0-9a-f]+", "0x#"),
]


def phases(written, folder):
    """Sorts a log by its "== name" lines.

    Args:
      written: the standard error of log_program.py.
      folder: that it was given.

    Returns:
      By name, the lines, without those on names that are deprecated, and with times masked.
    """
    records = []
    for line in written.splitlines():
        if _START.match(line):
            records.append(line)
        elif records and not re.match(r"[IWE]\d{4} |\d{4}-", line):
            records[-1] += "\n" + line
    by_phase, lines = {}, []
    for record in records:
        name = re.match(r"INFO:tensorflow:== (.*)", record)
        if name:
            lines = by_phase.setdefault(name[1], [])
        elif " is deprecated" not in record:
            lines.append(_masked(record.replace(folder, "FOLDER").strip()))
    return by_phase


def _masked(line):
    for pattern, mask in _MASKS:
        line = re.sub(pattern, mask, line)
    return line
