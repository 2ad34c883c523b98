"""Sources of modules in zip files: launchers such as Spark's start them from there."""

from __future__ import annotations

import os
import zipimport

__all__ = ["zipped_source"]


def zipped_source(path: str) -> bytes | None:
    """Returns the source of a module in a zip file.

    Args:
      path: the zip file's path, followed by that of the module within it.

    Returns:
      The source; None for other paths, and for zip files that cannot be read.
    """
    archive = os.path.dirname(path)
    while archive != os.path.dirname(archive) and not os.path.exists(archive):
        archive = os.path.dirname(archive)
    if not os.path.isfile(archive):
        return None
    try:
        return zipimport.zipimporter(archive).get_data(path)
    except (OSError, zipimport.ZipImportError):
        return None
