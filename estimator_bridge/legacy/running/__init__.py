"""What `estimator-bridge run` does: an old program, run as Python itself would run it."""
