"""Makes the golden file of TPU embedding columns with sparse ids, by running the real TPUEstimator.

pip install tensorflow-cpu==2.15.1    # Python 3.11, an environment of its own
cd tests && python -m goldens.tpu_embeddings.make_tpu_embeddings
"""

from __future__ import annotations

import json
from pathlib import Path

import tensorflow as tf
from goldens.tpu_embeddings.embedding_cases import CASES, RATE, run_case

v1 = tf.compat.v1


def main() -> None:
    """Writes tpu_embeddings.json: what each case learns without a TPU."""
    parameters = v1.tpu.experimental.StochasticGradientDescentParameters(RATE)
    seen = {name: run_case(name, v1, parameters) for name in CASES}
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in seen.items())
    path = Path(__file__).parent / "tpu_embeddings.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
