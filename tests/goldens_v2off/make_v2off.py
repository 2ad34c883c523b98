"""Makes the golden files of this folder by running the real tf.estimator, twice over.

    python tests/goldens_v2off/make_v2off.py PYTHON215 PYTHON115

PYTHON215 is a Python 3.11 with tensorflow-cpu==2.15.1, PYTHON115 a Python 3.7 with
tensorflow==1.15.5, protobuf<3.21 and numpy<1.19. Each runs all cases ten times, and a case that
does not come out the same each time is an error: it is a race, and no golden.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
RUNS = 10


def main(pythons: dict[str, str]) -> None:
    """Writes seen_2_15_1.json and seen_1_15_5.json.

    Args:
      pythons: by file, the interpreter to run.

    Raises:
      ValueError: a case is a race.
    """
    for name, python in pythons.items():
        texts = [_run(python) for _ in range(RUNS)]
        first = json.loads(texts[0])
        for text in texts[1:]:
            racing = [case for case, seen in json.loads(text).items() if seen != first[case]]
            if racing:
                raise ValueError(f"{name}: {racing} did not come out the same each time.")
        (HERE / name).write_text(texts[0])


def _run(python: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seen.json"
        subprocess.run([python, str(HERE / "v2off_cases.py"), str(path)], check=True)
        return path.read_text()


if __name__ == "__main__":
    main({"seen_2_15_1.json": sys.argv[1], "seen_1_15_5.json": sys.argv[2]})
