"""Runs tests under each TensorFlow that is claimed, with the lowest and the highest Python."""
