"""Programs that are started by tools, launchers, debuggers and test runners."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from estimator_bridge.legacy.running import exec_hook

ROOT = str(Path(__file__).resolve().parents[2])
COMMAND = [sys.executable, "-m", "estimator_bridge", "run"]
# What only a program's own modules have: Python 2's names.
SAYS = "import sys\nprint(__name__, sys.argv[1:], unicode is str)\n"


def run(folder, *arguments, typed="", command=COMMAND, **files):
    for name, source in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(source))
    hidden = {"TF_CPP_MIN_LOG_LEVEL", "TPU_NAME"}
    environ = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [*command, *arguments],
        cwd=folder,
        env={**environ, "PYTHONPATH": ROOT},
        input=typed,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("tool", "typed"),
    [
        (["-m", "cProfile", "-s", "name"], ""),
        (["-m", "profile"], ""),
        (["-m", "pdb"], "c\nq\n"),
        (["-m", "trace", "--count", "--coverdir", "counts"], ""),
        (["launcher.py"], ""),
        (["-m", "launcher"], ""),
        (["-m", "pkg.deep.launcher"], ""),
    ],
    ids=" ".join,
)
def test_a_script_that_a_tool_runs_is_a_program(tmp_path, tool, typed):
    launcher = "import runpy, sys\nsys.argv = sys.argv[1:]\n"
    launcher += "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    (tmp_path / "pkg" / "deep").mkdir(parents=True)  # packages without an __init__.py
    (tmp_path / "pkg" / "deep" / "launcher.py").write_text(launcher)
    done = run(tmp_path, *tool, "program.py", "-x", typed=typed, program=SAYS, launcher=launcher)
    assert "__main__ ['-x'] True" in done.stdout, done.stderr
    assert done.returncode == 0, done.stderr


def test_a_debugger_stops_in_the_program_and_sees_no_frame_of_this_library_above_it(tmp_path):
    typed = "b 4\nc\nw\nn\nc\nq\n"
    program = "def f():\n    x = 1\n    y = x + 1\n    print(y)\nf()\n"
    shown = run(tmp_path, "-m", "pdb", "program.py", typed=typed, program=program).stdout
    (tmp_path / "other").mkdir()
    plain = run(
        tmp_path / "other", "program.py", typed=typed, program=program,
        command=[sys.executable, "-m", "pdb"],
    ).stdout  # fmt: skip
    below = shown.split("bdb.py")[1].replace("/other/", "/")
    assert below.splitlines()[1:9] == [
        line.replace("/other/", "/") for line in plain.split("bdb.py")[1].splitlines()[1:9]
    ]
    assert "exec_hook" not in shown


def test_exec_means_what_it_meant():
    """The hook is put in by hand: under it, `exec` is Python's in all that a program sees of it."""
    before = builtins.exec
    owners = []

    def of_file(path, name, is_main, owner):
        owners.append((path, name, is_main, owner))
        return None if owner else {"len": lambda unused: 7}

    exec_hook.watch_exec(of_file, lambda text, owner: None)
    try:
        outer = {}
        builtins.exec("inner = 1\nimport sys\ndepth = sys._getframe(1).f_code.co_name", outer)
        assert (outer["inner"], outer["depth"]) == (1, "test_exec_means_what_it_meant")
        code = compile("a = len('xy')", __file__, "exec")
        for namespace, a in (
            ({"__builtins__": {"len": len}, "__file__": "other.py", "__name__": "n"}, 2),
            ({"__builtins__": {"len": len}, "__file__": __file__, "__name__": "__main__"}, 7),
            ({"__name__": "m"}, 7),
        ):
            builtins.exec(code, namespace)
            assert namespace["a"] == a
        assert [row[1:] for row in owners] == [
            ("n", False, "other.py"), ("__main__", True, None), ("m", False, None),
        ]  # fmt: skip
        local = {}
        builtins.exec("b = c", {"c": 5}, local)
        assert local == {"b": 5}
        with pytest.raises(TypeError):
            builtins.exec()
        with pytest.raises(TypeError):
            builtins.exec("", 3)
        with pytest.raises(ZeroDivisionError) as raised:
            builtins.exec("1 / 0", {})
        assert [entry.name for entry in raised.traceback][1:] == ["<module>"]
    finally:
        builtins.exec = before


TF1 = """
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 3])
facts = tf.__version__, tf.executing_eagerly(), x.shape[1].value
if __name__ == "__main__":
    print(*facts, flush=True)
"""


def test_each_script_that_a_launcher_runs_is_judged_by_its_own_source(tmp_path):
    launcher = """
    import cProfile, runpy, sys
    print("tensorflow" in sys.modules)
    runpy.run_path("old.py", run_name="__main__")
    print(*runpy.run_module("old")["facts"])
    print(*runpy.run_path("new.py")["facts"])
    print(*runpy.run_path("doubt.py")["facts"])
    values = {"__name__": "any"}
    exec(compile(open("old.py").read(), "old.py", "exec"), values)
    print(*values["facts"])
    exec(open("old.py").read(), {"__name__": "__main__"})
    exec(open("old.py").read())
    exec(compile(open("new.py").read(), "new.py", "exec"))
    print(*facts)
    cProfile.run("import doubt")
    """
    new = """
    import tensorflow.compat.v1 as tf
    facts = tf.__version__[:2], tf.executing_eagerly()
    """
    doubt = "import tensorflow as tf\nfacts = tf.__version__, tf.executing_eagerly()\n"
    done = run(tmp_path, "-v", "launcher.py", launcher=launcher, old=TF1, new=new, doubt=doubt)
    assert done.returncode == 0, done.stderr
    old = "1.15.5 False 3"
    assert done.stdout.splitlines()[:8] == [
        "False", old, old, "2. False", "1.15.5 False", old, old, old,
    ]  # fmt: skip
    assert done.stdout.splitlines()[8] == "2. False"
    assert "old.py is written for TF1 (old.py: tf.placeholder in line 3)" in done.stderr


def test_a_script_of_tf1_gets_graphs_where_its_launcher_has_loaded_tensorflow(tmp_path):
    launcher = """
    import runpy
    import tensorflow as tf
    three = tf.constant(3)
    print(tf.__version__[:2], tf.executing_eagerly())
    runpy.run_path("old.py", run_name="__main__")
    print(tf.__version__[:2], tf.executing_eagerly())
    """
    done = run(tmp_path, "launcher.py", launcher=launcher, old=TF1)
    assert done.stdout.splitlines() == ["2. True", "1.15.5 False 3", "2. False"], done.stderr
    assert done.stderr == ""


def test_pytest_rewrites_assertions_and_each_test_module_gets_its_tensorflow(tmp_path):
    test_old = """
    import tensorflow as tf
    import model

    def test_a_session():
        x = tf.placeholder(tf.float32, [2])
        with tf.Session() as session:
            assert session.run(x * 2, {x: [1, 2]}).tolist() == [2, 5]

    def test_a_model():
        assert model.VERSION == tf.VERSION == "1.15.5"
    """
    test_new = """
    import tensorflow.compat.v1 as tf
    from tensorflow.compat.v1 import estimator

    class TestEstimator(tf.test.TestCase):
        def test_a_session(self):
            with self.session() as session:
                assert session.run(tf.constant(2)) == 2 and tf.__version__ > "2"
            assert estimator.tpu.TPUEstimator
    """
    model = "import tensorflow as tf\nVERSION = tf.__version__\nunicode\n"
    conftest = "import pytest\n@pytest.fixture\ndef number():\n    return unicode(3)\n"
    test_number = "def test_number(number):\n    assert number == '3'\n"
    done = run(
        tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
        test_old=test_old, test_new=test_new, model=model, conftest=conftest,
        test_number=test_number,
    )  # fmt: skip
    assert "assert [2.0, 4.0] == [2, 5]" in done.stdout, done.stdout + done.stderr
    assert "1 failed, 3 passed, 1 skipped" in done.stdout  # TestCase brings a test of its own
    assert done.returncode == 1


def test_graphs_and_eager_operations_in_one_process_are_named(tmp_path):
    eager = "import tensorflow.compat.v2 as tf\ndef test_eager():\n    assert tf.ones([]).numpy()\n"
    done = run(
        tmp_path, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist",
        test_a=eager, test_b=TF1,
    )  # fmt: skip
    assert "test_a.py runs operations eagerly" in done.stderr
    assert "run them in separate processes" in done.stderr
    assert "test_b.py relies on TensorFlow 1's graphs" in done.stderr


def test_a_spawned_process_runs_the_script_that_a_launcher_has_made_the_main_module(tmp_path):
    launcher = """
    import sys, types
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = __file__.replace("launcher", "script")
    exec(compile(open(main.__file__).read(), main.__file__, "exec"), vars(main))
    """
    script = """
    import multiprocessing
    def work(x):
        return __name__, unicode is str, x
    if __name__ == "__main__":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(work, [1]))
    """
    done = run(tmp_path, "launcher.py", launcher=launcher, script=script)
    assert done.stdout == "[('__mp_main__', True, 1)]\n", done.stderr
