"""Makes the golden file of initial values by running the real tf.estimator.

pip install tensorflow-cpu==2.15.1           # Python 3.11, an environment of its own
cd tests && python -m goldens.start.make_start
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import tensorflow.compat.v1 as tf
from goldens.start import start_cases

HERE = Path(__file__).parent


def main() -> None:
    """Writes start.json: what each case begins with, or how it is refused."""
    golden: dict[str, object] = {}
    est = tf.estimator
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder)
        start_cases.write_old(old)
        for name, case in start_cases.WARM_CASES.items():
            estimator = start_cases.warm_case(case, est, old, est.WarmStartSettings)
            golden[f"warm start: {name}"] = start_cases.observed(estimator)
        for name, case in start_cases.INIT_CASES.items():
            golden[f"init: {name}"] = start_cases.observed(start_cases.init_case(case, est, old))
        for name, case in start_cases.ERRORS.items():
            try:
                start_cases.observed(start_cases.warm_case(case, est, old, est.WarmStartSettings))
            except (ValueError, TypeError) as error:
                message = str(error).replace(folder, "FOLDER")
                golden[f"error: {name}"] = [type(error).__name__, message[:60]]
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in golden.items())
    (HERE / "start.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
