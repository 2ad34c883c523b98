"""Programs in forks behave like programs in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
from forking import run_python

PROGRAM = """
import atexit, os, pickle, sys
class Mine: ...
pickle.loads(pickle.dumps(Mine()))
atexit.register(print, "at exit")
print(sys.argv, __name__, os.environ.get("SECRET"), "PATH" in os.environ, os.getcwd(), input())
import helper
print(helper.NAME, "tensorflow" in sys.modules, file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture(params=["-c", "script", "-m"])
def words(request, tmp_path):
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "helper.py").write_text("NAME = __name__\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    return {
        "-c": ["-c", PROGRAM, "3"],
        "script": ["program.py", "3"],
        "-m": ["-m", "program", "3"],
    }[request.param]


def test_a_fork_is_like_a_process(words, tmp_path):
    environment = {"SECRET": "abc", "PYTHONPATH": str(tmp_path / "library")}
    fork = run_python(words, folder=tmp_path, environment=environment, standard_input="typed\n")
    process = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=environment, input="typed\n",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (fork.returncode, fork.stdout) == (3, process.stdout)
    assert fork.stderr == process.stderr == "helper False\n"


def test_an_exception_and_a_signal_are_its_end():
    assert run_python(["-c", "raise ValueError('x')"]).returncode == 1
    killed = run_python(["-c", "import os; os.kill(os.getpid(), 9)"])
    assert killed.returncode == -9


def test_a_program_that_goes_on_is_ended():
    with pytest.raises(subprocess.TimeoutExpired):
        run_python(["-c", "import time; time.sleep(60)"], patience=1)


def test_tensorflow_is_imported_as_if_it_were_new():
    source = """
        import sys
        class Watch:
            def find_spec(self, name, path=None, target=None):
                if name == "tensorflow":
                    print("imported")
        sys.meta_path.insert(0, Watch())
        import tensorflow as tf
        print(int(tf.reduce_sum([1, 2])), tf.__spec__.name)
        """
    result = run_python(["-c", textwrap.dedent(source)])
    assert result.stdout.splitlines() == ["imported", "3 tensorflow"], result.stderr


def test_this_process_stays_as_it_is():
    before = dict(os.environ), os.getcwd(), list(sys.path)
    run_python(["-c", "import os, sys; os.environ['A'] = 'b'; os.chdir('/'); sys.path.clear()"])
    assert (dict(os.environ), os.getcwd(), list(sys.path)) == before
