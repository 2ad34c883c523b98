"""The command `estimator-bridge`, one module for each of its commands."""
