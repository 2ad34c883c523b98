"""Files that must not become larger, and disks that are read-only or fail, are named as that."""

import errno
import json
import os
import subprocess
import sys

import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge import checkpoint

# In a process of its own, as a limit on files' sizes concerns all of its files.
PROGRAM = """
import json, resource, signal, sys
import test_full_disks
import estimator_bridge as eb
import tensorflow as tf
v1 = tf.compat.v1

class Grows(v1.train.SessionRunHook):
    def after_run(self, run_context, run_values):
        limit(1)

def limit(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def failure_of(call):
    try:
        result = call()
        limit(resource.RLIM_INFINITY)
        return {"result": str(result)}
    except Exception as error:
        limit(resource.RLIM_INFINITY)
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return {"kinds": kinds, "text": str(error), "errno": getattr(error, "errno", None)}

def limited(size, call):
    limit(size)
    return failure_of(call)

def receiver():
    x = v1.placeholder(tf.float32, [None])
    return eb.export.ServingInputReceiver({"x": x}, {"x": x})

folder = sys.argv[1]
make, examples = test_full_disks.make, test_full_disks.examples
trained = make(folder + "/trained")
trained.train(examples, max_steps=2)
results = {
    "lock": limited(10, lambda: make(folder + "/lock").train(examples)),
    "graph": limited(1000, lambda: make(folder + "/graph").train(examples)),
    "saver": failure_of(lambda: make(folder + "/saver").train(examples, [Grows()])),
    "export": limited(1000, lambda: trained.export_saved_model(folder + "/export", receiver)),
    "evaluation": limited(10, lambda: trained.evaluate(examples)["global_step"]),
}
trained.train(examples, max_steps=4)
results["later"] = str(trained.get_variable_value("global_step"))
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limited")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)],
        cwd=os.path.dirname(__file__), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return folder, json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("place", "file"),
    [("lock", "lock"), ("graph", "graph.pbtxt"), ("saver", "saver"), ("export", "export")],
)
def test_a_file_that_must_not_become_larger(results, place, file):
    folder, results = results
    failure = results[place]
    assert "DiskFullError" in failure["kinds"], failure
    # A loop would take it for the end of the input, and end training with success.
    assert "OutOfRangeError" not in failure["kinds"]
    assert failure["errno"] == errno.EFBIG
    assert "File too large" in failure["text"]
    assert "ulimit -f" in failure["text"]
    assert f"{folder}/{file}" in failure["text"] or file in failure["text"]


def test_an_evaluation_has_results_and_training_goes_on_when_files_may_grow(results):
    assert results[1]["evaluation"] == {"result": "2"}
    assert results[1]["later"] == "4"


@pytest.mark.parametrize("kind", [OSError, tf.errors.UnknownError, RuntimeError, IndexError])
@pytest.mark.parametrize(
    ("number", "error", "start"),
    [
        (errno.ENOSPC, tf.errors.ResourceExhaustedError, "The disk is full"),
        (errno.EDQUOT, tf.errors.ResourceExhaustedError, "The disk is full"),
        (errno.EFBIG, tf.errors.ResourceExhaustedError, "A file must not become larger"),
        (errno.EROFS, tf.errors.PermissionDeniedError, "The disk is read-only"),
        (errno.EIO, tf.errors.UnknownError, "The disk fails"),
    ],
)
def test_each_errno_has_its_error(tmp_path, kind, number, error, start):
    path = f"{tmp_path}/model.ckpt-4.index"
    text = f"{path}; {os.strerror(number)}"
    raised = {
        OSError: lambda: OSError(number, os.strerror(number), path),
        tf.errors.UnknownError: lambda: tf.errors.UnknownError(None, None, text),
    }.get(kind, lambda: kind(f"{text}\n\tFailed to flush 2 events"))
    with (
        pytest.raises(eb.errors.DiskError) as caught,
        checkpoint.explained_full_disk(str(tmp_path)),
    ):
        raise raised()
    assert isinstance(caught.value, (error, RuntimeError))
    assert isinstance(caught.value, error)
    assert caught.value.errno == number
    assert str(caught.value).startswith(start)
    assert path in str(caught.value)
    assert "There is no whole checkpoint in" in str(caught.value)
    assert isinstance(caught.value, eb.errors.DiskFullError) == (
        number not in (errno.EROFS, errno.EIO)
    )


def test_a_failing_disk_of_the_data_is_not_blamed_on_model_dir(tmp_path):
    error = tf.errors.UnknownError(None, None, f"/data/train; {os.strerror(errno.EIO)}")
    with (
        pytest.raises(tf.errors.UnknownError, match=r"^/data/train; Input/output error$"),
        checkpoint.explained_full_disk(str(tmp_path)),
    ):
        raise error
