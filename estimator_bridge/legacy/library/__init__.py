"""Private names of Estimator's modules that published libraries import, each with its behaviour.

A module here is called like the original's module whose names it has. `old_paths` says which path
leads to which of them, and `docs/library_names.md` who imports what.
"""
