import dataclasses
import io
from typing import Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator_bridge.training import MachineUse
from estimator_bridge.training.monitoring.line import duration
from models.common.console import Console


@dataclasses.dataclass
class Report:
    step: int
    total_steps: Optional[int] = 1000
    loss: Optional[float] = 0.5
    steps_per_sec: Optional[float] = 140.0
    examples_per_sec: Optional[float] = 8960.0
    seconds_left: Optional[float] = 65.0
    use: MachineUse = dataclasses.field(default_factory=MachineUse)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def lines_of(steps, secs_per_step, total=1000):
    log, now = io.StringIO(), [0.0]
    with Console(log, clock=lambda: now[0]) as console:
        for step in steps:
            now[0] += secs_per_step
            console.report(Report(step, total_steps=total))
    return log.getvalue().splitlines()


def test_a_line_says_step_loss_speed_and_time_left():
    assert lines_of([500], 1) == [
        "step 500/1,000  loss 0.5000  140 steps/s  8,960 examples/s  1:05 left"
    ]


def test_unknown_parts_are_left_out():
    log = io.StringIO()
    with Console(log) as console:
        console.report(Report(7, None, None, None, None, None))
    assert log.getvalue() == "step 7\n"


def test_a_loss_out_of_bounds_stays_short():
    log = io.StringIO()
    Console(log).report(Report(7, loss=4.5e29))
    assert "loss 4.5e+29  " in log.getvalue()


def test_a_log_gets_a_line_each_tenth_of_the_run():
    lines = lines_of(range(10, 1001, 10), 0.1)
    assert [line.split()[1] for line in lines] == ["10/1,000"] + [
        f"{step:,}/1,000" for step in range(100, 1001, 100)
    ]


@given(total=st.integers(1, 5000), every=st.integers(1, 700))
def test_a_fast_run_is_quiet_in_a_log(total, every):
    assert 1 <= len(lines_of([*range(every, total, every), total], 1e-6, total)) <= 11


def test_a_slow_run_is_not_silent():
    lines = lines_of(range(1, 41), 10.0, total=100_000)
    assert [int(line.split()[1].split("/")[0]) for line in lines] == list(range(1, 41, 3))


def test_a_log_has_no_terminal_codes(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in "".join(lines_of([100, 1000], 1))


def test_a_terminal_gets_one_live_line(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    screen = Terminal()
    with Console(screen) as console:
        for step in range(0, 1001, 10):
            console.report(Report(step))
        console.end_progress()
        console.say("done [1/2]")
    text = screen.getvalue()
    assert "\x1b[2K" in text  # the line is erased and written again
    assert "step 1,000/1,000" in text.rsplit("\x1b[2K", 1)[1]
    assert text.endswith("done [1/2]\n")


def test_a_long_message_stays_on_one_line():
    log = io.StringIO()
    Console(log).say("word " * 100)
    assert log.getvalue().count("\n") == 1


def test_the_table_holds_each_metric():
    log = io.StringIO()
    Console(log).table(
        "Test set", {"accuracy": 0.98764, "global_step": 1200, "name": "digits", "loss": 3e35}
    )
    rows = log.getvalue().splitlines()
    assert rows[0].strip() == "Test set"
    for name, value in (
        ("accuracy", "0.9876"),
        ("global_step", "1,200"),
        ("name", "digits"),
        ("loss", "3e+35"),
    ):
        assert any(name in row and value in row for row in rows)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0:00"), (7, "0:07"), (59.6, "1:00"), (750, "12:30"), (11100, "3:05:00")],
)
def test_duration(seconds, text):
    assert duration(seconds) == text
