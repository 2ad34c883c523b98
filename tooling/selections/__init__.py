"""Which tests a command runs, from recorded times: `python -m tooling.selections`.

`make seconds` runs all tests with the recorder and writes `tests/selections/seconds.json`: the
seconds of CPU that each file of tests takes, its child processes included. CPU time, unlike the
clock's, does not depend on what else the machine does. From that file come the order of the files
(`tests/conftest.py`), `core.txt` (`make test`) and `fast.txt` (`make test-fast`).
"""
