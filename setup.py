"""Packaging of estimator_bridge; linters and type checker are configured in pyproject.toml."""

import re
import runpy
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
# What compiles for TPUs without one. It names private parts of jax: the range is what was tested.
# libtpu exists for these machines alone, and jax of that range for these Pythons.
HAS_LIBTPU = "python_version>='3.11' and sys_platform=='linux' and platform_machine=='x86_64'"
TPU_COMPILER = [
    f"jax>=0.8.3,<0.10.3; {HAS_LIBTPU}",
    # Up to the release that goes with the newest of these. Not jax[tpu]: it names one libtpu, and
    # where tensorflow-tpu needs another pip would install a different TensorFlow over it.
    f"libtpu>=0.0.30,<0.0.43; {HAS_LIBTPU}",
]
PYTHONS = [f"3.{minor}" for minor in range(9, 14)]  # as TensorFlow 2.16 to 2.21 have it


class BuildWithPages(build_py):
    """Puts the pages of docs/ into the package, for `estimator-bridge docs`.

    A work tree that is installed in place has them beside the package.
    """

    def run(self) -> None:
        """Builds the package, and copies the pages."""
        super().run()
        if not getattr(self, "editable_mode", False):
            for page in sorted((ROOT / "docs").rglob("*.md")):
                target = Path(self.build_lib, "estimator_bridge", "pages")
                target = target / page.relative_to(ROOT / "docs")
                self.mkpath(str(target.parent))
                self.copy_file(str(page), str(target))


def long_description() -> str:
    """The README for a package index, where links to the repository's files lead nowhere."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.sub(r"\[([^\]]+)\]\((?!https?:)([^)\s]+)\)", _link_as_text, text)


def _link_as_text(link: re.Match) -> str:
    text, file = link[1], link[2].partition("#")[0]
    return text if text == file or not file else f"{text} ({file})"


setup(
    name="estimator-bridge",
    version=runpy.run_path(str(ROOT / "estimator_bridge" / "base" / "version.py"))["__version__"],
    description="Runs tf.estimator and TPUEstimator programs on today's TensorFlow",
    long_description=long_description(),
    long_description_content_type="text/markdown",
    author="The estimator_bridge authors",
    license="Apache-2.0",
    license_files=["LICENSE"],
    keywords=["tensorflow", "estimator", "tpuestimator", "tf.contrib", "tpu", "migration"],
    # Not train.py, models and flags: other distributions, and users, have packages of these names.
    cmdclass={"build_py": BuildWithPages},
    packages=find_packages(
        include=[
            *("estimator_bridge", "estimator_bridge.*"),
            *("estimator_bridge_contrib", "estimator_bridge_contrib.*"),
        ]
    ),
    package_data={
        "estimator_bridge": ["py.typed"],
        "estimator_bridge.compile_for": ["hardware.json"],
        "estimator_bridge.migrate": ["names.json"],
        "estimator_bridge.tensorflow_for_tpu": ["pyproject.toml"],
        "estimator_bridge_contrib": ["MANIFEST", "py.typed"],
    },
    python_requires=f">={PYTHONS[0]},<3.14",
    # Not tensorflow-cpu: tf-keras itself asks for `tensorflow`, and the two overwrite each other.
    # Each tf-keras asks for TensorFlow of its own minor version, so pip keeps the pair together.
    install_requires=[
        "absl-py>=1.0,<3",
        "numpy>=1.23.5,<3",
        "tensorflow>=2.16,<2.22",
        "tf-keras>=2.16,<2.22",
    ],
    extras_require={
        "models": [
            "matplotlib>=3.5,<4",
            "pyyaml>=5.4,<7",
            "rich>=12,<16",
            "scikit-learn>=1.2,<2",
        ],  # what train.py needs
        # Steps on JAX: `pip install 'jax[tpu]'` or 'jax[cuda13]' adds a TPU's or a GPU's part.
        "jax": ["jax>=0.10.2,<0.11; python_version>='3.11'"],
        "monitor": [],  # the live line needed rich up to 0.2
        "tests": [
            *TPU_COMPILER,
            "hypothesis",
            "ipykernel",
            "jupyter_client",
            "mypy>=2.4,<2.5; python_version>='3.10'",  # there is none for 3.9
            "nbclient",
            "pandas",
            "pytest>=8.2",  # arguments from a file
            "pytest-xdist",
            "ruff>=0.17,<0.18",
            "safetensors>=0.4",
            "scipy",
            "setuptools>=68,<81",  # with pkg_resources, which tensorflow-hub imports
            "tensorflow-hub>=0.16",
            "wheel",
        ],
        "safetensors": ["safetensors>=0.4,<1"],  # weights convert --to safetensors
        "torch": ["safetensors>=0.4,<1", "torch>=2.0,<3"],  # models/mnist_torch
        "torch-xla": ["torch_xla>=2.9"],  # which names the torch that goes with it
        "tpu-compile": TPU_COMPILER,  # run --compile-for: 0.6 GB
        "docs": ["mkdocs>=1.6,<2", "mkdocs-material>=9.5", "mkdocstrings[python]>=0.27"],
        "release": ["build>=1.2", "twine>=6"],
    },
    entry_points={"console_scripts": ["estimator-bridge=estimator_bridge.commands.cli:main"]},
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3 :: Only",
        *(f"Programming Language :: Python :: {version}" for version in PYTHONS),
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
)
