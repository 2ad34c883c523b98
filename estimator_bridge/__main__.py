"""`python -m estimator_bridge`: the command, even if its script is not on the path."""

import sys

from estimator_bridge.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
