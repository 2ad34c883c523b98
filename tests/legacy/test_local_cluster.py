"""`estimator-bridge run --cluster` and `--workers`: real processes on this machine."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from forking import run_python

ROOT = str(Path(__file__).resolve().parents[2])
RUN = [sys.executable, "-m", "estimator_bridge", "run"]
FORKED = Path(__file__).with_name("forked_cluster.py")
PATIENCE = 120  # seconds
BEGIN = """
import json, os, signal, subprocess, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
role = task["type"]
folder = os.path.dirname(os.path.abspath(__file__))

def note(name, pid=os.getpid()):
    with open(os.path.join(folder, name + ".part"), "w") as file:
        file.write(str(pid))
    os.replace(file.name, os.path.join(folder, name))

def wait_for(name):
    while not os.path.exists(os.path.join(folder, name)):
        time.sleep(0.02)

note(f"pid-{role}-{task['index']}")
"""


def write(folder, source):
    (folder / "program.py").write_text(BEGIN + textwrap.dedent(source))


def _with_default_signals():
    # A shell's background ignores SIGINT, and nohup SIGHUP; the tests may run in either.
    for signum in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_DFL)


def start(folder, *arguments, **environment):
    return subprocess.Popen(
        [*RUN, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": ROOT, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # As in a terminal; a shell starts what is in its background with Ctrl-C ignored.
        preexec_fn=_with_default_signals,  # noqa: PLW1509
    )


def run(folder, *arguments, **environment):
    """Returns the exit status and both streams."""
    process = start(folder, *arguments, **environment)
    output, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, output, errors


def wait_for_files(folder, *names):
    end = time.monotonic() + PATIENCE
    while not all((folder / name).exists() for name in names):
        assert time.monotonic() < end, list(folder.iterdir())
        time.sleep(0.02)


def assert_none_is_left(folder, count):
    pids = [int(file.read_text()) for file in folder.glob("pid-*")]
    assert len(pids) == count
    end = time.monotonic() + 10
    while running := [pid for pid in pids if is_running(pid)]:
        assert time.monotonic() < end, running
        time.sleep(0.02)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_lines_of_each_process_have_its_name_and_keep_their_stream(tmp_path):
    write(
        tmp_path,
        """
        print("arguments", sys.argv, role, task["index"])
        print("problem", file=sys.stderr)
        sys.stdout.buffer.write(b"\\xff raw\\n")
        print(repr(sys.stdin.read()), end="")
        """,
    )
    roles = "chief=1,worker=2,evaluator=1,ps=1"
    code, output, errors = run(tmp_path, "--cluster", roles, "program.py", "--steps=3", "--", "-m")
    assert code == 0
    names = [b"ps 0", b"chief 0", b"worker 0", b"worker 1", b"evaluator 0"]
    expected = []
    for name in names:
        shown = b"arguments ['program.py', '--steps=3', '--', '-m'] " + name
        expected += [name + b" | " + line for line in (shown, b"\xff raw", b"''")]
    assert sorted(output.splitlines()) == sorted(expected)
    problems = [line for line in errors.splitlines() if not line.startswith(b"estimator-bridge")]
    assert sorted(problems) == sorted(name + b" | problem" for name in names)
    assert_none_is_left(tmp_path, 5)


def test_lines_come_while_the_processes_run(tmp_path):
    write(tmp_path, "print('begun')\nwait_for('go')\nprint('ended')")
    with start(tmp_path, "--workers", "1", "program.py") as process:
        assert process.stdout.readline() == b"worker 0 | begun\n"
        (tmp_path / "go").touch()
        assert process.communicate(timeout=PATIENCE)[0] == b"worker 0 | ended\n"
    assert process.returncode == 0


def test_much_output_of_several_processes_is_complete(tmp_path):
    write(tmp_path, "print((role + 'x' * 99 + '\\n') * 20_000, end='')")
    code, output, _ = run(tmp_path, "--workers", "2", "program.py")
    lines = output.splitlines()
    assert (code, len(lines)) == (0, 40_000)
    assert set(lines) == {f"worker {i} | worker{'x' * 99}".encode() for i in range(2)}


def test_the_job_ends_with_its_chief(tmp_path):
    """A server does not end by itself, and a process that the chief has started is left behind."""
    write(
        tmp_path,
        """
        if role == "chief":
            wait_for("pid-ps-0")
            note("pid-other", subprocess.Popen(["sleep", "1000"]).pid)
        else:
            time.sleep(1000)
        """,
    )
    code, output, errors = run(tmp_path, "--cluster", "ps=1,chief=1", "program.py")
    assert (code, output, errors) == (0, b"", b"")
    assert_none_is_left(tmp_path, 3)


@pytest.mark.parametrize("role", ["chief", "worker", "ps"])
def test_the_first_failure_ends_the_job(tmp_path, role):
    write(
        tmp_path,
        f"""
        if role == {role!r}:
            for each in ("chief", "worker", "ps"):
                wait_for(f"pid-{{each}}-0")
            print("my last words", file=sys.stderr)
            sys.exit(7)
        time.sleep(1000)
        """,
    )
    code, _, errors = run(tmp_path, "--cluster", "ps=1,worker=1,chief=1", "program.py")
    assert code == 7
    assert errors.decode().splitlines() == [
        f"{role} 0 | my last words",
        f"estimator-bridge run: {role} 0 failed with exit status 7: the job ends.",
    ]
    assert_none_is_left(tmp_path, 3)


def test_a_killed_chief_is_a_failure(tmp_path):
    write(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    assert run(tmp_path, "--cluster", "chief=1", "program.py")[0] == 128 + signal.SIGKILL


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_are_passed_on_once_and_nothing_is_left(tmp_path, signum):
    write(
        tmp_path,
        """
        def count(signum, frame):
            print("got", signum)
            if role == "ps":
                sys.exit(0)
            time.sleep(0.5)  # a second signal would show
            sys.exit(128 + signum)

        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, count)
        note("ready-" + role)
        time.sleep(1000)
        """,
    )
    process = start(tmp_path, "--cluster", "ps=1,worker=1,chief=1,evaluator=1", "program.py")
    wait_for_files(tmp_path, *(f"ready-{role}" for role in ("ps", "worker", "chief", "evaluator")))
    os.killpg(process.pid, signum)
    output, errors = process.communicate(timeout=PATIENCE)
    lines = output.decode().splitlines()
    roles = ["chief 0", "evaluator 0", "ps 0", "worker 0"]
    assert sorted(lines) == [f"{role} | got {int(signum)}" for role in roles]
    assert lines[-1].startswith("ps 0")
    assert (process.returncode, errors) == (128 + signum, b"")
    assert_none_is_left(tmp_path, 4)


def test_what_ignores_signals_is_killed(tmp_path):
    write(
        tmp_path,
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note("pid-other", subprocess.Popen(["sleep", "1000"]).pid)
        note("ready")
        time.sleep(1000)
        """,
    )
    process = start(tmp_path, "--workers", "1", "program.py", ESTIMATOR_BRIDGE_GRACE_SECS="0")
    wait_for_files(tmp_path, "ready")
    process.terminate()
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGKILL
    assert b"worker 0 has not ended 5 s after a signal: killed." in errors
    assert_none_is_left(tmp_path, 2)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals the children of the dead")
def test_a_killed_launcher_leaves_nothing(tmp_path):
    write(tmp_path, "time.sleep(1000)")
    process = start(tmp_path, "--cluster", "ps=1,chief=1", "program.py")
    wait_for_files(tmp_path, "pid-ps-0", "pid-chief-0")
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert_none_is_left(tmp_path, 2)


def test_processes_that_the_system_refuses_to_start_leave_no_others(tmp_path):
    """Each needs two pipes."""
    write(tmp_path, "time.sleep(1000)")
    limited = ["sh", "-c", 'ulimit -n 20 && exec "$@"', "sh", *RUN, "--workers", "12", "program.py"]
    done = subprocess.run(
        limited,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert " of 12 cannot start: [Errno 24] Too many open files" in done.stderr
    assert_none_is_left(tmp_path, len(list(tmp_path.glob("pid-*"))))


def test_an_output_that_nobody_reads_ends_the_job(tmp_path):
    write(tmp_path, "while True: print('line')")
    process = start(tmp_path, "--workers", "1", "program.py")
    assert process.stdout.readline() == b"worker 0 | line\n"
    process.stdout.close()
    assert b"BrokenPipeError" in process.stderr.read()
    assert process.wait(PATIENCE) == 1
    process.stderr.close()


def test_the_launcher_loads_no_tensorflow(tmp_path):
    write(tmp_path, "")
    source = f"""
    import sys
    from estimator_bridge.commands import cli
    assert cli.main(["run", "--workers", "1", {str(tmp_path / "program.py")!r}]) == 0
    assert "tensorflow" not in sys.modules
    """
    command = [sys.executable, "-c", textwrap.dedent(source)]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": ROOT}, check=True, timeout=PATIENCE)


def test_a_module_is_run_in_each_process(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "tool.py").write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    code, output, _ = run(tmp_path, "--workers", "1", "-m", "pkg.tool", "-v")
    assert (code, output) == (0, b"worker 0 | __main__ ['-v']\n")


TRAINING = """
import tensorflow as tf

steps, signal_at = int(sys.argv[1]), int(sys.argv[2])

class Meet(tf.train.SessionRunHook):
    '''Both processes train: each waits for the other after its first step.'''

    def begin(self):
        self._calls = 0

    def after_run(self, run_context, run_values):
        self._calls += 1
        if self._calls == 1:
            note("trained-" + role)
            wait_for("trained-" + ("worker" if role == "chief" else "chief"))
        if self._calls == signal_at and role == "chief":
            os.kill(os.getppid(), signal.SIGTERM)

def input_fn():
    return tf.data.Dataset.from_tensors(([[1.0]], [[2.0]])).repeat()

def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
    step = tf.train.get_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

tf.logging.set_verbosity(tf.logging.INFO)
if role == "worker":
    wait_for("model/checkpoint")  # TensorFlow's session looks for variables every 30 s
config = tf.estimator.RunConfig(
    os.path.join(folder, "model"), save_checkpoints_steps=10**6,
    experimental_max_worker_delay_secs=0,
)
tf.estimator.train_and_evaluate(
    tf.estimator.Estimator(model_fn, config=config),
    tf.estimator.TrainSpec(input_fn, steps, hooks=[Meet()]),
    tf.estimator.EvalSpec(input_fn, steps=1),
)
print("end of the program")
"""


def train(folder, *arguments):
    write(folder, TRAINING)
    words = [FORKED, "--cluster", "ps=1,worker=1,chief=1", "program.py", *arguments]
    environment = {**os.environ, "PYTHONPATH": ROOT}
    done = run_python(words, folder=folder, environment=environment, patience=PATIENCE)
    assert_none_is_left(folder, 3)
    return done


def last_step(folder):
    return int((folder / "model" / "checkpoint").read_text().splitlines()[0].split("-")[1][:-1])


def test_a_chief_a_worker_and_a_parameter_server_train(tmp_path):
    done = train(tmp_path, 20, 0)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "chief 0 | end of the program",
        "worker 0 | end of the program",
    ]
    lines = done.stderr.splitlines()
    for line in (
        "ps 0 | INFO:tensorflow:The job has ended. Parameter server 0 ends.",
        "chief 0 | INFO:tensorflow:Start Tensorflow server.",
        "worker 0 | INFO:tensorflow:Start Tensorflow server.",
    ):
        assert line in lines, done.stderr
    assert not any(line.startswith("estimator-bridge") for line in lines), done.stderr
    assert last_step(tmp_path) >= 20


def test_sigterm_saves_a_checkpoint_before_the_server_ends(tmp_path):
    done = train(tmp_path, 10**6, 20)
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert "chief 0 | WARNING:tensorflow:Training was ended by SIGTERM." in done.stderr
    assert last_step(tmp_path) >= 20
