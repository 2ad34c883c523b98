"""Free ports of this machine, for servers that listen some seconds later."""

from __future__ import annotations

import contextlib
import random
import socket

__all__ = ["free_ports"]

# Systems give outgoing connections the ports from 32768 on (or 49152), so that one of those may be
# in use again when a server wants to listen.
_PORTS = range(20_000, 32_768)


def free_ports(count: int) -> list[int]:
    """Returns different ports on which nothing listens.

    Args:
      count: their number.

    Raises:
      OSError: there are not so many.
    """
    ports: list[int] = []
    with contextlib.ExitStack() as stack:
        for port in random.sample(_PORTS, len(_PORTS)):
            if len(ports) == count:
                return ports
            probe = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                probe.bind(("", port))  # TensorFlow's servers listen at all addresses
                ports.append(port)
    raise OSError(f"{count} processes need as many ports, and {len(ports)} are free")
