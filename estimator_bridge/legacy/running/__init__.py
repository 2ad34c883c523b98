"""Implements `estimator-bridge run`: runs an old program as Python itself would.

A program's modules are found as Python finds them, and loaded with their own ``__builtins__``
(``finder``), whose ``__import__`` knows what the module means by ``tensorflow`` (``importing``,
``dialects``). So two meanings coexist in one process: nothing is swapped in ``sys.modules``, and
TensorFlow, Keras and all other packages import the same modules as always. Source, line numbers,
pickles and tracebacks are those of the program's files. Rewriting the program's syntax tree instead
would not have covered ``__import__("tensorflow")``; swapping ``sys.modules["tensorflow"]`` would
have shown TF1's API to TensorFlow itself.

A file that is not imported but executed, by ``runpy``, a profiler, a debugger, a launcher or
pytest's assertion rewriting, gets those builtins from ``exec`` (``exec_hook``). While the program
runs, ``exec`` is a class whose ``__new__`` prepares the namespace and whose ``__init__`` is
Python's ``exec``, so it has no frame on the stack while the code runs. Patching each tool instead
would have missed the next one. The dialect and graphs of a program that a tool runs are chosen when
it is run (``dialect_choice``). Each cell of a notebook (``notebooks``, ``magics``) is compiled
under its own file name, with its lines in Python's line cache.

``legacy/tf1/`` is TF1's API: ``legacy.tf1.module_proxy`` presents a module with some names
changed, ``legacy.tf1.changes`` lists them. Compared name by name, ``tf.compat.v1`` of today lacks
15 of the 2,000 public names of TensorFlow 1.15 (``tests/goldens/tf1/names.json``), so nearly all
names come from it. Attributes that a program sets on the proxy stay on the proxy.

``tensorflow.contrib`` has names in ``sys.modules``, because TensorFlow 2 has none there
(``legacy.tf1.contrib_paths``). Each is a thin module over ``estimator_bridge_contrib``,
loaded when it is used; so are the paths of TF1's files (``legacy.tf1.deep_paths``), of which only
those that existed resolve. Without that list, each misspelled name would import as a module.

A missing name becomes an object that raises an error when it is used (``missing_name_stubs``),
because old programs import more than they use. If the import is in a ``try`` that catches its error
(``guarded_imports``), the error is raised instead.

TensorFlow is prepared when it is first imported (``tensorflow_setup``): Estimator is installed, v2
behavior is turned off for a TF1 program, or for a compat.v1 program that relies on it
(``default_graph``), and TensorFlow's deprecation notices are dropped. Until then none of it is
loaded: ``import estimator_bridge`` itself finds its names when they are used. A script without
TensorFlow uses 0.1 s more CPU time than under Python, and one that imports it 0.0 to 0.15 s more,
of 3.6 s (minima and medians of five alternating rounds, twice, on a busy machine).

``--cores N`` is an environment variable, so that processes which a program starts inherit it. The
cores are made when TensorFlow is loaded, because its first operation fixes them;
``runtime.local_clusters`` makes them, and ``runtime.accelerators`` gives them to any program that
names a TPU.

``--cluster`` and ``--workers`` start the command once for each process of a cluster on this machine
(``local_cluster``).
"""
