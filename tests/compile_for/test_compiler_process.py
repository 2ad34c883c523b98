"""The compiler's process: crashes, hangs and its absence are reported; the next step continues."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from open_files import many_open_files

from estimator_bridge.compile_for import (
    Argument,
    CompileError,
    CompileJob,
    Finding,
    LoweredStep,
    NotCompiledReason,
    Request,
    compiler_main,
    libtpu_releases,
)
from estimator_bridge.compile_for.compiler import Compiler
from estimator_bridge.compile_for.libtpu_releases import RELEASES as RANGES
from estimator_bridge.compile_for.libtpu_releases import how_to_install
from estimator_bridge.compile_for.slices import find_slice

V5E = find_slice("v5e-1")
RELEASES = {"jax": "0.10.2", "libtpu": "0.0.52"}
HELLO = json.dumps({**RELEASES, "peak_bytes": 1})
GOOD = {
    "seconds": 0.1,
    "device": "a TPU",
    "costs": {"flops": 4.0, "bytes accessed": 8.0, "optimal_seconds": 1e-6},
    "memory": dict.fromkeys(("argument", "output", "alias", "temp", "generated_code"), 0),
    "peak_bytes": 7,
}


@pytest.fixture
def python(tmp_path):
    """Makes a Python whose compiler answers each request by this code."""

    def make(body, hello=HELLO):
        path = tmp_path / "python"
        path.write_text(
            f"#!{sys.executable}\n"
            "import json, os, sys, time\n"
            "out = os.fdopen(int(sys.argv[2]), 'w')\n"
            "def answer(text): print(text, file=out, flush=True)\n"
            f"answer({hello!r})\n"
            "for line in sys.stdin:\n"
            "    request = json.loads(line)\n"
            "    if 'hlo' not in request: continue\n"
            "    hlo = open(request['hlo']).read()\n" + body
        )
        path.chmod(0o755)
        return str(path)

    return make


COMPILES = f"""
    open(request['text'], 'w').write('ENTRY %m (a: f32[]) -> f32[] {{\\n}}\\n')
    answer({json.dumps(GOOD)!r})
"""


def test_several_steps_are_compiled_by_one_process(python):
    body = f"    print('noise'); print(os.getpid(), file=sys.stderr)\n{COMPILES}"
    compiler = Compiler(python(body))
    try:
        first = compiler.compile(b"one", V5E, 1)
        process = compiler._process
        assert compiler.compile(b"two", V5E, 1) == first
        assert compiler._process is process
        assert first.device == "a TPU"
        assert compiler.versions == RELEASES
    finally:
        compiler.close()
    assert process.returncode == 0


def test_a_program_with_many_open_files_compiles(python):
    compiler = Compiler(python(COMPILES))
    with many_open_files():
        assert compiler.compile(b"one", V5E, 1).device == "a TPU"
    compiler.close()


def test_what_the_compiler_leaves_in_the_folder_for_temporary_files_goes_with_it(
    python, monkeypatch, tmp_path
):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    body = f"""
    open(os.environ["TMPDIR"] + "/tpu_driver.INFO", "w").close()
    if hlo == "bad":
        os.abort()
{COMPILES}"""
    compiler = Compiler(python(body))
    compiler.compile(b"good", V5E, 1)
    (of_process,) = folder.iterdir()
    assert (of_process / "tpu_driver.INFO").exists()
    with pytest.raises(CompileError, match="signal 6"):
        compiler.compile(b"bad", V5E, 1)
    assert not list(folder.iterdir())
    compiler.compile(b"good", V5E, 1)
    compiler.close()
    assert not list(folder.iterdir())


def test_a_compiler_that_aborts_is_reported_by_its_telling_line_and_started_again(python):
    body = f"""
    if hlo == "bad":
        print("I0000 nothing of interest", file=sys.stderr)
        print("F0101 12:00 layout.cc:7] Check failed: rank == 2", file=sys.stderr)
        os.abort()
{COMPILES}"""
    compiler = Compiler(python(body))
    try:
        with pytest.raises(CompileError, match="Check failed: rank == 2") as caught:
            compiler.compile(b"bad", V5E, 1)
        assert caught.value.why is NotCompiledReason.CRASH
        assert "signal 6" in str(caught.value)
        assert "nothing of interest" not in str(caught.value)
        assert compiler.compile(b"good", V5E, 1).seconds == 0.1
    finally:
        compiler.close()


def test_the_compilers_process_ends_with_the_program_that_started_it():
    script = pathlib.Path(compiler_main.__file__)
    # Its input stays open, as while it compiles: here is the other end of it.
    reads, writes = os.pipe()
    parent = (
        "import os, subprocess, sys\n"
        f"command = [sys.executable, {str(script)!r}, '1', str(os.getpid())]\n"
        f"child = subprocess.Popen(command, stdin={reads}, stdout=subprocess.PIPE)\n"
        "print(child.stdout.readline().decode())\n"
    )
    try:
        started = subprocess.Popen(
            [sys.executable, "-c", parent],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[reads],
        )
        # To the end of its errors' pipe, which comes when the compiler's process has ended, too.
        output = started.communicate(timeout=120)[0]
    finally:
        os.close(reads)
        os.close(writes)
    assert "peak_bytes" in json.loads(output.splitlines()[0])


def test_a_compiler_that_takes_too_long_is_ended(python):
    compiler = Compiler(python("    time.sleep(60)\n"), secs=0.5)
    with pytest.raises(CompileError, match=r"over 0.5 s to compile a step") as caught:
        compiler.compile(b"", V5E, 1)
    assert caught.value.why is NotCompiledReason.TIME
    assert compiler._process is None


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("RESOURCE_EXHAUSTED: Ran out of memory on HBM", NotCompiledReason.MEMORY),
        ("UNIMPLEMENTED: no such operation", NotCompiledReason.TPU),
    ],
)
def test_what_the_compiler_refuses_is_told_apart(python, message, why):
    compiler = Compiler(python(f"    answer(json.dumps({{'error': {message!r}}}))\n"))
    try:
        with pytest.raises(CompileError, match=message) as caught:
            compiler.compile(b"", V5E, 1)
        assert caught.value.why is why
    finally:
        compiler.close()


def test_a_python_without_the_compiler_is_told_what_to_install(python):
    compiler = Compiler(python("", hello='{"missing": "No module named \'libtpu\'"}'))
    with pytest.raises(CompileError, match=r"estimator-bridge\[tpu-compile\]") as caught:
        compiler.compile(b"", V5E, 1)
    assert caught.value.why is NotCompiledReason.SETUP
    assert "No module named 'libtpu'" in str(caught.value)


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ({"libtpu": "0.0.7"}, "libtpu 0.0.7 is too old; use a release from 0.0.30 to before"),
        ({"libtpu": "0.1.0"}, "libtpu 0.1.0 is too new"),
        ({"jax": "0.4.30"}, "jax 0.4.30 is too old"),
        ({"jax": "0.11.0.dev20270101"}, "jax 0.11.0.dev20270101 is too new"),
    ],
)
def test_a_release_that_was_not_tried_is_refused_with_those_that_were(python, versions, message):
    compiler = Compiler(python("", hello=json.dumps({**RELEASES, **versions})))
    with pytest.raises(CompileError) as caught:
        compiler.start()
    assert caught.value.why is NotCompiledReason.SETUP
    assert message in str(caught.value)
    assert "pip install 'estimator-bridge[tpu-compile]'" in str(caught.value)
    assert compiler._process is None


def test_setup_asks_for_the_releases_that_are_used():
    setup = (pathlib.Path(__file__).resolve().parents[2] / "setup.py").read_text(encoding="utf-8")
    first, end = RANGES["jax"]
    assert f"jax>={first},<{end};" in setup
    assert f"libtpu>={RANGES['libtpu'][0]},<" in setup


@pytest.mark.parametrize(
    ("system", "machine", "version", "message"),
    [
        ("darwin", "arm64", (3, 12), "libtpu is made for Linux on x86-64, and this is darwin on"),
        ("linux", "aarch64", (3, 12), "this is linux on aarch64"),
        ("linux", "x86_64", (3, 9), "need Python 3.11 or newer, and this is 3.9"),
        ("linux", "x86_64", (3, 12), "-m pip install 'estimator-bridge[tpu-compile]'"),
    ],
)
def test_where_there_is_no_libtpu_the_reason_is_said(
    monkeypatch, system, machine, version, message
):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr(sys, "version_info", version)
    assert message in how_to_install(sys.executable)


def test_a_compiler_that_cannot_be_loaded_is_no_refusal(python):
    body = "    answer(json.dumps({'missing': 'libtpu.so: undefined symbol'}))\n"
    with pytest.raises(CompileError, match="undefined symbol") as caught:
        Compiler(python(body)).compile(b"", V5E, 1)
    assert caught.value.why is NotCompiledReason.SETUP


def test_what_was_compiled_before_a_compiler_took_too_long_is_reported(python, tmp_path):
    path = tmp_path / "report.json"
    body = f"""
    if hlo == "slow":
        time.sleep(60)
{COMPILES}"""
    job = CompileJob(Request(V5E, report=str(path), python=python(body), secs=0.5))
    job.compile("training", LoweredStep(b"good", 1, ()), 8, lambda op: None)
    for _ in range(2):  # it is given the step once
        with pytest.raises(CompileError, match=r"over 0.5 s"):
            job.compile("evaluation", LoweredStep(b"slow", 1, ()), 8, lambda op: None)
    job.compile("prediction", LoweredStep(b"good", 1, ()), 8, lambda op: None)
    assert job.finish() == 1
    steps = json.loads(path.read_text())["steps"]
    assert [step["compiled"] for step in steps] == [True, False, True]
    assert steps[1]["why"] == "the compiler took too long"


OUT_OF_MEMORY = (
    "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory "
    "required for HLO temporaries (24.00G) exceeds available HBM (15.75G)."
)
TOO_LARGE = """ENTRY %m (a: f32[]) -> f32[] {
  %a = f32[1073741824,1]{0,1:T(1,128)} parameter(0)
  %b = f32[4096,1048576]{1,0:T(8,128)} fusion(%a), metadata={op_name="dense/MatMul"}
}
"""


def test_too_much_memory_is_said_with_the_largest_arrays_and_their_lines(python, tmp_path):
    body = f"""
    open(request['text'], 'w').write({TOO_LARGE!r})
    answer(json.dumps({{'error': {OUT_OF_MEMORY!r}, 'has_text': True}}))
"""
    job = CompileJob(Request(V5E, report=str(tmp_path / "r.json"), python=python(body)))
    step = LoweredStep(b"", 1, (Argument("input", "features['x']", (1 << 30, 1), "float32", 4),))
    with pytest.raises(CompileError) as caught:
        job.compile("training", step, 8, {"dense/MatMul": "m.py:3: dense(x)"}.get)
    message = str(caught.value)
    assert caught.value.why is NotCompiledReason.MEMORY
    assert "Out of memory by at least 12.2 GiB: the step needs 28 GiB of HBM" in message
    assert "f32[4096,1048576]  dense/MatMul, made at m.py:3: dense(x)" in message
    assert "features['x']" in message
    assert "--find-batch-size" in message
    values = json.loads((tmp_path / "r.json").read_text())["steps"][0]["memory"]
    assert values["missing"] == int(12.25 * 2**30)
    assert values["buffers"][0]["op"] == "dense/MatMul"


FFT = """JaxRuntimeError: INVALID_ARGUMENT: during context [pre-optimization]: Unexpected operand \
type for FFT: c128[8,12]{1,0}

Suspected Python Code Location:
  spectrum/FFT:1"""


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        (FFT, ["spectrum/FFT, made at m.py:3", "FFT is of complex64", "its verdict counts"]),
        (
            "UNIMPLEMENTED: rewriting computation to not contain X{64|128}: s64[8,8] dot(%a), "
            'metadata={op_name="MatMul" source_line=10}',
            ["MatMul, made at m.py:4", "cast to int32", "its verdict counts"],
        ),
        (
            'UNIMPLEMENTED: CustomCall "Cholesky" is not supported to have a dynamic dimension',
            ["Where, made at m.py:5", "Give it a fixed shape"],
        ),
        ("INTERNAL: something", ["does not say which operation", "Compute it in input_fn"]),
    ],
)
def test_a_refusal_names_the_users_line_and_what_to_write(python, message, parts):
    body = f"    answer(json.dumps({{'error': {message!r}}}))\n"
    job = CompileJob(Request(V5E, python=python(body)))
    step = LoweredStep(b"", 1, (), dynamic=(Finding("Where", "m.py:5: tf.where(x)", "pads"),))
    lines = {"spectrum/FFT": "m.py:3: tf.signal.fft(x)", "MatMul": "m.py:4: tf.matmul(x, x)"}
    with pytest.raises(CompileError) as caught:
        job.compile("training", step, 8, lines.get)
    job.close()
    for part in parts:
        assert part in str(caught.value)
    assert "Suspected" not in str(caught.value)
    assert "source_line" not in str(caught.value)


def test_a_python_that_is_not_there_is_told(tmp_path):
    with pytest.raises(CompileError, match="does not start: No such file") as caught:
        Compiler(str(tmp_path / "none")).compile(b"", V5E, 1)
    assert caught.value.why is NotCompiledReason.SETUP


def test_a_report_is_written_whole_after_each_step(python, tmp_path):
    path = tmp_path / "report.json"
    body = f"""
    if hlo == "bad":
        os.abort()
{COMPILES}"""
    messages = []
    job = CompileJob(Request(V5E, report=str(path), python=python(body)), messages.append)
    step = LoweredStep(b"good", 1, ())
    job.compile("training", step, 8, lambda op: None)
    assert json.loads(path.read_text())["passed"] is True
    job.compile("training", step, 8, lambda op: None)  # the same again: neither compiled nor told
    with pytest.raises(CompileError):
        job.compile("prediction", LoweredStep(b"bad", 1, ()), 8, lambda op: None)
    assert job.finish() == 1
    values = json.loads(path.read_text())
    assert [step["compiled"] for step in values["steps"]] == [True, False]
    assert values["steps"][0]["flops_per_example"] == 0.5
    assert values["steps"][1]["why"] == "the compiler ended"
    assert values["versions"] == RELEASES
    assert os.listdir(tmp_path).count("report.json") == 1
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".report")]
    assert messages[0].startswith("== training for v5e-1: compiled")
    assert messages[-1] == "1 of 2 step(s) were not compiled."


def test_a_program_that_came_to_no_step_has_not_passed(python):
    messages = []
    job = CompileJob(Request(V5E, python=python(COMPILES)), messages.append)
    assert job.finish() == 1
    assert "Nothing was compiled" in messages[0]


def test_an_environment_of_tensorflow_tpu_keeps_its_libtpu(monkeypatch):
    monkeypatch.setattr(libtpu_releases, "_has_tensorflow_tpu", lambda: True)
    text = how_to_install(sys.executable)
    assert text.startswith("Not here: this environment's tensorflow-tpu needs an older libtpu,")
    # Another Python's compiler would not help: this TensorFlow cannot lower a step.
    assert "no XLA for CPUs" in text and text.endswith("run the program there.")
    assert "ESTIMATOR_BRIDGE_COMPILE_PYTHON" not in text
    assert "Install it" in how_to_install("/another/python")
