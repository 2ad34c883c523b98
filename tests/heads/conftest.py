"""Cases of heads are shared with the command that runs the original's."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "goldens_heads"))
