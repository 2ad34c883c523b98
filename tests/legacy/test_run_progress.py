"""`estimator-bridge run` shows what goes on: on a terminal by default, elsewhere if asked."""

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[1] / "legacy_programs" / "scripts" / "old.py"
STAGES = [
    "Loading TensorFlow ...",
    "Tracing the model ...",
    "Compiling and running the first steps ...",
]


def command(*options):
    return [sys.executable, "-m", "estimator_bridge", "run", *options, "old.py"]


def environment(**variables):
    left_out = ("ESTIMATOR_BRIDGE_MONITOR", "COLUMNS", "NO_COLOR")
    inherited = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**inherited, "TERM": "xterm", **variables}


@pytest.fixture
def folder(tmp_path):
    shutil.copy(PROGRAM, tmp_path)
    return tmp_path


def piped(folder, *options):
    return subprocess.run(
        command(*options), cwd=folder, env=environment(), capture_output=True, text=True,
        timeout=300, check=True,
    )  # fmt: skip


def own_lines(log):
    return [line for line in log.splitlines() if not line.startswith(("INFO:", "WARNING:"))]


def test_in_a_pipe_stages_and_tenths_are_lines_and_the_program_s_output_is_its_own(folder):
    done = piped(folder, "--monitor")
    lines = own_lines(done.stderr)
    assert [line for line in lines if line in STAGES] == STAGES
    assert any(re.match(r"step 400/400  loss \d", line) for line in lines)
    assert lines[-2:] == ["Report: out/report.html", "Curves: tensorboard --logdir out"]
    assert (folder / "out" / "report.html").exists()
    shutil.rmtree(folder / "out")
    plain = piped(folder)
    numbers = re.compile(r"\d[\d.e-]*")  # the program sets no seed
    assert numbers.sub("N", plain.stdout) == numbers.sub("N", done.stdout)
    assert not any(line in STAGES or line.startswith("step ") for line in own_lines(plain.stderr))
    assert not (folder / "out" / "report.html").exists()


def on_a_terminal(folder, *options):
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        words = command(*options)
        os.execve(words[0], words, environment())
    output = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the process has ended
            break
        if not part:
            break
        output += part
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    return output.decode()


def test_a_terminal_has_a_bar_that_log_lines_do_not_touch(folder):
    output = on_a_terminal(folder)
    for stage in STAGES:
        assert f"\r\x1b[2K{stage}" in output
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    assert re.search(r"━{20} step 400/400  loss \d", plain)
    # As a terminal shows it: what is erased does not count.
    lines = [line.rpartition("\x1b[2K")[2] for line in plain.replace("\r\n", "\n").split("\n")]
    for line in lines:
        assert not re.search(r".INFO:tensorflow|[gsw] \.\.\.$|step \d.*step \d", line), line
    assert lines[-3:] == ["Report: out/report.html", "Curves: tensorboard --logdir out", ""]


def test_a_terminal_is_quiet_if_asked(folder):
    output = on_a_terminal(folder, "--no-monitor")
    assert "\x1b[2K" not in output
    assert "Report:" not in output
    assert not (folder / "out" / "report.html").exists()
