"""Slices by their names, and the resolution of requests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from estimator_bridge.compile_for import (
    CompileError,
    CompileJob,
    Request,
    find_slice,
    slice_names,
)
from estimator_bridge.compile_for.slices import SLICES

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("name", "topology", "replicas", "hosts"),
    [
        ("v2-8", "v2:2x2", 8, 1),
        ("v3-8", "v3:2x2", 8, 1),
        ("v3-32", "v3:4x4", 32, 4),
        ("v4-8", "v4:2x2x1", 4, 1),
        ("v5e-1", "v5e:1x1", 1, 1),
        ("v5litepod-8", "v5e:2x4", 8, 1),
        ("v5e-256", "v5e:16x16", 256, 64),
        ("v5p-8", "v5p:2x2x1", 4, 1),
        ("V6E-8", "v6e:2x4", 8, 1),
        ("v7x-8", "tpu7x:2x2x1", 8, 1),
    ],
)
def test_a_slice_has_the_topology_replicas_and_hosts_of_its_name(name, topology, replicas, hosts):
    slice_ = find_slice(name)
    assert (slice_.topology, slice_.replicas, slice_.hosts) == (topology, replicas, hosts)


def test_names_and_grids_count_the_same_cores():
    for name, one in SLICES.items():
        number = int(name.rpartition("-")[2])
        per_chip = {"v5e": 1, "v6e": 1}.get(one.chip.name, 2)
        assert one.chips * per_chip == number, name


@pytest.mark.parametrize("name", ["v5e-3", "v9-8", "", "v5e", "8"])
def test_a_wrong_name_lists_those_that_there_are(name):
    with pytest.raises(ValueError, match="Known slices:") as caught:
        find_slice(name)
    assert "v2-8, v2-32" in str(caught.value)
    assert "v5e-1, v5e-4, v5e-8" in slice_names()


def test_a_request_passes_through_the_environment(tmp_path):
    environ = {}
    request = Request.make("v5e-8", only=True, report=str(tmp_path / "r.json"))
    request.write_to(environ)
    assert Request.of(environ) == request
    assert environ["ESTIMATOR_BRIDGE_CORES"] == "8"
    assert Request.of({}) is None


@pytest.mark.parametrize("secs", ["0", "-1", "soon", "nan"])
def test_a_limit_that_is_no_time_is_refused(secs):
    environ = {"ESTIMATOR_BRIDGE_COMPILE_FOR": "v5e-1", "ESTIMATOR_BRIDGE_COMPILE_SECS": secs}
    with pytest.raises(ValueError, match="positive number of seconds"):
        Request.of(environ)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--compile-for", "v5e-3"], "no TPU slice is named 'v5e-3'. Known slices:"),
        (["--compile-only"], "--compile-only needs a slice to compile for"),
        (["--report", "r.json"], "--report needs a slice to compile for"),
        (["--find-batch-size"], "--find-batch-size needs a slice to compile for"),
        (["--compile-for", "v5e-8", "--cores", "2"], "leave --cores out"),
        (["--compile-for", "v5e-8", "--find-batch-size"], "add --compile-only"),
        (["--compile-for", "v5e-8", "--report", "r.txt"], "must end in .json, or in .html"),
        (["--compile-for", "v5e-8", "--report", "no/r.json"], "does not exist"),
    ],
)
def test_wrong_options_are_said_before_tensorflow_is_imported(options, message, tmp_path):
    program = (
        "import sys; import estimator_bridge.commands.cli as c; code = c.main(sys.argv[1:]); "
        + ("assert 'tensorflow' not in sys.modules; sys.exit(code)")
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "run", *options, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert message in done.stderr


def test_a_slice_of_one_chip_is_a_host_of_one_chip():
    # Else libtpu 0.0.32 to 0.0.37 refuse it: "not divisible by the given chips_per_host_bounds".
    assert find_slice("v5e-1").options == {"chips_per_host_bounds": [1, 1, 1]}
    assert find_slice("v5e-4").options == {}
    assert find_slice("v4-8").options == {"chip_config_name": "megacore"}


def test_a_chip_that_tensorflow_does_not_run_on_is_said_to_be_one(tmp_path):
    for name, is_told in (("tpu7x-8", True), ("v6e-8", False)):
        messages = []
        job = CompileJob(
            Request(find_slice(name), python=str(tmp_path / "missing")), messages.append
        )
        with pytest.raises(CompileError, match="does not start"):
            job.start()
        assert any("not for TensorFlow" in text for text in messages) == is_told
