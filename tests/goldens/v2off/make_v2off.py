"""Makes the golden files of this folder by running the real tf.estimator several times.

    cd tests && python -m goldens.v2off.make_v2off seen_2_15_1.json PYTHON215
    cd tests && python -m goldens.v2off.make_v2off seen_1_15_5.json PYTHON115

PYTHON215 is a Python 3.11 with tensorflow-cpu==2.15.1, PYTHON115 a Python 3.7 with
tensorflow==1.15.5, protobuf<3.21 and numpy<1.19. A case that does not come out the same each time
is an error: it is a race, and no golden.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
RUNS = 3


def main(name: str, python: str) -> None:
    """Writes a golden file.

    Args:
      name: the file's.
      python: the interpreter to run.

    Raises:
      ValueError: a case is a race.
    """
    first = _run(python)
    for _ in range(RUNS - 1):
        again = json.loads(_run(python))
        racing = [case for case, seen in json.loads(first).items() if seen != again[case]]
        if racing:
            raise ValueError(f"{name}: {racing} did not come out the same each time.")
    (HERE / name).write_text(first)


def _run(python: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seen.json"
        subprocess.run([python, str(HERE / "v2off_cases.py"), str(path)], check=True)
        return path.read_text()


if __name__ == "__main__":
    main(*sys.argv[1:])
