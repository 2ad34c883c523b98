"""The result of TensorFlow's own tf_upgrade_v2 for a source."""

from __future__ import annotations

import contextlib
import functools
import io
import signal
from typing import Any

__all__ = ["upgraded"]

_PATIENCE = 60  # seconds for one file


@functools.cache
def _upgrader() -> Any:
    from tensorflow.tools.compatibility import ast_edits, tf_upgrade_v2

    return ast_edits.ASTCodeUpgrader(tf_upgrade_v2.TFAPIChangeSpec(import_rename=False))


def upgraded(text: str, name: str) -> str | None:
    """Runs tf_upgrade_v2, as its command does by default.

    Args:
      text: a source.
      name: its file, for messages.

    Returns:
      The new source; None where the tool raised an error, wrote nothing or took too long.
    """
    out = io.StringIO()

    def late(*unused: Any) -> None:
        raise TimeoutError(f"{name}: tf_upgrade_v2 took more than {_PATIENCE} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(_PATIENCE)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            count, *_ = _upgrader().process_opened_file(name, io.StringIO(text), name, out)
    except Exception:
        return None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return out.getvalue() if count else None
