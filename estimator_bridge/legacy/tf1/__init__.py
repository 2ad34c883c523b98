"""TensorFlow 1.15's face: the module that `import tensorflow as tf` gives to a TF1 program."""
