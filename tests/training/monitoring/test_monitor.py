"""A training that shows itself: the line, TensorBoard's scalars, the report."""

import io
import json
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.compile_for.units import as_share
from estimator_bridge.training.monitoring import closing_lines, display
from estimator_bridge.training.monitoring.run_record import (
    Point,
    RunRecord,
    Trail,
    read_record,
)
from estimator_bridge.training.monitoring.shown_line import ShownLine

FEATURES = {"x": np.linspace(0, 1, 64, dtype=np.float32).reshape(64, 1)}
LABELS = np.linspace(0, 2, 64, dtype=np.float32)


def regressor(folder, **config):
    return eb.LinearRegressor(
        [tf.feature_column.numeric_column("x")],
        config=eb.RunConfig(str(folder), tf_random_seed=1, **config),
    )


def train_input():
    return tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).repeat().batch(8)


def eval_input():
    return tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).batch(8)


@pytest.fixture(scope="module")
def shown_run(tmp_path_factory):
    """A canned estimator under the environment variable, and what it wrote to a log."""
    folder, log = tmp_path_factory.mktemp("run"), io.StringIO()
    patch = pytest.MonkeyPatch()
    with patch.context() as environment:
        environment.setenv("ESTIMATOR_BRIDGE_MONITOR", "1")
        environment.setattr("sys.stderr", log)
        estimator = regressor(folder)
        estimator.train(train_input, max_steps=1000)
        estimator.evaluate(eval_input)
        list(estimator.predict(eval_input))
        closing_lines._write()
    return folder, log.getvalue()


def test_the_environment_variable_shows_any_estimator(shown_run):
    _, log = shown_run
    assert re.search(r"^step 1,000/1,000  loss \d\S*  .*examples/s", log, re.M)
    assert re.search(r"^Report: .*report\.html$", log, re.M)
    assert re.search(r"^Curves: tensorboard --logdir ", log, re.M)


def test_the_report_is_one_file_with_everything(shown_run):
    folder, _ = shown_run
    page = (folder / "report.html").read_text()
    sections = re.findall("<h2>(.*?)</h2>", page)
    # Of the throughput there are charts if the run was long enough for two reports.
    assert [name for name in sections if name != "Throughput"] == [
        "Curves", "Evaluations", "Predictions", "Configuration"
    ]  # fmt: skip
    for part in ("average_loss", "examples per second", "global batch size", "RunConfig"):
        assert part in page, part
    assert page.count("<svg") >= 1
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert len(re.findall(r"<code>\[", page)) >= 10  # ten predictions


def test_the_report_says_when_on_what_with_what_and_how_to_run_it_again(shown_run):
    folder, _ = shown_run
    rows = read_record(str(folder)).configuration
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}", rows["ended"])
    assert re.fullmatch(r"\d:\d\d", rows["duration"])
    assert rows["command"].startswith("python ")
    assert rows["device"] == "CPU"
    assert rows["parameters"] == "2 in 2 trainable variables"
    assert rows["batch of a replica"] == "features['x']: float32[?, 1]; labels: float32[?]"
    assert "unknown" not in (folder / "report.html").read_text().lower()


def test_the_command_of_a_run_is_one_that_a_shell_takes(monkeypatch):
    from estimator_bridge.training.monitoring.run_description import command_of_process

    words = ["python3", "bin/estimator-bridge", "run", "a b.py", "--api_key", "x y"]
    monkeypatch.setattr("sys.orig_argv", words, raising=False)
    assert command_of_process() == "estimator-bridge run 'a b.py' --api_key ***"
    monkeypatch.setattr("sys.orig_argv", ["python3", "train.py", "--x=1"], raising=False)
    assert command_of_process() == "python train.py --x=1"


def test_the_figures_are_in_tensorboard(shown_run):
    folder, _ = shown_run
    metrics = eb.experimental.read_eval_metrics(folder)
    tags = {tag for values in metrics.values() for tag in values}
    assert {"monitor/flops_per_sec", "monitor/input_wait_share"} <= tags


def test_train_and_evaluate_writes_the_report_at_its_end(tmp_path, monkeypatch):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_MONITOR", "report")
    estimator = regressor(tmp_path, save_checkpoints_steps=20)
    eb.train_and_evaluate(
        estimator,
        eb.TrainSpec(train_input, max_steps=60),
        eb.EvalSpec(eval_input, start_delay_secs=0, throttle_secs=0),
    )
    page = (tmp_path / "report.html").read_text()
    rows = re.findall(r'<tr><td class="n">(\d+)</td>', page)
    assert rows == ["20", "40", "60"]


def test_the_report_draws_what_has_two_values(tmp_path):
    points = [{"step": step, "steps_per_sec": 5.0 * step} for step in (1, 2)]
    points[1]["examples_per_sec"] = 40.0
    record = {"points": points, "configuration": {}, "notes": [], "samples": []}
    (tmp_path / "monitor.json").write_text(json.dumps(record))
    page = Path(eb.training.write_report(tmp_path)).read_text()
    assert "<figcaption>steps per second</figcaption>" in page
    assert "<figcaption>examples per second</figcaption>" not in page
    assert page.count("<svg") == 1


def test_a_resumed_run_continues_the_record(tmp_path):
    for steps in (300, 600):
        regressor(tmp_path).train(
            train_input, max_steps=steps, hooks=[eb.training.Monitor(line=False)]
        )
    steps = [point.step for point in read_record(str(tmp_path)).points]
    assert steps == sorted(set(steps))
    assert steps[0] == 1
    assert steps[-1] == 600
    assert 300 in steps


def test_trainings_beside_each_other_have_a_report_each(tmp_path, monkeypatch):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_MONITOR", "1")
    folders = [tmp_path / name for name in ("first", "second")]
    threads = [
        threading.Thread(target=regressor(folder).train, args=(train_input,), kwargs={"steps": 60})
        for folder in folders
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for folder in folders:
        assert (folder / "report.html").exists()
        assert read_record(str(folder)).configuration["model_dir"] == str(folder)


def test_a_run_without_it_leaves_nothing(tmp_path):
    regressor(tmp_path).train(train_input, max_steps=10)
    assert not list(tmp_path.glob("*.html"))
    assert not list(tmp_path.glob("monitor*"))


def test_a_wrong_value_of_the_variable_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_MONITOR", "yes please")
    with pytest.raises(ValueError, match=r"MONITOR must be 1 .*; got 'yes please'"):
        regressor(tmp_path).train(train_input, max_steps=10)


def test_a_slow_input_is_named_with_its_remedy(tmp_path):
    def slowly(x, y):
        return x, tf.ensure_shape(tf.numpy_function(_slowly, [y], tf.float32), [None])

    def slow_input():
        return train_input().unbatch().map(lambda x, y: (x, y + tf.exp(0.0))).batch(16).map(slowly)

    messages = []
    monitor = eb.training.Monitor(lambda report: None, messages.append)
    regressor(tmp_path).train(slow_input, max_steps=600, hooks=[monitor])
    (advice,) = (s for s in messages if s.startswith("Steps waited for their input"))
    source = Path(__file__).read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if ".unbatch().map(" in text)
    assert re.search(rf"for each single example at \S*test_monitor.py:{line}: .* Let the", advice)
    assert "Steps waited for their input" in (tmp_path / "report.html").read_text()


def _slowly(value):
    time.sleep(0.004)
    return value


def test_a_damaged_record_is_begun_anew(tmp_path):
    (tmp_path / "monitor.json").write_text('{"points": [{"nostep": 1}]}')
    assert read_record(str(tmp_path)) == RunRecord()


def test_a_long_record_stays_short():
    record = RunRecord().with_points([Point(step) for step in range(2500)])
    assert len(record.points) <= 1000
    assert record.points[-1].step == 2499


def test_a_lost_run_gives_way_to_the_one_that_resumed():
    record = RunRecord().with_points([Point(1), Point(100), Point(200)])
    again = record.with_points([Point(101), Point(150)])
    assert [point.step for point in again.points] == [1, 100, 101, 150]


def test_a_report_of_no_folder_says_what_to_give(tmp_path):
    with pytest.raises(FileNotFoundError, match="Give the model_dir of an estimator"):
        eb.training.write_report(tmp_path / "gone")


def test_names_are_escaped(tmp_path):
    text = {"configuration": {"<b>": "a & b"}, "points": [], "notes": ["<i>"], "samples": []}
    (tmp_path / "monitor.json").write_text(json.dumps(text))
    page = Path(eb.training.write_report(tmp_path)).read_text()
    assert "&lt;b&gt;" in page
    assert "a &amp; b" in page
    assert "<i></" not in page


def test_a_notebook_has_one_line_that_changes():
    shown = []

    class Handle:
        def update(self, what, raw):
            shown.append((what, raw))

    def show(what, raw, display_id=False):
        shown.append((what, raw, display_id))
        return Handle()

    notebook = display.NotebookDisplay(show)
    for step in (1, 2, 3):
        notebook.report(eb.training.StepReport(step, 3, 0.5))
    assert shown == [
        ({"text/plain": "step 1/3  loss 0.5000"}, True, True),
        ({"text/plain": "step 2/3  loss 0.5000"}, True),
        ({"text/plain": "step 3/3  loss 0.5000"}, True),
    ]


def test_a_stage_in_a_notebook_goes_when_nothing_follows_it():
    shown = []

    class Handle:
        def update(self, what, raw):
            shown.append(what["text/plain"])

    def show(what, raw, display_id=False):
        shown.append(what["text/plain"])
        return Handle()

    notebook = display.NotebookDisplay(show)
    notebook.stage("Evaluating")
    notebook.end()
    assert shown == ["Evaluating ...", ""]
    notebook.stage("Tracing the model")
    notebook.report(eb.training.StepReport(1, 3, 0.5))
    notebook.end()
    assert shown[2:] == ["Tracing the model ...", "step 1/3  loss 0.5000"]


def test_a_log_has_each_stage_once(capsys):
    line = ShownLine()
    for step in (1, 2):
        with line.displaying("Tracing the model"):
            line.stage("Compiling and running the first steps")
            line.report(eb.training.StepReport(step, 2, 0.5))
            with line.displaying("Evaluating"):
                pass
            line.end_steps()
    assert capsys.readouterr().err.splitlines() == [
        "Tracing the model ...", "Compiling and running the first steps ...",
        "step 1/2  loss 0.5000", "Evaluating ...", "step 2/2  loss 0.5000",
    ]  # fmt: skip


def test_closing_lines_are_of_the_last_training_in_each_folder_that_is_left(tmp_path, capsys):
    closing_lines._write()  # those of other tests
    capsys.readouterr()
    first, second, gone = (tmp_path / name for name in ("first", "second", "gone"))
    first.mkdir()
    second.mkdir()
    for folder, text in ((first, "1"), (second, "2"), (gone, "3"), (first, "4")):
        closing_lines.say_at_exit(str(folder), [text, "Report"])
    assert capsys.readouterr().err == ""
    closing_lines._write()
    closing_lines._write()
    assert capsys.readouterr().err.splitlines() == ["2", "Report", "4", "Report"]


def test_a_line_tells_waiting_and_flops():
    from estimator_bridge.training.monitoring.line import sentence

    use = eb.training.MachineUse(0.25, flops_per_sec=3e9, matrix_share=0.015)
    report = eb.training.StepReport(5, None, 0.25, 2.0, 64.0, None, use)
    assert sentence(report) == (
        "step 5  loss 0.2500  2 steps/s  64 examples/s  25% waiting for input  "
        "3 GFLOP/s (1.5% of peak)"
    )


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.415, "41.5%"),
        (0.001, "0.1%"),
        (0.0002, "0.02%"),
        (1e-6, "less than 0.01%"),
        (0.0, "0.0%"),
    ],
)
def test_a_small_share_of_the_peak_is_not_rounded_to_none(share, shown):
    assert as_share(share) == shown


def test_a_line_has_room_for_what_matters_most():
    from estimator_bridge.training.monitoring.line import sentence

    use = eb.training.MachineUse(0.25, flops_per_sec=3e9)
    report = eb.training.StepReport(5, 900, 2e-5, 20.0, 640.0, 45.0, use)
    assert sentence(report, 90) == (
        "step 5/900  loss 2e-05  20 steps/s  640 examples/s  25% waiting for input  0:45 left"
    )
    assert sentence(report, 60) == "step 5/900  loss 2e-05  25% waiting for input  0:45 left"
    assert sentence(report, 10) == "step 5/900  loss 2e-05"
    last = eb.training.StepReport(900, 900, 0.5, 20.0, None, 0.0)
    assert sentence(last) == "step 900/900  loss 0.5000  20 steps/s"


@pytest.mark.parametrize("columns", [110, 80])
def test_a_terminals_line_is_one_line_with_a_whole_bar(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    stream.isatty = lambda: True
    terminal = display.TerminalDisplay(stream)
    use = eb.training.MachineUse(0.98, flops_per_sec=23.4e3)
    for step in (101, 1101):
        terminal.report(eb.training.StepReport(step, 1500, 0.02, 180.0, 5749.0, 4.0, use))
    terminal.end()
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    lines = [line for line in re.split(r"[\r\n]+", drawn) if line.strip()]
    assert all(re.match(r"[━╺─]{20} step \d", line) for line in lines), lines
    assert max(map(len, lines)) <= columns
    assert "98% waiting for input" in lines[-1]
    assert ("5,749 examples/s" in lines[-1]) == (columns == 110)


def profiled(folder, first, last, **config):
    hook = eb.training.ProfileSteps(first, last, str(folder))
    regressor(folder, **config).train(train_input, max_steps=60, hooks=[hook])
    return list(folder.glob("plugins/profile/*/*.xplane.pb"))


def test_steps_are_profiled_once(tmp_path):
    assert len(profiled(tmp_path, 20, 30)) == 1


def test_a_training_that_ends_earlier_ends_the_profile(tmp_path):
    assert len(profiled(tmp_path, 50, 500)) == 1
    tf.profiler.experimental.start(str(tmp_path))  # nothing is in progress
    tf.profiler.experimental.stop(save=False)


@pytest.mark.parametrize("steps", [(0, 5), (9, 3)])
def test_steps_to_profile_are_in_order(steps):
    with pytest.raises(ValueError, match="steps from 1 on, in order; got"):
        eb.training.ProfileSteps(*steps, "folder")


def test_a_trail_has_few_points_of_a_long_run():
    trail = Trail(0.0)
    for second in range(1, 20_000):
        trail.add(eb.training.StepReport(second, 20_000), float(second))
    assert trail.add(eb.training.StepReport(20_000, 20_000), 20_000.0)
    assert 100 < len(trail.points) < 700
