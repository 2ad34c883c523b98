"""A process with so many open files that the next one's number is above what select() takes."""

import contextlib
import os
import resource

__all__ = ["many_open_files"]

_LAST_OF_SELECT = 1023


@contextlib.contextmanager
def many_open_files():
    """Holds files open, of every number up to 1,023 that is free; lifts this process's limit."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    raised = max(limits[0], _LAST_OF_SELECT + 1000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised, limits[1]))
    with contextlib.ExitStack() as held:
        try:
            number = 0
            while number < _LAST_OF_SELECT:
                number = os.open(os.devnull, os.O_RDONLY)
                held.callback(os.close, number)
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
