"""Lines of several processes, each with the name of its process."""

import os

import pytest

from estimator_bridge.legacy.running.local_cluster.output import Outputs, PrefixedLines, write_all


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"a\nb\n"], b"p | a\np | b\n"),
        ([b"a", b"b", b"\n"], b"p | ab\n"),
        ([b"a\n\nb"], b"p | a\np | \np | b\n"),
        ([b"a\r\n", b"b\r", b"\nc"], b"p | a\np | b\np | c\n"),
        ([b"\r 1/2", b"\r 2/2", b"\n"], b"p |  1/2\np |  2/2\n"),
        ([b"\xff\xfe\n\xc3", b"\xa9\n"], b"p | \xff\xfe\np | \xc3\xa9\n"),
        ([b"\x0c\x85\xe2\x80\xa8\n"], b"p | \x0c\x85\xe2\x80\xa8\n"),  # ends of lines for str only
        ([], b""),
    ],
)
def test_each_line_has_the_prefix_whatever_its_bytes(chunks, lines):
    prefixed = PrefixedLines("p | ")
    assert b"".join(map(prefixed.feed, chunks)) + prefixed.finish() == lines


def test_a_line_without_an_end_is_not_held_back_for_ever():
    prefixed = PrefixedLines("")
    shown = sum(len(prefixed.feed(b"x" * 10_000)) for _ in range(100))
    assert shown > 900_000


@pytest.fixture
def pipes():
    """Two pipes: one that Outputs reads and closes, and one that it writes."""
    source, writer = os.pipe()
    reader, target = os.pipe()
    yield source, writer, reader, target
    for each in (writer, reader, target):
        try:
            os.close(each)
        except OSError:
            continue


def test_lines_are_written_while_a_process_runs(pipes):
    source, writer, reader, target = pipes
    outputs = Outputs()
    outputs.add(source, target, "w | ")
    os.write(writer, b"one\ntwo")
    outputs.copy(5)
    assert os.read(reader, 100) == b"w | one\n"
    assert outputs.are_open
    outputs.close()
    assert os.read(reader, 100) == b"w | two\n"
    assert not outputs.are_open


def test_a_process_meets_the_closed_output_itself(pipes):
    source, writer, reader, target = pipes
    outputs = Outputs()
    outputs.add(source, target, "w | ")
    os.close(reader)
    os.write(writer, b"one\n")
    outputs.copy(5)
    assert not outputs.are_open
    with pytest.raises(BrokenPipeError):
        os.write(writer, b"two\n")


def test_output_waits_for_a_slow_reader_that_shares_its_descriptor(pipes):
    _, _, reader, target = pipes
    os.set_blocking(target, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(target, b"x" * 1000)
    process = os.fork()
    if not process:
        while os.read(reader, 65_536)[-1:] != b"y":
            pass
        os._exit(0)
    write_all(target, b"x" * 100_000 + b"y")
    assert os.waitpid(process, 0)[1] == 0
