"""Private names of Estimator's modules that published libraries import, with their behavior.

A module here has the name of the original's module. `old_paths` maps import paths to these modules,
and `docs/evidence/library_names.md` lists the libraries and their imports.
"""
