"""Makes the golden file of objects that programs pass in, by running the real tf.estimator.

pip install tensorflow-cpu==2.15.1    # Python 3.11, an environment of its own
cd tests && python -m goldens.duck_types.make_duck_types
"""

from __future__ import annotations

import json
from pathlib import Path

import tensorflow as tf
from goldens.duck_types import duck_cases

HERE = Path(__file__).parent


def main() -> None:
    """Writes duck_types.json: what each case sees."""
    seen = {name: duck_cases.run(name, tf.estimator) for name in duck_cases.CASES}
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in seen.items())
    (HERE / "duck_types.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
