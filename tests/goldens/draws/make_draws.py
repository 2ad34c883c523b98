"""Makes the golden file of the batches in hooks' runs, by running the real tf.estimator.

pip install tensorflow-cpu==2.15.1 pandas    # Python 3.11, an environment of its own
cd tests && python -m goldens.draws.make_draws
"""

from __future__ import annotations

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from goldens.draws import draw_cases

HERE = Path(__file__).parent


def main() -> None:
    """Writes draws.json: what each case sees."""
    seen = {name: draw_cases.run(name, tf.estimator) for name in draw_cases.CASES}
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in seen.items())
    (HERE / "draws.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
