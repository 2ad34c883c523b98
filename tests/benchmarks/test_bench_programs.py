"""Benchmark programs measure what they say, on this library.

The programs silence TensorFlow's log when they are imported. So a test imports them: what tests
change in loggers is set back after each file.
"""

import importlib
import time


def program(name):
    return importlib.import_module(f"benchmarks.programs.{name}")


class Orders:
    """Orders of this process, and what was told."""

    def __init__(self, *orders):
        self.orders, self.answers = orders, []

    def __iter__(self):
        return iter(self.orders)

    def tell(self, **measured):
        self.answers.append(measured)


def test_a_start_has_a_first_step_and_an_end():
    orders = Orders({"started": time.time()})
    program("startup").serve("here", orders)
    (answer,) = orders.answers
    first, resumed = (answer[f"{kind}train() to first step, s"] for kind in ("", "resumed "))
    assert 0 < first < 60
    assert 0 < resumed < 60
    assert 0 <= answer["last step to end of train(), s"] < 60


def test_an_open_prediction_answers_each_request():
    orders = Orders({}, {})
    program("open_prediction").serve("here", orders, calls=250)
    assert len(orders.answers) == 2
    assert all(0 < answer["a request, ms"] < 10_000 for answer in orders.answers)
