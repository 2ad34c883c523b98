"""`estimator-bridge run` runs a program as Python does. These programs need no TensorFlow."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = str(Path(__file__).resolve().parents[2])
RUN = [sys.executable, "-m", "estimator_bridge", "run"]


def write(folder, **files):
    for name, source in files.items():
        path = folder / (name.replace("__", "/", name.count("__") - name.count("__init")) + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(source))


def start(command, folder, *arguments):
    environ = {**os.environ, "PYTHONPATH": ROOT}
    return subprocess.run(
        [*command, *arguments],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def run(folder, *arguments):
    return start(RUN, folder, *arguments)


def same_as_python(folder, *arguments):
    """Runs a program both ways, and asserts that nothing tells them apart."""
    done, python = run(folder, *arguments), start([sys.executable], folder, *arguments)
    outcomes = [(d.returncode, d.stdout, d.stderr) for d in (done, python)]
    assert outcomes[0] == outcomes[1]
    return done


def test_a_script_sees_what_python_shows_it(tmp_path):
    write(
        tmp_path,
        tool='''
        """What it is."""
        import collections, inspect, os, pickle, sys, threading
        import beside

        class Kept:
            value = 3

        def work():
            return 1

        if __name__ == "__main__":
            print(__doc__, __file__, __package__, __spec__, __name__, sorted(__annotations__))
            print(sys.argv, sys.path[0], "tensorflow" in sys.modules)
            print(sys.modules["__main__"].work is work, beside.__file__, beside.again().work())
            print(inspect.getsource(work), pickle.loads(pickle.dumps(Kept())).value)
            print(sys.modules["__main__"].__dict__ is globals(), threading.main_thread().name)
        count: int = 0
        ''',
        beside="import sys\ndef again():\n    return sys.modules['__main__']\n",
    )
    done = same_as_python(tmp_path, "tool.py", "--name=x", "-m", "--", "--cores", "2")
    assert "['tool.py', '--name=x', '-m', '--', '--cores', '2']" in done.stdout
    assert f"{tmp_path} False" in done.stdout
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").symlink_to(tmp_path / "tool.py")
    assert f"{tmp_path} False" in same_as_python(tmp_path, "bin/tool").stdout


def test_a_module_of_a_package(tmp_path):
    write(
        tmp_path,
        pkg____init__="print('package', __name__)",
        pkg__other="def f():\n    return __name__",
        pkg__tool="""
        import sys
        from . import other
        from .other import f
        print(sys.argv[0] == __file__, sys.argv[1:], __name__, __package__, __spec__.name, f())
        """,
    )
    (tmp_path / "pkg" / "__main__.py").write_text("from . import tool\nprint(__package__)\n")
    assert (
        "True ['-v'] __main__ pkg pkg.tool pkg.other"
        in same_as_python(tmp_path, "-m", "pkg.tool", "-v").stdout
    )
    assert same_as_python(tmp_path, "-m", "pkg").stdout.endswith("pkg\n")


def test_a_module_below_folders_that_are_no_packages(tmp_path):
    tool = "from . import near\nprint(__name__, __package__, __spec__.name, near.__name__)\n"
    write(tmp_path, pkg__near="")
    deep = tmp_path / "pkg" / "folder"
    deep.mkdir()
    (deep / "near.py").write_text("")
    (deep / "tool.py").write_text(tool)
    (deep / "__main__.py").write_text(tool)
    expected = "__main__ pkg.folder pkg.folder{} pkg.folder.near\n"
    assert same_as_python(tmp_path, "-m", "pkg.folder.tool").stdout == expected.format(".tool")
    done = same_as_python(tmp_path, "-m", "pkg.folder")
    assert done.stdout == expected.format(".__main__")
    wrong = run(tmp_path, "-m", "pkg.folder.none")
    assert (wrong.returncode, "No module named pkg.folder.none" in wrong.stderr) == (1, True)


def test_folders_of_the_program_come_before_packages_beside_this_library(tmp_path):
    program = """
    import flags, models.net
    from models.net import size
    print(size, flags.__path__[0], models.net.__file__)
    """
    write(tmp_path, tool=program, models__net="size = 7", flags__any="")
    assert run(tmp_path, "tool.py").stdout.split() == [
        "7", str(tmp_path / "flags"), str(tmp_path / "models" / "net.py"),
    ]  # fmt: skip
    write(tmp_path, ours="import models\nprint(models.__file__)")
    (tmp_path / "models" / "net.py").unlink()
    (tmp_path / "models").rename(tmp_path / "renamed")
    assert run(tmp_path, "ours.py").stdout.strip().startswith(ROOT)


@pytest.mark.parametrize(
    ("last_line", "code"),
    [
        ("pass", 0),
        ("sys.exit(7)", 7),
        ("sys.exit('in words')", 1),
        ("sys.exit()", 0),
        ("raise SystemExit(3)", 3),
        ("inner(0)", 1),
        ("raise KeyError('x') from ValueError('y')", 1),
        ("import broken", 1),
        ("import not_there", 1),
        ("os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", -signal.SIGINT),
    ],
)
def test_how_it_ends_is_how_it_ends_under_python(tmp_path, last_line, code):
    write(
        tmp_path,
        program=f"""
        import atexit, os, signal, sys, time
        atexit.register(print, "at exit", flush=True)
        # Where the tests themselves run in the background of a shell, it is ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        def inner(x):
            return 1 / x

        {last_line}
        """,
        broken="def f(:\n    pass\n",
    )
    done = same_as_python(tmp_path, "program.py")
    assert done.returncode == code
    assert done.stdout == "at exit\n"


def test_a_traceback_shows_the_program_alone_and_on_demand_all(tmp_path):
    write(tmp_path, program="import helper\n", helper="import estimator_bridge\n1 / 0\n")
    assert "estimator_bridge" not in run(tmp_path, "program.py").stderr.replace(
        "import estimator_bridge", ""
    )
    whole = run(tmp_path, "-v", "program.py").stderr
    assert "running/program.py" in whole
    assert "a TF2 program (no module uses a name that decides)" in whole


def test_spawned_and_forked_processes_run_the_program_again(tmp_path):
    program = """
    import multiprocessing
    {imported}

    def work(x):
        return __name__, basestring is str, double(x)

    if __name__ == "__main__":
        for how in ("fork", "spawn"):
            with multiprocessing.get_context(how).Pool(1) as pool:
                print(pool.map(work, [1, 2]))
    """
    double = "def double(x):\n    return 2 * long(x)\n"
    write(
        tmp_path,
        script=program.format(imported="from double import double"),
        double=double,
        pkg____init__="",
        pkg__double=double,
        pkg__tool=program.format(imported="from .double import double"),
    )
    expected = [
        "[('__main__', True, 2), ('__main__', True, 4)]",
        "[('__mp_main__', True, 2), ('__mp_main__', True, 4)]",
    ]
    for arguments in (["script.py"], ["-m", "pkg.tool"]):
        done = run(tmp_path, *arguments)
        assert done.stdout.splitlines() == expected, done.stderr


def test_what_python_2_and_old_packages_had(tmp_path):
    write(
        tmp_path,
        program="""
        import ConfigParser, Queue, StringIO, cPickle, collections, inspect, time, urllib2, urlparse
        from cStringIO import StringIO as fast
        import numpy as np
        assert isinstance(u"x", unicode) and list(xrange(2)) == [0, 1] and unichr(65) == "A"
        assert reduce(lambda a, b: a + b, [1, 2]) == 3 and long("2") == 2
        assert cPickle.loads(cPickle.dumps(3)) == 3 and fast("a").read() == "a"
        assert Queue.Queue and ConfigParser.ConfigParser
        assert urlparse.urlparse("a://b").netloc == "b"
        assert urllib2.urlopen and urllib2.HTTPError and StringIO.StringIO
        assert issubclass(dict, collections.Mapping) and time.clock() >= 0
        assert inspect.getargspec(lambda a, *b, c=1: 0) == (["a"], "b", None, None)
        assert np.float is float and np.zeros(2, np.int).dtype == np.int64
        assert np.product([2, 3]) == 6 and np.asscalar(np.array(2)) == 2 and np.Inf == float("inf")
        assert np.in1d([1, 2], [2]).tolist() == [False, True] and np.sometrue([0, 1])
        try:
            import no_such_thing
        except ImportError:
            print("fine")
        """,
    )
    done = run(tmp_path, "program.py")
    assert (done.stdout, done.stderr) == ("fine\n", "")


def test_the_commands_own_script_is_in_no_traceback(tmp_path):
    lines = "import sys\nfrom estimator_bridge.commands.cli import main\nsys.exit(main())\n"
    launcher = tmp_path / "estimator-bridge"  # as pip writes it
    launcher.write_text(lines)
    write(tmp_path, program="def f():\n    1 / 0\n\nf()")
    done = start([sys.executable, launcher, "run"], tmp_path, "program.py")
    assert done.stderr == start([sys.executable], tmp_path, "program.py").stderr
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("print 'x'", "program.py is Python 2 source. Convert it once: `python3.12 -m lib2to3"),
        ("try:\n  f()\nexcept KeyError, e:\n  pass", "python3.12 -m lib2to3 -w"),
        ("{}.iteritems()", "Python 2's dict.iteritems(): write d.items()"),
        ("{}.has_key(1)", "write `key in d`"),
        ("map(str, [1])[0]", "wrap it in list(...)"),
        ("iter(x for x in []).next()", "write next(iterator)"),
        ("'x'.decode('utf8')", "remove .decode()"),
        ("raise TypeError('Descriptors cannot be created directly.')", "*_pb2.py"),
        ("from scipy.misc import imread", "imageio"),
        ("import sklearn.externals.six", "the package itself"),
        ("1 / 0", None),
    ],
)
def test_well_known_errors_say_what_to_do(tmp_path, source, message):
    write(tmp_path, program=source)
    done = run(tmp_path, "program.py")
    assert done.returncode == 1
    assert "Traceback" in done.stderr or "SyntaxError" in done.stderr
    if message is None:
        assert "estimator-bridge:" not in done.stderr
    else:
        assert message in done.stderr.split("estimator-bridge: ")[1]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "name the script"),
        (["none.py"], 2, "there is no file 'none.py'"),
        (["pkg.tool"], 2, "Did you mean the module, `-m pkg.tool`?"),
        (["pkg"], 2, "a folder without a __main__.py"),
        (["-m", "pkg.none"], 1, "No module named pkg.none"),
        (["--cores", "0", "x.py"], 2, "wanted a number of cores"),
        (["--check-tpu", "x.py"], 2, "give --cores N too"),
        (["--tf1", "--tf2", "x.py"], 2, "not allowed with"),
    ],
)
def test_wrong_usage_is_one_clear_error(tmp_path, arguments, code, message):
    write(tmp_path, pkg____init__="", pkg__tool="")
    done = run(tmp_path, *arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
