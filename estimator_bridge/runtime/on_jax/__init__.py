"""The runtime in which JAX runs the steps. Only its functions import JAX, when they are called."""
