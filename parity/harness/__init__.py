"""Runs the original project's test files against this library, a process a file and mode."""
