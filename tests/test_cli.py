"""The command line: its help, its exit codes, and the report of doctor."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from estimator_bridge.base.version import __version__
from estimator_bridge.commands import doctor
from estimator_bridge.commands.cli import main, parse

ROOT = Path(__file__).resolve().parent.parent


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    assert "doctor" in capsys.readouterr().out


def test_no_command_shows_the_help_and_fails(capsys):
    assert main([]) == 2
    assert "usage: estimator-bridge" in capsys.readouterr().err


def test_unknown_command_is_one_clear_error(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["docter"])
    assert stopped.value.code == 2
    assert "there is no command 'docter'; did you mean doctor?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["start"])
    assert "the commands are check, data" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"estimator-bridge {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "usage"),
    [
        (["--nosuch"], "usage: estimator-bridge [-h]"),
        (["doctor", "--nosuch"], "usage: estimator-bridge doctor [-h]"),
        (["run", "--nosuch", "script.py"], "usage: estimator-bridge run [OPTIONS] SCRIPT"),
    ],
)
def test_an_unknown_option_shows_the_usage_of_its_command(capsys, arguments, usage):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    errors = capsys.readouterr().err
    assert errors.startswith(usage)
    assert "error: unrecognized arguments: --nosuch" in errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--runtime", "jax:cpu:2", "--cores", "2", "a.py"],
            "--runtime and --cores both say where",
        ),
        (
            ["--runtime", "jax:4", "--compile-for", "v5e-8", "a.py"],
            "write --runtime jax, without the rest of 'jax:4'",
        ),
        (["--runtime", "jax:cpu:0", "a.py"], "'jax:cpu:0' names no devices of JAX"),
        (["--runtime", "torch", "a.py"], "wanted jax, jax:N or jax:cpu:N, got 'torch'"),
    ],
)
def test_a_wrong_runtime_is_wrong_usage(capsys, arguments, words):
    try:
        code = main(["run", *arguments])
    except SystemExit as stopped:
        code = stopped.code
    assert code == 2
    assert words in capsys.readouterr().err


def test_what_stands_behind_a_script_is_its_own():
    arguments = parse(["run", "-v", "script.py", "--nosuch", "-m"])
    assert arguments.program == ["script.py", "--nosuch", "-m"]


def test_doctor_as_a_command_says_nothing_but_its_report():
    environ = {name: v for name, v in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    done = subprocess.run(
        [sys.executable, "-m", "estimator_bridge", "doctor"],
        capture_output=True,
        text=True,
        env=environ,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "/physical_device:CPU:0" in done.stdout
    for value in ("auto", "NAME", "emulated:8", "jax", "''"):
        assert f"\n  {value} " in done.stdout


def test_without_tensorflow_the_command_says_what_to_install(tmp_path):
    """In a Python without any package, where every other import of this library is an error."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)

    def call(*arguments):
        return subprocess.run(
            [tmp_path / "bare" / "bin" / "python", *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )

    done = call("-m", "estimator_bridge", "doctor")
    assert (done.returncode, done.stderr) == (1, "")
    assert "to fix  estimator_bridge needs TensorFlow 2.16 to 2.21, but found none" in done.stdout
    done = call("-m", "estimator_bridge", "run", "any.py")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("estimator-bridge: estimator_bridge needs TensorFlow 2.16 to")
    assert len(done.stderr.splitlines()) == 1
    assert call("-m", "estimator_bridge", "--help").returncode == 0
    done = call("-c", "import estimator_bridge")
    assert "ImportError: estimator_bridge needs TensorFlow" in done.stderr


def report(environ):
    lines = []
    code = doctor.examine(lines.append, environ)
    return code, "\n".join(lines)


def test_doctor_shows_the_environment_that_names_a_tpu():
    _, text = report({"TPU_NAME": "my-tpu", "UNRELATED": "secret"})
    assert "TPU_NAME  my-tpu" in text
    assert "secret" not in text
    assert "auto        trains on the TPU that was found (TPU_NAME=my-tpu)" in text


def test_doctor_without_a_tpu_foretells_emulated_cores():
    code, text = report({})
    assert code == 0
    assert "8 emulated cores" in text


def test_doctor_tells_of_a_pod():
    pod = {"TPU_NAME": "pod", "TPU_WORKER_HOSTNAMES": "10.0.0.2,10.0.0.3", "TPU_WORKER_ID": "1"}
    code, text = report(pod)
    assert code == 0
    assert "worker 1 of a pod of 2 hosts" in text
    assert "local       only the TPU chips of this machine" in text
    _, alone = report({**pod, "TPU_WORKER_HOSTNAMES": "10.0.0.2"})
    assert "worker 1 of" not in alone


@pytest.mark.parametrize(
    ("tf_config", "message"),
    [
        ('{"cluster": {"chief": ["a:1"]}, "task": {"type": "evaluator"}}', "KeyError: 'evaluator'"),
        ("chief", "TF_CONFIG is not a JSON object"),
        ("[]", "TF_CONFIG is not a JSON object"),
    ],
)
def test_doctor_tells_of_an_evaluator_that_is_not_listed_and_of_what_is_no_cluster(
    tf_config, message
):
    code, text = report({"TF_CONFIG": tf_config})
    assert code == 0
    assert message in text


def test_doctor_has_nothing_to_say_of_a_cluster_with_its_evaluator():
    listed = '{"cluster": {"evaluator": ["a:1"]}, "task": {"type": "evaluator"}}'
    _, text = report({"TF_CONFIG": listed})
    assert "evaluator that its cluster" not in text
    assert "not a JSON object" not in text


def test_doctor_ends_in_its_answer():
    assert report({})[1].splitlines()[-1].startswith("Ready: TensorFlow loads, with ")


def test_doctor_goes_on_where_its_reader_has_seen_enough():
    done = subprocess.run(
        f"{sys.executable} -m estimator_bridge doctor | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("Versions\n", "")
