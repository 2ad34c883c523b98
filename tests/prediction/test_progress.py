"""The progress line of `estimator-bridge predict`."""

import io
import json

import pytest
import tensorflow as tf

from estimator_bridge.errors import DataError
from estimator_bridge.prediction import running
from estimator_bridge.prediction.input_files import find_inputs
from estimator_bridge.prediction.served_model import load_model


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Adds one."""
    folder = str(tmp_path_factory.mktemp("model"))
    signature = tf.function(lambda x: {"y": x + 1.0}).get_concrete_function(
        tf.TensorSpec([None], tf.float32, name="x")
    )
    tf.saved_model.save(tf.Module(), folder, signatures=signature)
    return load_model(folder)


@pytest.fixture
def ticking(monkeypatch):
    """A clock on which each look takes a fifth of a second."""

    class Clock:
        now = 0.0

        @classmethod
        def monotonic(cls):
            cls.now += 0.2
            return cls.now

    monkeypatch.setattr(running, "time", Clock)


def predicted(model, folder, values, stream, **settings):
    source = folder / "in.jsonl"
    source.write_text("".join(json.dumps({"x": value}) + "\n" for value in values))
    output = str(folder / "out.jsonl")
    return running.predict(
        model, find_inputs([str(source)]), output, running.Settings(1, **settings), stream
    )


@pytest.mark.usefixtures("ticking")
def test_a_terminal_has_one_line_that_counts(model, tmp_path):
    terminal = Terminal()
    predicted(model, tmp_path, range(5), terminal)
    shown = terminal.getvalue().split("\r")
    counts = [text.removesuffix("\x1b[K") for text in shown if "predicted" in text]
    # At most twice a second: after two of five batches, and at the end.
    assert counts == [
        "3 records predicted, 4/s",
        "5 records predicted, 4/s",
        "\x1b[K5 records predicted, 3/s\n",
    ]
    assert terminal.getvalue().count("\n") == 1


@pytest.mark.usefixtures("ticking")
def test_a_bad_record_has_a_line_of_its_own(model, tmp_path):
    terminal = Terminal()
    result = predicted(model, tmp_path, [1, 2, "no", 4], terminal, skip_bad_records=True)
    assert (result.predicted, result.left_out) == (3, 1)
    *lines, end = terminal.getvalue().split("\n")
    assert end == ""
    assert lines[0].rpartition("\r\x1b[K")[2].startswith(f"left out: {tmp_path}/in.jsonl, line 3: ")
    assert lines[1].rpartition("\r\x1b[K")[2].startswith("3 records predicted, ")
    assert lines[1].endswith("/s, 1 left out")


@pytest.mark.usefixtures("ticking")
def test_elsewhere_only_the_end_is_written(model, tmp_path):
    log = io.StringIO()
    predicted(model, tmp_path, range(40), log)
    assert log.getvalue().startswith("40 records predicted, ")
    assert log.getvalue().count("\n") == 1
    assert "\r" not in log.getvalue()


def test_a_failure_says_nothing_of_an_end(model, tmp_path):
    log = io.StringIO()
    with pytest.raises(DataError, match="line 2"):
        predicted(model, tmp_path, [1, "no"], log)
    assert log.getvalue() == ""
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
