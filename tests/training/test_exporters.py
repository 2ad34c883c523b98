"""The evaluations that are exported, and the exports that are kept."""

from __future__ import annotations

import os
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import estimator_bridge as eb
from estimator_bridge.training.metrics import write_results

import tensorflow as tf  # isort: skip


def receiver_fn():
    raise AssertionError("The fake estimator does not export.")


class FakeEstimator:
    """Exports empty folders, named by a time that goes on."""

    def __init__(self, model_dir):
        self.model_dir = str(model_dir)
        self.calls = []

    def export_saved_model(self, export_dir_base, *args, **kwargs):
        self.calls.append((export_dir_base, args, kwargs))
        count = len(os.listdir(export_dir_base)) if os.path.isdir(export_dir_base) else 0
        path = os.path.join(export_dir_base, str(1500000000 + count))
        while os.path.exists(path):
            path = path[:-10] + str(int(path[-10:]) + 1)
        os.makedirs(path)
        return path.encode()


def evaluate(estimator, step, name="eval", **metrics):
    """Writes the event that an evaluation writes, and returns its metrics."""
    results = {**metrics, "global_step": step}
    with tf.Graph().as_default():
        write_results(os.path.join(estimator.model_dir, name), results, None)
    return results


def export(exporter, estimator, results, final=False):
    path = os.path.join(estimator.model_dir, "export", exporter.name)
    return exporter.export(estimator, path, "checkpoint", results, final)


def exports(estimator, exporter):
    return sorted(os.listdir(os.path.join(estimator.model_dir, "export", exporter.name)))


@pytest.mark.parametrize(
    "exporter",
    [
        eb.LatestExporter("mine", receiver_fn, {"to": "from"}, True),
        eb.FinalExporter("mine", receiver_fn, {"to": "from"}, True),
        eb.BestExporter("mine", receiver_fn, assets_extra={"to": "from"}, as_text=True),
    ],
)
def test_arguments_reach_the_export(tmp_path, exporter):
    estimator = FakeEstimator(tmp_path)
    exported = export(exporter, estimator, {"loss": 1.0}, final=True)
    folder = os.path.join(str(tmp_path), "export", "mine")
    assert exported == os.path.join(folder, "1500000000").encode()
    arguments = {"assets_extra": {"to": "from"}, "as_text": True, "checkpoint_path": "checkpoint"}
    assert estimator.calls == [(folder, (receiver_fn,), arguments)]


def test_final_exporter_exports_the_last_alone(tmp_path):
    exporter, estimator = eb.FinalExporter("final", receiver_fn), FakeEstimator(tmp_path)
    assert export(exporter, estimator, {"loss": 1.0}) is None
    assert estimator.calls == []
    assert export(exporter, estimator, {"loss": 1.0}, final=True)


@given(keep=st.one_of(st.none(), st.integers(1, 5)), count=st.integers(1, 8))
def test_latest_exports_stay(tmp_path_factory, keep, count):
    estimator = FakeEstimator(tmp_path_factory.mktemp("model"))
    exporter = eb.LatestExporter("latest", receiver_fn, exports_to_keep=None)
    paths = [os.path.basename(export(exporter, estimator, {})) for _ in range(count)]
    pruning = eb.LatestExporter("latest", receiver_fn, exports_to_keep=keep)
    paths.append(os.path.basename(export(pruning, estimator, {})))
    assert exports(estimator, exporter) == [p.decode() for p in (paths[-keep:] if keep else paths)]


def test_folders_of_others_stay(tmp_path):
    exporter = eb.LatestExporter("latest", receiver_fn, exports_to_keep=1)
    estimator = FakeEstimator(tmp_path)
    for name in ("mine", "123", "temp-1500000000", "15000000000"):
        os.makedirs(tmp_path / "export" / "latest" / name)
    for _ in range(3):
        export(exporter, estimator, {})
    left = {"mine", "123", "temp-1500000000", "15000000000"}
    assert len(set(exports(estimator, exporter)) - left) == 1
    assert left < set(exports(estimator, exporter))


@given(st.lists(st.sampled_from([1.0, 2.0, 3.0, 4.0]), min_size=1, max_size=8))
def test_best_exporter_exports_each_improvement(tmp_path_factory, losses):
    estimator = FakeEstimator(tmp_path_factory.mktemp("model"))
    exporter = eb.BestExporter(serving_input_receiver_fn=receiver_fn)
    improved = [bool(export(exporter, estimator, {"loss": loss})) for loss in losses]
    assert improved == [all(loss < other for other in losses[:i]) for i, loss in enumerate(losses)]


def test_best_exporter_after_a_restart_knows_what_was_best(tmp_path):
    estimator = FakeEstimator(tmp_path)
    first = eb.BestExporter("best", receiver_fn)
    for step, loss in ((10, 50.0), (20, 40.0)):
        assert export(first, estimator, evaluate(estimator, step, loss=loss))
    second = eb.BestExporter("best", receiver_fn)
    assert export(second, estimator, evaluate(estimator, 30, loss=45.0)) is None
    assert export(second, estimator, evaluate(estimator, 40, loss=39.0))
    # Its own event has been written when it is called; it must not be compared with itself.
    third = eb.BestExporter("best", receiver_fn)
    assert export(third, estimator, evaluate(estimator, 50, loss=38.0))


def test_best_exporter_makes_the_first_export_in_any_case(tmp_path):
    estimator = FakeEstimator(tmp_path)
    evaluate(estimator, 1, "eval_dev", loss=50.0)
    evaluate(estimator, 2, "eval_dev", loss=60.0)
    exporter = eb.BestExporter("best", receiver_fn, event_file_pattern="eval_dev/*.tfevents.*")
    assert export(exporter, estimator, {"loss": 100.0, "global_step": 3})
    assert export(exporter, estimator, {"loss": 55.0, "global_step": 4}) is None
    assert export(exporter, estimator, {"loss": 10.0, "global_step": 5})
    assert export(exporter, estimator, {"loss": 20.0, "global_step": 6}) is None


def test_best_exporter_without_event_files_starts_anew(tmp_path):
    estimator = FakeEstimator(tmp_path)
    evaluate(estimator, 1, loss=1.0)
    exporter = eb.BestExporter("best", receiver_fn, event_file_pattern=None)
    assert export(exporter, estimator, {"loss": 9.0})
    assert export(exporter, estimator, {"loss": 8.0})


def test_best_exporter_by_another_metric(tmp_path):
    def higher(best_eval_result, current_eval_result):
        return current_eval_result["accuracy"] > best_eval_result["accuracy"]

    estimator = FakeEstimator(tmp_path)
    exporter = eb.BestExporter("best", receiver_fn, compare_fn=higher, exports_to_keep=1)
    accuracies = [0.5, 0.4, 0.6, 0.7]
    done = [
        bool(export(exporter, estimator, evaluate(estimator, i, accuracy=a)))
        for i, a in enumerate(accuracies)
    ]
    assert done == [True, False, True, True]
    assert len(exports(estimator, exporter)) == 1


@pytest.mark.parametrize(
    ("compare_fn", "message"),
    [
        (None, "`compare_fn` must not be None"),
        (lambda current_eval_result: True, "must include best_eval_result argument"),
        (lambda best_eval_result: True, "must include current_eval_result argument"),
        (
            lambda best_eval_result, current_eval_result, more: True,
            r"has following not expected args: \['more'\]",
        ),
    ],
)
def test_compare_fn_of_other_arguments(compare_fn, message):
    with pytest.raises(ValueError, match=message):
        eb.BestExporter(serving_input_receiver_fn=receiver_fn, compare_fn=compare_fn)


def test_evaluation_without_a_loss(tmp_path):
    exporter = eb.BestExporter("best", receiver_fn)
    estimator = FakeEstimator(tmp_path)
    export(exporter, estimator, {"loss": 1.0})
    with pytest.raises(ValueError, match="current_eval_result cannot be empty or no loss is found"):
        export(exporter, estimator, {"accuracy": 1.0})


@pytest.mark.parametrize("kind", [eb.BestExporter, eb.LatestExporter])
def test_no_export_to_keep(kind):
    with pytest.raises(ValueError, match="`exports_to_keep`, if provided, must be a positive num"):
        kind("name", receiver_fn, exports_to_keep=0)


def test_exporter_has_to_be_completed():
    with pytest.raises(TypeError, match="abstract"):
        eb.Exporter()


def test_deletion_that_another_process_has_done(tmp_path, monkeypatch):
    exporter = eb.LatestExporter("latest", receiver_fn, exports_to_keep=1)
    estimator = FakeEstimator(tmp_path)
    export(exporter, estimator, {})
    gone = tf.errors.NotFoundError(None, None, "gone")
    monkeypatch.setattr(tf.io.gfile, "rmtree", mock.Mock(side_effect=gone))
    assert export(exporter, estimator, {})
