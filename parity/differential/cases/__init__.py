"""The cases, a file a theme. They are written for Python 3.7 too, as TensorFlow 1.15 needs it."""
