"""A terminal's live line and the program's own output keep out of each other's way."""

import io
import logging
import os
import pty
import sys

import pytest

from estimator_bridge.base import shown_progress
from estimator_bridge.base.live_line import LiveLine, is_live

ERASE = "\r\x1b[2K"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def a_terminal(monkeypatch):
    """A function that makes one; pytest sets the streams between the fixture and the test."""

    def make():
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(sys, "stdout", stream)
        return stream

    monkeypatch.setenv("TERM", "xterm")
    return make


def test_what_the_program_writes_erases_the_line_first(a_terminal):
    terminal = a_terminal()
    handler = logging.StreamHandler(terminal)  # it holds the stream from before
    line = LiveLine(terminal)
    line.draw("step 1")
    handler.emit(logging.LogRecord("x", logging.INFO, "", 0, "news", (), None))
    line.draw("step 2")
    print("result")
    line.close()
    print("after")
    assert terminal.getvalue() == (f"{ERASE}step 1{ERASE}news\n{ERASE}step 2{ERASE}result\nafter\n")


def test_a_line_that_the_program_has_begun_is_not_drawn_over(a_terminal):
    terminal = a_terminal()
    line = LiveLine(terminal)
    line.draw("step 1")
    print(".", end="")
    line.draw("step 2")
    print(".")
    line.draw("step 3")
    line.write("done")
    line.close()
    assert terminal.getvalue() == f"{ERASE}step 1{ERASE}..\n{ERASE}step 3{ERASE}done\n"


def test_the_streams_are_given_back(a_terminal):
    terminal = a_terminal()
    line = LiveLine(terminal)
    line.draw("step 1")
    assert "write" in vars(terminal)
    line.close()
    assert "write" not in vars(terminal)


def test_output_to_a_file_stays_byte_for_byte(a_terminal, monkeypatch):
    terminal = a_terminal()
    file = io.StringIO()
    monkeypatch.setattr(sys, "stdout", file)
    line = LiveLine(terminal)
    line.draw("step 1")
    print("result")
    line.close()
    assert file.getvalue() == "result\n"
    assert terminal.getvalue() == f"{ERASE}step 1{ERASE}"


def test_the_width_is_the_terminals(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    master, slave = pty.openpty()
    with open(slave, "w", encoding="utf-8") as stream, open(master, "rb", buffering=0):
        import fcntl
        import struct
        import termios

        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 57, 0, 0))
        assert LiveLine(stream).width == 56
    monkeypatch.setenv("COLUMNS", "33")
    assert LiveLine(io.StringIO()).width == 32


@pytest.mark.parametrize("term", ["", "dumb"])
def test_a_terminal_that_cannot_redraw_has_no_live_line(a_terminal, monkeypatch, term):
    terminal = a_terminal()
    assert is_live(terminal)
    monkeypatch.setenv("TERM", term)
    assert not is_live(terminal)


def test_a_stage_before_tensorflow_goes_again(a_terminal, monkeypatch):
    terminal = a_terminal()
    monkeypatch.setenv("ESTIMATOR_BRIDGE_MONITOR", "1")
    with shown_progress.show_while("Loading TensorFlow"):
        os.environ.get("PATH")
    assert terminal.getvalue() == f"{ERASE}Loading TensorFlow ...{ERASE}"
    monkeypatch.setenv("ESTIMATOR_BRIDGE_MONITOR", "0")
    with shown_progress.show_while("Loading TensorFlow"):
        assert terminal.getvalue().count("Loading") == 1
