"""The compiler's process: what dies, hangs or is not there is said, and the next step goes on."""

import json
import os
import sys

import pytest

from estimator_bridge.compile_for import CompileError, CompileJob, LoweredStep, Request, Why
from estimator_bridge.compile_for.compiler import Compiler
from estimator_bridge.compile_for.slices import find_slice

V5E = find_slice("v5e-1")
HELLO = '{"jax": "1", "libtpu": "2", "peak_bytes": 1}'
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
        assert compiler.versions == {"jax": "1", "libtpu": "2"}
    finally:
        compiler.close()
    assert process.returncode == 0


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
        assert caught.value.why is Why.CRASH
        assert "signal 6" in str(caught.value)
        assert "nothing of interest" not in str(caught.value)
        assert compiler.compile(b"good", V5E, 1).seconds == 0.1
    finally:
        compiler.close()


def test_a_compiler_that_takes_too_long_is_ended(python):
    compiler = Compiler(python("    time.sleep(60)\n"), secs=0.5)
    with pytest.raises(CompileError, match=r"more than 0.5 s to compile a step") as caught:
        compiler.compile(b"", V5E, 1)
    assert caught.value.why is Why.TIME
    assert compiler._process is None


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("RESOURCE_EXHAUSTED: Ran out of memory on HBM", Why.MEMORY),
        ("UNIMPLEMENTED: no such operation", Why.TPU),
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
    assert caught.value.why is Why.SETUP
    assert "No module named 'libtpu'" in str(caught.value)


def test_a_python_that_is_not_there_is_told(tmp_path):
    with pytest.raises(CompileError, match="does not start: No such file") as caught:
        Compiler(str(tmp_path / "none")).compile(b"", V5E, 1)
    assert caught.value.why is Why.SETUP


def test_a_report_is_written_whole_after_each_step(python, tmp_path):
    path = tmp_path / "report.json"
    body = f"""
    if hlo == "bad":
        os.abort()
{COMPILES}"""
    told = []
    job = CompileJob(Request(V5E, report=str(path), python=python(body)), told.append)
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
    assert values["versions"] == {"jax": "1", "libtpu": "2"}
    assert os.listdir(tmp_path).count("report.json") == 1
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".report")]
    assert told[0].startswith("== training for v5e-1: compiled")
    assert told[-1] == "1 of 2 step(s) were not compiled."


def test_a_program_that_came_to_no_step_has_not_passed(python):
    told = []
    job = CompileJob(Request(V5E, python=python(COMPILES)), told.append)
    assert job.finish() == 1
    assert "Nothing was compiled" in told[0]
