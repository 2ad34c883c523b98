"""Injects faults into programs, here and under TensorFlow 2.15, and reports the outcomes."""
