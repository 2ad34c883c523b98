"""Records logs.json: the log of log_program.py under TensorFlow's own Estimator.

Run with any Python, naming those of TensorFlow 2.15 and of 1.15:

    cd tests && python -m goldens.logs.make_logs PYTHON_215 PYTHON_115
"""

import json
import os
import subprocess
import sys
import tempfile

from goldens.logs import log_lines

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = [("2.15", "v2"), ("2.15", "v1"), ("1.15", "v1")]


def main(pythons):
    """Writes the file."""
    golden = {}
    for release, mode in RUNS:
        for kind in ("estimator", "tpu"):
            folder = tempfile.mkdtemp()
            program = os.path.join(HERE, "log_program.py")
            written = subprocess.run(
                [pythons[release], program, kind, mode, folder],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
            ).stderr
            golden[f"{release} {mode} {kind}"] = log_lines.phases(written, folder)
    with open(os.path.join(HERE, "logs.json"), "w") as file:
        json.dump(golden, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(dict(zip(("2.15", "1.15"), sys.argv[1:])))
