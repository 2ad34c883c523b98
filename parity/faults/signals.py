"""SIGTERM and SIGINT, sent to programs that hang in different places."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from parity.faults.options import Options

__all__ = ["NAMES", "run", "table"]

GRACE_SECS = 2.0
_TO_READY = 120.0
# After the grace period: time to read the folder, and reserve for a busy machine.
_SLACK = 8.0
_SENT = {
    "SIGTERM": [signal.SIGTERM],
    "SIGTERM-twice": [signal.SIGTERM, signal.SIGTERM],
    "SIGINT": [signal.SIGINT],
    "SIGINT-twice": [signal.SIGINT, signal.SIGINT],
}
_PLACES = (
    "steps", "generator", "input", "py_function", "step", "hook", "gil", "model_fn", "compilation",
    "write", "evaluation", "prediction", "train_and_evaluate", "tpu", "worker",
)  # fmt: skip
NAMES = [f"{place}:{sent}" for place in _PLACES for sent in _SENT]
# Places before the first training.
_NO_CHECKPOINT = ("tpu", "worker")
# C code that holds Python's lock: then no Python thread can end the process.
_IS_KILLED = ("gil",)
_FIRST_EVALUATION = 2  # in train_and_evaluate: the step of the checkpoint that it evaluates


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Runs these cases, a few at a time.

    Args:
      names: of NAMES: 'PLACE:SIGNALS'.
      options: without effect.

    Returns:
      By case: `secs` from the first signal to the end, the exit `code` as a shell has it (None:
      nothing but SIGKILL ended it), the `step` of the whole checkpoint that stands, the `lines` of
      a traceback, whether it `held`, `known`, which is False, and the last of the `output`.
    """
    del options
    # The threads only fork and wait, one fork after the other: TensorFlow has run nothing.
    from parity.faults import hanging

    assert set(_PLACES) == set(hanging.PROGRAMS)
    with ThreadPoolExecutor(3) as pool:
        return dict(zip(names, pool.map(_case, names)))


def _case(name: str) -> dict[str, Any]:
    from parity.environment import tf
    from parity.faults import hanging
    from parity.faults.forks import Forked

    place, _, signal_name = name.partition(":")
    os.environ["ESTIMATOR_BRIDGE_GRACE_SECS"] = str(GRACE_SECS)
    with tempfile.TemporaryDirectory() as folder:
        model_dir = os.path.join(folder, "model")
        os.mkdir(model_dir)
        program = hanging.PROGRAMS[place]
        process = Forked(lambda ready: program(model_dir, ready), Path(folder, "log"))
        if not process.wait_until_ready(_TO_READY):
            process.wait(0)
            output = f"did not get to where it hangs:\n{process.output[-2000:]}"
            return {
                "secs": 0,
                "code": 0,
                "step": None,
                "lines": 0,
                "held": False,
                "known": False,
                "output": output,
            }
        time.sleep(1.0)  # now the main thread is inside TensorFlow, where it waits for Python
        start = time.monotonic()
        first, *later_signals = _SENT[signal_name]
        process.send(first)
        for signum in later_signals:
            time.sleep(0.8)
            process.send(signum)
        code = process.wait(GRACE_SECS + _SLACK)
        secs = time.monotonic() - start
        newest = tf.train.latest_checkpoint(model_dir)
        step = int(tf.train.load_variable(newest, "global_step")) if newest else None
        lines = len(re.findall(r"^  File ", process.output, re.MULTILINE))
        least = _FIRST_EVALUATION if place == "train_and_evaluate" else hanging.AT_STEP - 1
        stands = step is None if place in _NO_CHECKPOINT else (step or 0) >= least
        codes = (128 + first, 128 + signal.SIGKILL if place in _IS_KILLED else None)
        passes = code in codes and code is not None and stands and not lines
        return {
            "secs": round(secs, 1), "code": code, "step": step, "lines": lines, "held": passes,
            "known": False, "output": process.output[-2000:],
        }  # fmt: skip


def table(here: Mapping[str, Any], original: Mapping[str, Any]) -> Iterable[str]:
    """Yields a table in Markdown, a row a place: four ways to signal it, and the original."""
    theirs = ["SIGTERM", "SIGINT-twice"] if original else []
    heads = ["hangs in", *_SENT, "held", *(f"the original: {signal}" for signal in theirs)]
    yield _row(head.replace("-twice", " twice") for head in heads)
    yield _row(["---"] * len(heads))
    total = []
    for place in _PLACES:
        cases = [here.get(f"{place}:{signal}") for signal in _SENT]
        tried_cases = [case for case in cases if case]
        if not tried_cases:
            continue
        total += tried_cases
        pass_count = f"{sum(case['held'] for case in tried_cases)} of {len(tried_cases)}"
        others = [original.get(f"{place}:{signal}") for signal in theirs]
        yield _row([place, *map(_describe, cases), pass_count, *map(_describe, others)])
    yield ""
    yield f"{sum(case['held'] for case in total)} of {len(total)} held."


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _describe(case: Mapping[str, Any] | None) -> str:
    if not case:
        return ""
    if case["code"] is None:
        return "hangs"
    lines = f", traceback of {case['lines']} frames" if case["lines"] else ""
    return f"{case['code']} in {case['secs']:g} s{lines}"
