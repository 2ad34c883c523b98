"""Uses of private names of Estimator's modules by libraries.

The names are found under ``tensorflow_estimator.python.estimator``: those of TensorFlow 2.15 when
the golden file is made, this library's when it is compared. Each case returns something for JSON; a
case that raises is its error's type and the beginning of its text.
"""

from __future__ import annotations

import json
from typing import Any

from goldens.library import estimator_cases, head_cases, model_cases
from goldens.library.registry import CASES, module, observed, parameters

__all__ = ["SUBJECTS", "module", "parameters", "run_all"]

SUBJECTS = (head_cases, model_cases, estimator_cases)  # whose import registers their cases


def run_all() -> dict[str, Any]:
    """The outcomes of all cases."""
    return {name: observed(function) for name, function in CASES.items()}


if __name__ == "__main__":
    print(json.dumps(run_all()))
