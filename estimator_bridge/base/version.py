"""The version of this library, read by setup.py, the package and the command line."""

__all__ = ["__version__"]

__version__ = "0.2.0"
