"""Implements `estimator-bridge run`: runs an old program as Python itself would."""
