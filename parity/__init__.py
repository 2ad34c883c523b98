"""The original's programs and tests, run under the original and here, and compared."""
