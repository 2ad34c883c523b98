"""Small behaviors, each run under TensorFlow's own Estimator and here, and compared.

A case is one function in ``cases/``. It gets an empty folder and returns whatever a program could
notice: numbers, files, names, the order of calls, types of errors. The command
``python -m parity.differential`` runs all of them on both sides; docs/evidence/differential.md
describes it.
"""
