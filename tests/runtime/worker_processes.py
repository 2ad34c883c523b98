"""Starts the processes of a cluster on this machine, and reads their output."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = Path(__file__).with_name("worker_program.py")
PATIENCE = 120  # seconds; a process that hangs is killed


def free_addresses(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("localhost", 0))
        return [f"localhost:{each.getsockname()[1]}" for each in sockets]


class Cluster:
    """A chief, a worker and any other started process; use it in a ``with`` block."""

    def __init__(self, folder, file=PROGRAM):
        self._file = file
        addresses = free_addresses(3)
        self.jobs = {job: [a] for job, a in zip(("chief", "worker", "evaluator"), addresses)}
        self.folder = Path(folder)
        self._started = []

    def start(self, program, task_type):
        """Starts a process; returns its number."""
        number = len(self._started)
        config = {"cluster": self.jobs, "task": {"type": task_type, "index": 0}}
        log = open(self.folder / f"log{number}", "w+")  # noqa: SIM115  # closed in __exit__
        command = [sys.executable, str(self._file), program, str(self.folder)]
        environment = {**os.environ, "TF_CONFIG": json.dumps(config)}
        environment["PYTHONPATH"] = str(PROGRAM.parents[2])
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        self._started.append((process, log))
        return number

    def terminate(self, number):
        self._started[number][0].terminate()

    def kill(self, number):
        self._started[number][0].kill()
        self._started[number][0].wait()

    def send(self, number, signal):
        self._started[number][0].send_signal(signal)

    def outcome(self, number):
        """Waits for a process; returns its exit code and its JSON objects, merged, or by 'done'."""
        process, _ = self._started[number]
        process.wait(PATIENCE)
        text = self.log(number)
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        merged = {}
        for line in lines:
            merged.update({line["done"]: line} if "done" in line else line)
        return process.returncode, merged

    def log(self, number):
        _, log = self._started[number]
        log.flush()
        return Path(log.name).read_text()

    def wait_for_file(self, name):
        self.wait_until((self.folder / name).exists)

    def wait_until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, [self.log(i) for i in range(len(self._started))]
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for process, log in self._started:
            process.kill()
            process.wait()
            log.close()
