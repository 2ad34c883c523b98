"""Faults done to programs on purpose, here and under TensorFlow 2.15, and what becomes of them."""
