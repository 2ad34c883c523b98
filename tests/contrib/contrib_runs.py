"""Helpers of the tests of tf.contrib: a graph, run in a session, with its variables."""

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


class Run:
    """Builds a graph and runs it.

    Args:
      build: a function of placeholders of the given values, which returns fetches.
      *values: numpy arrays; the first dimension of each placeholder is unknown.
      updates: number of runs of the collection UPDATE_OPS before the fetches.
      feeds: more values, by the name of a placeholder that build makes.
      start: initial values of variables, by name.

    Attributes:
      start: the variables' initial values, by name.
      result: the fetched values.
      variables: the variables' final values, by name.
      graph: the graph.
    """

    def __init__(self, build, *values, updates=0, feeds=None, start=None):
        self.graph = tf.Graph()
        with self.graph.as_default():
            v1.set_random_seed(1)
            arrays = [np.asarray(value) for value in values]
            inputs = [v1.placeholder(array.dtype, [None, *array.shape[1:]]) for array in arrays]
            fetches = build(*inputs)
            feed = {**dict(zip(inputs, arrays)), **(feeds or {})}
            init = [v1.global_variables_initializer(), v1.local_variables_initializer()]
            with v1.Session() as session:
                session.run([*init, v1.tables_initializer()])
                for variable in v1.global_variables():
                    if start is not None:
                        variable.load(start[variable.op.name], session)
                self.start = self._variables(session)
                for _ in range(updates):
                    session.run(v1.get_collection(v1.GraphKeys.UPDATE_OPS), feed)
                self.result = session.run(fetches, feed)
                self.variables = self._variables(session)

    def _variables(self, session):
        return {each.op.name: session.run(each) for each in v1.global_variables()}

    @property
    def shapes(self):
        return {name: value.shape for name, value in self.variables.items()}

    def names(self, collection):
        return [each.op.name for each in self.graph.get_collection(collection)]
