"""Packaging of estimator_bridge; linters and type checker are configured in pyproject.toml."""

import runpy
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).resolve().parent

setup(
    name="estimator-bridge",
    version=runpy.run_path(str(ROOT / "estimator_bridge" / "version.py"))["__version__"],
    description="Runs tf.estimator and TPUEstimator programs on today's TensorFlow",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    packages=find_packages(
        include=["estimator_bridge", "estimator_bridge.*", "models", "models.*", "flags", "flags.*"]
    ),
    package_data={"estimator_bridge": ["py.typed"]},
    python_requires=">=3.9,<3.14",  # as TensorFlow 2.16 to 2.21 have it
    # Not tensorflow-cpu: tf-keras itself asks for `tensorflow`, and the two overwrite each other.
    # Each tf-keras asks for TensorFlow of its own minor version, so pip keeps the pair together.
    install_requires=[
        "absl-py",
        "numpy",
        "tensorflow>=2.16,<2.22",
        "tf-keras>=2.16,<2.22",
    ],
    extras_require={
        "models": ["matplotlib", "rich", "scikit-learn"],
        "tests": [
            "hypothesis",
            "mypy>=1.11",
            "pandas",
            "pytest>=8",
            "pytest-xdist",
            "ruff>=0.17,<0.18",
            "scipy",
        ],
        "tools": ["PyYAML", "libcst"],
    },
    entry_points={"console_scripts": ["estimator-bridge=estimator_bridge.cli:main"]},
    classifiers=[
        "Intended Audience :: Developers",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
