"""Every process ends, with its own exit code, whatever the program has left open."""

import json
import os
import subprocess
import sys

import pytest

_EXIT_SECS = 600  # a process that hangs never ends; a busy machine is slow
_HOST = os.path.join(os.path.dirname(__file__), "process_ends.py")

# The sources, with their exit codes.
_PROGRAMS = {
    "cycle": ("Service()", 0),
    "cycle that reads ahead": ("Service(ahead)", 0),
    "cycle with queues": ("Service(queued)", 0),
    "sys.exit with a global": ("prediction = opened()\nsys.exit(3)", 3),
    "attribute of a module": ("tf.open_prediction = opened()", 0),
    "local of a thread": ("local = threading.local()\nlocal.service = Service(queued)", 0),
    "generator around it": (
        """
def answers():
    try:
        yield from opened()
    finally:
        print("closed")
answer = answers()
next(answer)
""",
        0,
    ),
    "error in the middle": ("for answer in Service().prediction: raise ValueError('middle')", 1),
    "error that is kept": (
        """
try:
    for answer in Service().prediction:
        raise ValueError("middle")
except ValueError as error:
    last_error = error
""",
        0,
    ),
    "half-read evaluation": (
        """
def stop():
    raise ValueError("enough")
estimator = eb.Estimator(model_fn)
try:
    estimator.evaluate(endless, hooks=[Call(stop)])
except ValueError:
    pass
""",
        0,
    ),
    "sys.exit in a hook of training": (
        "eb.Estimator(model_fn).train(endless, hooks=[Call(lambda: sys.exit(4))])",
        4,
    ),
    "sys.exit in a hook of prediction": (
        "list(eb.Estimator(model_fn).predict(endless, hooks=[Call(lambda: sys.exit(4))]))",
        4,
    ),
    "daemon thread that predicts": (
        """
started = threading.Event()
def iterate():
    for answer in opened():
        started.set()
threading.Thread(target=iterate, daemon=True).start()
started.wait(300)
""",
        0,
    ),
    "daemon thread that trains": (
        """
started = threading.Event()
hooks = [Call(started.set)]
estimator = eb.Estimator(model_fn)
threading.Thread(target=lambda: estimator.train(endless, hooks), daemon=True).start()
started.wait(300)
""",
        0,
    ),
    "thread that predicts after the main thread": (
        """
prediction = opened()
def iterate():
    threading.main_thread().join(300)
    next(prediction)
    prediction.close()
threading.Thread(target=iterate).start()
""",
        0,
    ),
    "__del__ that reads on": (
        """
class Reading(Service):
    def __del__(self):
        os.write(1, b"read %d" % next(self.prediction))
service = Reading(queued)
""",
        0,
    ),
    "__del__ that begins": (
        """
class Beginning:
    def __del__(self):
        os.write(1, b"read %d" % next(opened()))
beginning = Beginning()
""",
        0,
    ),
    "finalizer that closes": (
        "service = Service()\nweakref.finalize(service, service.prediction.close)",
        0,
    ),
    "atexit that reads on": (
        "prediction = opened()\natexit.register(lambda: print(next(prediction)))",
        0,
    ),
    "atexit that begins": ("atexit.register(lambda: print(next(opened())))", 0),
    "fork before the first call": (
        """
child = os.fork()
if not child:
    prediction = opened()
    sys.exit(6)
prediction = opened()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""",
        6,
    ),
    "fork with open predictions": (
        """
services = [Service(), Service(ahead), Service(queued)]
child = os.fork()
if not child:
    services[0].prediction.close()
    sys.exit(6)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""",
        6,
    ),
    "fork that drops the parent's predictions": (
        """
import gc
services = [Service(), Service(ahead), Service(queued)]
iterator = iter(ahead())
next(iterator)
child = os.fork()
if not child:
    del services, iterator
    gc.collect()
    sys.exit(6)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""",
        6,
    ),
    "fork in a hook of training": (
        """
children = []
def fork():
    if not children:
        children.append(os.fork())
        if not children[0]:
            sys.exit(6)
        children.append(os.waitpid(children[0], 0)[1])
estimator = eb.Estimator(model_fn)
estimator.train(endless, steps=2, hooks=[Call(fork)])
assert estimator.latest_checkpoint().endswith("-2")
sys.exit(os.waitstatus_to_exitcode(children[1]))
""",
        6,
    ),
    "multiprocessing": (
        """
prediction = opened()
process = multiprocessing.get_context("fork").Process(target=sys.exit, args=[6])
process.start()
process.join(300)
sys.exit(process.exitcode)
""",
        6,
    ),
    "no thread starts and nothing waits without a limit": (
        """
import gc
services = [Service(), Service(ahead), Service(queued)]
trained = eb.Estimator(model_fn)
trained.train(queued, steps=1)
def refuse_start(thread):
    raise AssertionError(f"{thread} is started")
join, wait = threading.Thread.join, threading.Condition.wait
def limited_join(thread, timeout=None):
    assert timeout is not None, f"waits for {thread} without a limit"
    return join(thread, timeout)
def limited_wait(condition, timeout=None):
    assert timeout is not None or threading.current_thread() is not threading.main_thread()
    return wait(condition, timeout)
def report(unraisable):
    print(unraisable.exc_value)
    os._exit(9)
sys.unraisablehook = report
threading.Thread.start, threading.Thread.join = refuse_start, limited_join
threading.Condition.wait = limited_wait
services.pop().prediction.close()
services.clear()
del trained
gc.collect()
""",
        0,
    ),
}


@pytest.fixture(scope="module")
def ends():
    """The results of all programs, by name."""
    sources = {name: source for name, (source, _) in _PROGRAMS.items()}
    done = subprocess.run(
        [sys.executable, _HOST, str(_EXIT_SECS)],
        input=json.dumps(sources),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=(len(sources) + 1) * _EXIT_SECS,
    )
    return {end["name"]: end for end in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_the_process_ends(ends, name):
    end = ends[name]
    assert end["code"] == _PROGRAMS[name][1], end["output"][-2000:]
