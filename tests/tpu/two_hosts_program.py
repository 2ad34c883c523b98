"""A program of a client and two hosts, with two CPU cores each instead of a TPU's.

The hosts are processes, each in its own folder, which the client does not share.

    python two_hosts_program.py client FOLDER    # starts the hosts, and prints its results as JSON
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import tensorflow as tf

v1 = tf.compat.v1
CORES = 2


def host(addresses: str, number: str) -> None:
    """Serves until the client closes this process's input."""
    cores = v1.ConfigProto(device_count={"CPU": CORES})
    server = tf.distribute.Server(json.loads(addresses), "worker", int(number), config=cores)
    print("serves", flush=True)
    sys.stdin.read()
    del server


def start_hosts(folder: str, cluster: dict[str, list[str]]) -> Iterator[subprocess.Popen]:
    for number in range(len(cluster["worker"])):
        place = os.path.join(folder, f"host_{number}")
        os.makedirs(place)
        with open(os.path.join(place, "numbers.txt"), "w", encoding="utf-8") as file:
            # The second host has more of them.
            file.writelines(f"{100 * number + i}\n" for i in range(10 + 9 * number))
        yield subprocess.Popen(
            [sys.executable, __file__, "host", json.dumps(cluster), str(number)],
            cwd=place,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )


def free_address() -> str:
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return f"localhost:{one.getsockname()[1]}"


def strategy_over(hosts: int) -> tf.distribute.Strategy:
    """A replica on each core of several hosts, driven by this process, as in TPUStrategy."""
    devices = [
        f"/job:worker/replica:0/task:{host}/device:CPU:{core}"
        for host in range(hosts)
        for core in range(CORES)
    ]
    with tf.Graph().as_default():  # it says that it cannot do this eagerly, and can
        return tf.distribute.MirroredStrategy(devices, tf.distribute.ReductionToOneDevice())


def client(folder: str) -> None:
    cluster = {"worker": [free_address(), free_address()]}
    hosts = list(start_hosts(folder, cluster))
    os.chdir(folder)
    try:
        for process in hosts:
            process.stdout.readline()
        import two_hosts_cases

        tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(cluster))
        results = two_hosts_cases.run(strategy_over(2), strategy_over(1))
        print(json.dumps(results, default=float))
    finally:
        for process in hosts:
            process.kill()
            process.wait()


if __name__ == "__main__":
    {"host": host, "client": client}[sys.argv[1]](*sys.argv[2:])
