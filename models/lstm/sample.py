"""Continues a text by a trained language model.

python -m models.lstm.sample --model_dir=runs/lstm --prompt="A list is"
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from models.common.notices import hide_tensorflow_notices

__all__ = ["main", "make_parser"]


def make_parser() -> argparse.ArgumentParser:
    """Makes the parser of the command's arguments."""
    parser = argparse.ArgumentParser(
        prog="models.lstm.sample", description="Continues a text by a trained language model."
    )
    parser.add_argument("--model_dir", required=True, help="folder of a training, or a checkpoint")
    parser.add_argument("--prompt", default="\n", help="the text to continue")
    parser.add_argument("--length", type=int, default=200, help="bytes to add (default: 200)")
    parser.add_argument(
        "--temperature",
        type=float,
        default=0.7,
        help="1 draws by the model's probabilities, less prefers likely bytes, 0 takes the most "
        "likely one (default: 0.7)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the draws (default: 0)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the prompt and what follows it; returns the process's exit code.

    Args:
        arguments: those of the command; None: those of this process.
    """
    options = make_parser().parse_args(arguments)
    hide_tensorflow_notices()
    from estimator_bridge.base.quiet_start import quietly, settle_devices

    with quietly():
        import tensorflow as tf

        settle_devices()
    from estimator_bridge.errors import CheckpointError
    from models.common.errors import UserError
    from models.lstm.sampling import Sampling, sample

    try:
        how = Sampling(options.length, options.temperature, options.seed)
        print(options.prompt + sample(options.model_dir, options.prompt, how))
    except (UserError, CheckpointError, OSError, tf.errors.OpError) as error:
        print(f"models.lstm.sample: {getattr(error, 'message', None) or error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
