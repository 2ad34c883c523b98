"""Records launchers.json: what the real tf.estimator makes of the TF_CONFIG of launchers.

pip install tensorflow-cpu==2.15.1    # Python 3.11, an environment of its own
cd tests && python -m goldens.launchers.make_launchers
"""

from __future__ import annotations

import json
import os
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf
from goldens.launchers.launcher_cases import CASES
from goldens.signatures.face_observer import outcome


def main() -> None:
    """Writes the file."""
    constructors = {"RunConfig": tf.estimator.RunConfig}
    seen = {case.name: outcome(constructors, case) for case in CASES}
    assert len(seen) == len(CASES), "two cases have one name"
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in seen.items())
    path = Path(__file__).parent / "launchers.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
