"""Measurements: what a step costs here, beside what it costs elsewhere."""
