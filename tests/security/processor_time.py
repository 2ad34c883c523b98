"""How much processor time a call takes."""

import time

__all__ = ["least_secs"]

_ENOUGH = 0.5


def least_secs(call):
    """Returns the least seconds of up to three calls.

    A process that has run a thousand tests collects garbage for two seconds, and has threads of
    its own, so that one call alone may look slow.
    """
    least = float("inf")
    for _ in range(3):
        start = time.process_time()
        call()
        least = min(least, time.process_time() - start)
        if least < _ENOUGH:
            break
    return least
