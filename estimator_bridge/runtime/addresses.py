"""What answers at a worker's address, and who holds a port of this machine."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from estimator_bridge.runtime.deadlines import problem_at

__all__ = ["is_loopback", "port_holder", "port_problem", "problems_at"]

_LISTENS = "0A"  # the state in Linux's table of sockets
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")

_LOOPBACK = ("127.", "localhost", "[::1]", "::1")


def problems_at(addresses: Sequence[str], timeout_secs: float = 2.0) -> dict[str, str]:
    """Returns the addresses ('host:port') where no TensorFlow server answers, each with the reason.

    Args:
      addresses: the addresses, which are tried one after the other.
      timeout_secs: the longest wait at each of them.
    """
    problems = {}
    for address in addresses:
        host, _, port = address.rpartition(":")
        try:
            problem = problem_at(host.strip("[]"), int(port), timeout_secs)
        except ValueError:
            problem = "it must be 'host:port'"
        if problem:
            problems[address] = problem
    return problems


def port_problem(port: int) -> str | None:
    """Returns why TensorFlow's server cannot listen on a port; None if it can.

    The server listens at all addresses of the machine, so a process that holds the port at one of
    them is in its way.
    """
    try:
        _listen(port)
    except OSError as error:
        return os.strerror(error.errno) if error.errno else str(error)
    except OverflowError as error:
        return str(error)
    return None


def _listen(port: int) -> None:
    if socket.has_dualstack_ipv6():
        try:
            both = socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise
        else:
            both.close()
            return
    socket.create_server(("", port)).close()  # without IPv6, or with it turned off


def port_holder(port: int) -> tuple[int, str] | None:
    """Returns the number and the name of the process that holds a TCP port of this machine.

    Returns:
      None if it cannot be known: another user's process, or a system other than Linux.
    """
    sockets = {f"socket:[{number}]" for number in _sockets(port)}
    for process in Path("/proc").glob("[0-9]*") if sockets else ():
        with contextlib.suppress(OSError):
            descriptors = process.joinpath("fd").iterdir()
            if any(_target(descriptor) in sockets for descriptor in descriptors):
                return int(process.name), process.joinpath("comm").read_text().strip()
    return None


def _sockets(port: int) -> list[str]:
    """Returns the inodes of a port's sockets: those that listen, or else all of them."""
    rows = list(_rows(_TABLES))
    at_port = [row for row in rows if int(row[1].rpartition(":")[2], 16) == port and row[9] != "0"]
    return [row[9] for row in at_port if row[3] == _LISTENS] or [row[9] for row in at_port]


def _rows(tables: Iterable[str]) -> Iterator[list[str]]:
    for table in tables:
        with contextlib.suppress(OSError), open(table) as lines:
            next(lines, None)  # the heading
            yield from (line.split() for line in lines)


def _target(descriptor: Path) -> str:
    with contextlib.suppress(OSError):
        return os.readlink(descriptor)
    return ""


def is_loopback(address: str) -> bool:
    """Returns whether a 'host:port' names this machine as only its own processes do."""
    return address.startswith(_LOOPBACK)
