"""Private names of Estimator's modules: what libraries import, beside TensorFlow 2.15's own.

The golden files, and the program that made them, are in ``goldens/library/``.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import engine
import pytest
from goldens.library import make_page

GOLDENS = Path(__file__).parents[1] / "goldens" / "library"
PARAMETERS = json.loads((GOLDENS / "parameters.json").read_text())
EXPECTED = json.loads((GOLDENS / "library.json").read_text())

PAGE = GOLDENS.parents[2] / "docs" / "evidence" / "library_names.md"

OBSERVE = """
    import json
    import estimator_bridge
    estimator_bridge.install()
    from goldens.library import library_cases
    from estimator_bridge.legacy.library.names import LIBRARY_NAMES
    parameters = {
        f"{path}.{name}": library_cases.parameters(getattr(library_cases.module(path), name))
        for path, names in LIBRARY_NAMES.items() for name in names
    }
    print("RESULT " + json.dumps([parameters, library_cases.run_all()]))
"""


def test_the_page_lists_the_names():
    again = "run: cd tests && python -m goldens.library.make_page"
    assert PAGE.read_text(encoding="utf-8") == make_page.page(), again


@pytest.fixture(scope="module")
def observed():
    lines = engine.run_program(OBSERVE)
    (result,) = [line for line in lines if line.startswith("RESULT ")]
    return json.loads(result[len("RESULT ") :])


def test_every_name_is_called_as_in_the_original(observed):
    parameters, _ = observed
    assert list(parameters) == sorted(parameters, key=list(parameters).index)
    assert set(parameters) == set(PARAMETERS), "run goldens.library.make_library again"
    differing = {
        name: (ours, PARAMETERS[name])
        for name, ours in parameters.items()
        if PARAMETERS[name] not in (ours, "not in 2.15")
    }
    assert differing == {}


@pytest.mark.parametrize("case", EXPECTED)
def test_names_behave_as_in_the_original(observed, case):
    def same(here, there):
        if isinstance(there, float) and isinstance(here, (int, float)):
            return here == pytest.approx(there, rel=1e-3, abs=1e-5)
        if isinstance(there, dict) and isinstance(here, dict):
            if "error" in there:
                return here.get("error") == there["error"]
            return here.keys() == there.keys() and all(same(here[k], there[k]) for k in there)
        if isinstance(there, list) and isinstance(here, list):
            return len(here) == len(there) and all(map(same, here, there))
        return here == there

    here, there = observed[1][case], EXPECTED[case]
    assert same(here, there), f"here: {here}\nthere: {there}"


def test_names_that_are_missing():
    lines = engine.run_program(
        """
        import estimator_bridge
        estimator_bridge.install()
        import tensorflow_estimator.python.estimator.canned.head as head
        print(hasattr(head, "_nosuch"), getattr(head, "_nosuch", 3))
        for way in (
            "head._acuracy_baseline",
            "from tensorflow_estimator.python.estimator.canned.head import _nosuch",
            "from tensorflow_estimator.python.estimator.canned import timeseries",
            "import tensorflow_estimator.python.estimator.canned.timeseries.model",
            "from tensorflow.python.estimator import boosted",
            "from tensorflow_estimator.python.estimator.tpu.tpu_estimator import inference_on_tpu",
        ):
            try:
                exec(way)
            except (AttributeError, ImportError) as error:
                print(type(error).__name__, error)
        """
    )
    root = "tensorflow_estimator.python.estimator"
    beginnings = [
        "False 3",
        f"MissingNameError {root}.canned.head._acuracy_baseline is not supported: it is a private",
        f"MissingImportError {root}.canned.head._nosuch is not supported",
        f"MissingImportError {root}.canned.timeseries is not supported. Cut the series",
        f"MissingImportError {root}.canned.timeseries is not supported. Cut the series",
        "MissingImportError tensorflow.python.estimator.boosted is not supported",
        f"MissingImportError {root}.tpu.tpu_estimator.inference_on_tpu is not supported: an",
    ]
    assert [line[: len(start)] for line, start in zip(lines, beginnings)] == beginnings
    assert "The closest name is _accuracy_baseline." in lines[1]


def test_other_places():
    lines = engine.run_program(
        """
        import estimator_bridge
        estimator_bridge.install()
        from tensorflow.python import estimator
        estimator.training._DELAY_SECS_PER_WORKER = 0
        from tensorflow_estimator.contrib.estimator.python.estimator import head
        from tensorflow.contrib.estimator import regression_head
        from tensorflow_estimator.python.estimator import keras, keras_lib
        from tensorflow.python.ops.variables import VariableV1
        import tensorflow as tf
        print(head.regression_head is regression_head, VariableV1 is tf.compat.v1.Variable)
        print(keras.model_to_estimator is keras_lib.model_to_estimator)
        """
    )
    assert lines == ["True True", "True"]


MNIST = """
    import gzip, hashlib, json, os, struct, sys
    import numpy as np
    import tensorflow as tf
    from tensorflow.examples.tutorials.mnist import input_data

    folder = sys.argv[1]
    rng = np.random.RandomState(0)
    for part, count in (("train", 20), ("t10k", 6)):
        images = rng.randint(0, 256, [count, 28, 28]).astype(np.uint8)
        labels = (np.arange(count) % 10).astype(np.uint8)
        with gzip.open(os.path.join(folder, part + "-images-idx3-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28) + images.tobytes())
        with gzip.open(os.path.join(folder, part + "-labels-idx1-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">II", 2049, count) + labels.tobytes())
    rows = []
    for options in ({}, {"one_hot": True}, {"reshape": False, "dtype": tf.uint8}):
        sets = input_data.read_data_sets(folder, validation_size=4, seed=3, **options)
        rows.append([sets.train.num_examples, sets.validation.num_examples, sets.test.num_examples])
        for size, shuffle in ((10, True), (10, True), (5, False), (9, True)):
            images, labels = sets.train.next_batch(size, shuffle=shuffle)
            digest = hashlib.md5(np.ascontiguousarray(images).tobytes()).hexdigest()[:8]
            rows.append([list(images.shape), str(images.dtype), digest, labels.tolist()])
        rows.append([sets.train.epochs_completed, float(sets.test.images.mean())])
    print("RESULT " + json.dumps(rows))
"""


def test_mnist_gives_the_batches_of_tensorflow_1(tmp_path):
    # mnist.json was written by TensorFlow 1.15.5 (Python 3.7) from the program above.
    start = "import estimator_bridge\nestimator_bridge.install()\n"
    lines = engine.run_program(start + textwrap.dedent(MNIST), [str(tmp_path)])
    (result,) = [line for line in lines if line.startswith("RESULT ")]
    assert json.loads(result[len("RESULT ") :]) == json.loads((GOLDENS / "mnist.json").read_text())
