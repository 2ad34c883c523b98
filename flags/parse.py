"""From the command line to flag values, with one clear line where that fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from absl import flags as absl_flags

from flags.validate import FlagsError, check_flags

__all__ = ["parse_flags"]

_USAGE_ERROR = 2


def parse_flags(
    argv: Sequence[str], flag_values: absl_flags.FlagValues = absl_flags.FLAGS
) -> list[str]:
    """Parses and checks the command line; made to be `absl.app.run`'s `flags_parser`.

    Args:
        argv: the program's name and its arguments. `--flagfile=PATH` reads more from a file.
        flag_values: where the flags are defined.

    Returns:
        The program's name, alone: there are no positional arguments.

    Raises:
        SystemExit: with status 2, after a message on stderr, where an argument is unknown or a
            value is missing, malformed or does not fit the others.
    """
    program = os.path.basename(argv[0])
    try:
        rest = flag_values(list(argv))
        if len(rest) > 1:
            raise FlagsError(
                [f"{word!r}: flags start with --, as in --mode=train" for word in rest[1:]]
            )
        check_flags(flag_values)
    except (absl_flags.Error, FlagsError) as error:
        print(f"{program}: {error}\nSee {program} --help.", file=sys.stderr)
        raise SystemExit(_USAGE_ERROR) from None
    return rest
