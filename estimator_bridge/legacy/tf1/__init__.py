"""TensorFlow 1.15's API: the module that `import tensorflow as tf` returns to a TF1 program."""
