"""Runs `estimator-bridge run` with processes that are forks of this one, which has TensorFlow.

The arguments are those of `estimator-bridge run`.
"""

import atexit
import os
import signal
import sys
import traceback

from estimator_bridge.commands import cli
from estimator_bridge.legacy.running.local_cluster import launcher
from estimator_bridge.legacy.running.local_cluster.processes import Process


class Fork:
    """What `Process` uses of a Popen."""

    def __init__(self, pid, stdout, stderr):
        self.pid, self.stdout, self.stderr = pid, stdout, stderr
        self.returncode = None

    def poll(self):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def send_signal(self, signum):
        os.kill(self.pid, signum)


def start_fork(task, command, environment):
    pipes = [os.pipe(), os.pipe()]
    pid = os.fork()
    if not pid:
        os.setsid()
        for number, (_, writer) in enumerate(pipes, start=1):
            os.dup2(writer, number)
        for signum in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(environment)
        run_and_exit(command[command.index("run") :])
    for _, writer in pipes:
        os.close(writer)
    return Process(task, Fork(pid, *(os.fdopen(reader, "rb") for reader, _ in pipes)))


def run_and_exit(arguments):
    """Ends this process as Python ends one, below the frames of the launcher."""
    code = 1
    try:
        code = cli.main(arguments)
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    launcher.run_cluster.__kwdefaults__["start"] = start_fork
    sys.exit(cli.main(["run", *sys.argv[1:]]))
