"""The private names and attributes of TensorFlow that the library uses, each with its reason.

A TensorFlow release that moves one of them breaks only this package; the broken name is listed by
`python -m tooling.probe_tensorflow`. No other module of the library may use ``tensorflow.python``
or an underscore attribute of TensorFlow.
"""
