import os
import subprocess
import sys

PROGRAM = """
import os, sys
from models.quiet import quiet_start
with quiet_start():
    os.write(2, b"I0000 00:00:1700000000.123456    42 port.cc:1] chatter\\n")
    os.write(2, b"2024-01-01 10:00:00.123456: W tensorflow/x.cc:1] chatter\\n")
    print("worth reading", file=sys.stderr)
    if "raise" in sys.argv:
        raise RuntimeError("broken install")
print("after", file=sys.stderr)
"""


def stderr_of(*arguments, **environment):
    inherited = {
        name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        env={**inherited, **environment},
        check=False,
    )
    return done.stderr


def test_chatter_is_dropped_and_the_rest_passed_on():
    assert stderr_of() == "worth reading\nafter\n"


def test_a_user_who_sets_the_level_sees_everything():
    assert stderr_of(TF_CPP_MIN_LOG_LEVEL="0").count("chatter") == 2


def test_an_error_inside_is_seen():
    text = stderr_of("raise")
    assert "worth reading" in text
    assert "RuntimeError: broken install" in text
