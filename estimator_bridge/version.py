"""The version of this library: setup.py, the package and the command line read it here."""

__all__ = ["__version__"]

__version__ = "0.1.0"
