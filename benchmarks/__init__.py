"""Measures the cost of a step here and elsewhere."""
