"""Predicts images, TFRecords, CSV or JSON lines, without a TPU: `estimator-bridge predict`.

python predict.py --model_dir runs/digits --input digits/ --output predictions.jsonl
python predict.py --model_dir runs/digits/export/1700000000 --input rows.csv
python predict.py --model_dir runs/other --model mnist --input rows.jsonl

It also takes checkpoints of the models of models/. The flags of their training are in run.yaml in
the model_dir; without it, --model names the model.
"""

from __future__ import annotations

import argparse
import sys

from models.common.requirements import say_what_is_missing

if say_what_is_missing():
    sys.exit(1)

from estimator_bridge.commands.predict import add_predict_arguments, run_predict
from models.common.notices import hide_tensorflow_notices
from models.common.registry import model_names
from models.common.serving import exporting


def main() -> int:
    """Predicts; returns the process's exit code."""
    parser = argparse.ArgumentParser(
        prog="predict.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_predict_arguments(parser)
    parser.add_argument(
        "--model",
        choices=model_names(),
        help="the checkpoint's model, if its model_dir has no run.yaml",
    )
    hide_tensorflow_notices()
    return run_predict(parser.parse_args(), exporting, "predict.py")


if __name__ == "__main__":
    sys.exit(main())
