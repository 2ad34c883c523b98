"""Runs tests under each supported TensorFlow, with its lowest and its highest Python."""
