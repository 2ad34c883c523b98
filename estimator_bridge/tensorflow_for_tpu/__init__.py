"""A package to install, not to import: `pip install` of this folder; see docs/tpu.md."""
