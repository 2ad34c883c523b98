"""Builds the wheel of `tensorflow` that requires tensorflow-tpu; needs Python alone.

It leaves nothing in its folder, which may be read-only.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

__all__ = ["build_wheel"]

_TENSORFLOW, _LIBTPU = "2.20.0", "0.0.31"  # the newest pair that imports
_LIBTPU_OF_OLD_PYTHON = "0.0.20"  # the newest release that has a wheel for Python 3.9
_VERSION = f"{_TENSORFLOW}+tpu"
_INFO = f"tensorflow-{_VERSION}.dist-info"
_FILES = {
    "METADATA": f"""Metadata-Version: 2.1
Name: tensorflow
Version: {_VERSION}
Summary: Stands for tensorflow-tpu where packages require tensorflow; contains no files
Requires-Dist: tensorflow-tpu=={_TENSORFLOW}
Requires-Dist: libtpu=={_LIBTPU}; python_version >= "3.11"
Requires-Dist: libtpu=={_LIBTPU_OF_OLD_PYTHON}; python_version < "3.11"
""",
    "WHEEL": """Wheel-Version: 1.0
Generator: estimator_bridge
Root-Is-Purelib: true
Tag: py3-none-any
""",
    "RECORD": f"{_INFO}/METADATA,,\n{_INFO}/WHEEL,,\n{_INFO}/RECORD,,\n",
}


def build_wheel(
    wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None
) -> str:
    """Writes the wheel, as PEP 517 has it.

    Args:
        wheel_directory: the folder of the wheel.
        config_settings: not used.
        metadata_directory: not used.

    Returns:
        The wheel's file name.
    """
    del config_settings, metadata_directory
    name = f"tensorflow-{_VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w") as wheel:
        for file, text in _FILES.items():
            wheel.writestr(f"{_INFO}/{file}", text)
    return name
