"""Runs the cases of tf.contrib, and writes what each gave.

    python -m contrib_goldens.run_cases FOLDER [NAMESPACE...]

Runs under TensorFlow 1.15.5 with Python 3.7, where it records the goldens, and under
`estimator-bridge run --tf1`, for the comparison. FOLDER gets a JSON file for each namespace.
"""

import gc
import importlib
import json
import os
import sys
import warnings

import tensorflow as tf
from contrib_goldens.observe import Case, observe, signature

__all__ = ["TABLES", "cases_of", "run"]

# Where 1.15.5 has names of cases that are not in their namespace.
ELSEWHERE = {
    "ndlstm.lstm1d": "tensorflow.contrib.ndlstm.python.lstm1d",
    "ndlstm.lstm2d": "tensorflow.contrib.ndlstm.python.lstm2d",
    "ndlstm.misc": "tensorflow.contrib.ndlstm.python.misc",
    "session_bundle.exporter": "tensorflow.contrib.session_bundle.exporter",
    "session_bundle.gc": "tensorflow.contrib.session_bundle.gc",
    "cudnn_rnn.ops": "tensorflow.contrib.cudnn_rnn.python.ops.cudnn_rnn_ops",
    "layers.utils": "tensorflow.contrib.layers.python.layers.utils",
}
PLACES = {
    "layers.adaptive_clipping_fn": "slim.adaptive_clipping_fn",
    "learn.ByteProcessor": "learn.preprocessing.ByteProcessor",
    "learn.CategoricalProcessor": "learn.preprocessing.CategoricalProcessor",
    "learn.VocabularyProcessor": "learn.preprocessing.VocabularyProcessor",
    "learn.generator_input_fn": "learn.io.generator_input_fn",
    "learn.load_boston": "learn.datasets.load_boston",
    "learn.load_dataset": "learn.datasets.load_dataset",
    "learn.load_iris": "learn.datasets.load_iris",
    "learn.numpy_input_fn": "learn.io.numpy_input_fn",
    "learn.pandas_input_fn": "learn.io.pandas_input_fn",
    "learn.queue_parsed_features": "learn.io.queue_parsed_features",
}

TABLES = (
    "absent",
    "all_reduce",
    "bijectors",
    "checkpoint",
    "clustering",
    "constrained_optimization",
    "cudnn_rnn",
    "data",
    "distribution_families",
    "distributions",
    "eager",
    "eager_metrics",
    "eager_networks",
    "estimators",
    "estimators_more",
    "execution_callbacks",
    "factorization",
    "ffmpeg",
    "framework",
    "graph_editor",
    "image",
    "image_warps",
    "initializers",
    "layers",
    "layers_blocks",
    "layers_columns",
    "layers_numbers",
    "learn",
    "learn_canned",
    "learn_columns",
    "learn_graph_actions",
    "learn_inputs",
    "learn_training",
    "learn_values",
    "legacy_seq2seq",
    "linear_optimizer",
    "lmdb",
    "losses",
    "metrics",
    "model_pruning",
    "multivariate_normals",
    "ndlstm",
    "opt",
    "optimizer_v2",
    "quantize",
    "queue_runners",
    "receptive_field",
    "rest",
    "rnn",
    "seq2seq",
    "session_bundle",
    "sinh_arcsinh",
    "small_names",
    "small_namespaces",
    "solvers",
    "states_and_mixtures",
    "tag_models",
    "timeseries",
    "training",
)


def cases_of(table):
    """Returns a table's cases by name."""
    module = importlib.import_module("contrib_goldens.cases.%s" % table)
    return {
        name: case if isinstance(case, Case) else Case(case) for name, case in module.CASES.items()
    }


def signatures(names):
    """Returns the signatures of callables, by name; those that TensorFlow does not have are out."""
    recorded = {}
    for name in names:
        place, _, last = name.rpartition(".")
        try:
            member = importlib.import_module(ELSEWHERE[place]) if place in ELSEWHERE else tf.contrib
            for part in [last] if place in ELSEWHERE else PLACES.get(name, name).split("."):
                member = getattr(member, part)
            recorded[name] = signature(member)
        except (AttributeError, ValueError, TypeError):
            continue
    return recorded


def run(folder, tables):
    """Writes the observations of some tables."""
    for table in tables:
        seen = {}
        cases = cases_of(table)
        for name in sorted(cases):
            seen[name] = observe(cases[name])
        names = sorted({name.partition(":")[0] for name in cases})
        with open(os.path.join(folder, table + ".json"), "w") as file:
            content = {"signatures": signatures(names), "cases": seen}
            file.write(_text(content))


def _text(content):
    """Returns JSON with a line for each case."""
    parts = []
    for section in sorted(content):
        rows = [
            "%s: %s" % (json.dumps(name), json.dumps(row, sort_keys=True))
            for name, row in sorted(content[section].items())
        ]
        parts.append('"%s": {\n%s\n}' % (section, ",\n".join(rows)))
    return "{\n%s\n}\n" % ",\n".join(parts)


if __name__ == "__main__":
    gc.freeze()  # scanning TensorFlow's own objects again and again costs much of the time
    gc.set_threshold(20000, 20, 20)
    warnings.simplefilter("ignore")
    tf.logging.set_verbosity(tf.logging.ERROR)
    run(sys.argv[1], sys.argv[2:] or TABLES)
