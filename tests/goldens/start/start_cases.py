"""Programs whose variables start from a checkpoint, in all possible ways.

The estimator module is an argument: ``tf.compat.v1.estimator`` of TF 2.15 when the golden file is
made, ``estimator_bridge`` when it is compared. No weight is trained, so that what a program ends
with is what it began with.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, Callable

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["ERRORS", "INIT_CASES", "WARM_CASES", "init_case", "observed", "warm_case", "write_old"]

MODES = ("evaluate", "predict", "train")
OLD = {
    "a": np.array([1.0, 2.0, 3.0], np.float32),
    "scope/b": np.arange(6, dtype=np.float32).reshape(2, 3) + 10,
    "scope/c": np.array([7.0], np.float32),
    "table": np.arange(10, dtype=np.float32).reshape(5, 2) + 100,
    "classes": np.arange(10, dtype=np.float32).reshape(2, 5) + 200,
    "moving": np.array([5.0, 6.0], np.float32),
}
WORDS_OLD = ["apple", "bread", "cheese", "dates", "egg"]
WORDS_NEW = ["egg", "fig", "apple", "grapes", "cheese", "dates"]


def write_old(folder: Path) -> None:
    """Writes what there is to start from: a checkpoint, a partitioned one, a SavedModel."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "old.txt").write_text("\n".join(WORDS_OLD) + "\n")
    (folder / "new.txt").write_text("\n".join(WORDS_NEW) + "\n")
    for kind, shards in (("whole", None), ("sliced", 2)):
        with tf.Graph().as_default(), tf.Session() as session:
            for name, value in OLD.items():
                partitioner = (
                    tf.fixed_size_partitioner(shards) if shards and value.ndim > 1 else None
                )
                tf.get_variable(
                    name,
                    value.shape,
                    initializer=_slice_of(value),
                    trainable=name != "moving",
                    partitioner=partitioner,
                )
            step = tf.train.create_global_step()
            session.run(tf.global_variables_initializer())
            session.run(tf.assign(step, 40))
            tf.train.Saver().save(session, str(folder / kind / "model.ckpt"), global_step=40)
            if kind == "whole":
                x = tf.placeholder(tf.float32, [])
                tf.saved_model.simple_save(
                    session, str(folder / "saved_model"), {"x": x}, {"y": x + 1}
                )


def _slice_of(value: np.ndarray) -> Callable:
    def initializer(shape, dtype=None, partition_info=None):
        start = partition_info.var_offset if partition_info else [0] * value.ndim
        part = tuple(slice(s, s + n) for s, n in zip(start, shape))
        return tf.constant(value[part])

    return initializer


def _variable(name, shape, trainable=True, partitioner=None):
    return tf.get_variable(
        name,
        shape,
        initializer=tf.constant_initializer(-1.0),
        trainable=trainable,
        partitioner=partitioner,
    )


def _same(part=None):
    """A model with the variables of the checkpoint, and the table in parts."""
    _variable("a", [3])
    with tf.variable_scope("scope"):
        _variable("b", [2, 3], partitioner=part)
        _variable("c", [1])
    _variable("table", [5, 2], partitioner=part)
    _variable("moving", [2], trainable=False)


def _more():
    """A model with variables that the checkpoint does not have."""
    _same()
    _variable("new", [2])


def _with_vocabulary(rows=8, part=None):
    _variable("a", [3])
    _variable("table", [rows, 2], partitioner=part)


def _in_parts(build):
    return lambda: build(part=tf.fixed_size_partitioner(2))


def _classes():
    _variable("classes", [2, 7])


def _vocab(folder, size=6, oov=2, **options):
    return tf.train.VocabInfo(
        str(folder / "new.txt"), size, oov, str(folder / "old.txt"), **options
    )


# By name: (the model's variables, what warm_start_from or WarmStartSettings' arguments are).
WARM_CASES: dict[str, tuple[Callable, Callable]] = {
    "checkpoint": (_same, lambda d: str(d / "whole" / "model.ckpt-40")),
    "folder": (_same, lambda d: str(d / "whole")),
    "SavedModel": (_same, lambda d: str(d / "saved_model")),
    "sliced checkpoint": (_same, lambda d: str(d / "sliced")),
    "into parts": (_in_parts(_same), lambda d: str(d / "whole")),
    "parts into parts": (_in_parts(_same), lambda d: str(d / "sliced")),
    "regex": (_more, lambda d: (str(d / "whole"), "scope/.*")),
    "regexes": (_more, lambda d: (str(d / "whole"), ["a", "moving", "scope/c"])),
    "not trainable": (_same, lambda d: (str(d / "whole"), [".*"])),
    "previous names": (
        _more,
        lambda d: (str(d / "whole"), "a|new|moving", None, {"new": "moving"}),
    ),
    "one for two": (
        lambda: (_variable("one", [3]), _variable("two", [3])),
        lambda d: (str(d / "whole"), ".*", None, {"one": "a", "two": "a"}),
    ),
    "vocabulary": (_with_vocabulary, lambda d: (str(d / "whole"), ".*", {"table": _vocab(d)})),
    "vocabulary alone": (
        _with_vocabulary,
        lambda d: (str(d / "whole"), None, {"table": _vocab(d)}),
    ),
    "vocabulary, new rows": (
        _with_vocabulary,
        lambda d: (
            str(d / "whole"),
            "table",
            {"table": _vocab(d, backup_initializer=tf.ones_initializer())},
        ),
    ),
    "vocabulary, first old rows": (
        _with_vocabulary,
        lambda d: (str(d / "whole"), "table", {"table": _vocab(d, old_vocab_size=3)}),
    ),
    "vocabulary in parts": (
        _in_parts(_with_vocabulary),
        lambda d: (
            str(d / "whole"),
            ".*",
            {"table": _vocab(d, backup_initializer=tf.ones_initializer())},
        ),
    ),
    "vocabulary from a sliced checkpoint": (
        _in_parts(_with_vocabulary),
        lambda d: (str(d / "sliced"), "table", {"table": _vocab(d)}),
    ),
    "vocabulary of columns": (
        _classes,
        lambda d: (str(d / "whole"), ".*", {"classes": _vocab(d, oov=1, axis=1)}),
    ),
}

# The same, of what is refused.
ERRORS: dict[str, tuple[Callable, Callable]] = {
    "not in the checkpoint": (_more, lambda d: str(d / "whole")),
    "another shape": (lambda: _variable("a", [4]), lambda d: str(d / "whole")),
    "unused previous name": (_same, lambda d: (str(d / "whole"), ".*", None, {"typo": "a"})),
    "unused vocabulary": (_same, lambda d: (str(d / "whole"), ".*", {"typo": _vocab(d)})),
    "mixed list": (_same, lambda d: (str(d / "whole"), ["a", 1])),
    "no list": (_same, lambda d: (str(d / "whole"), 1)),
    "a number": (_same, lambda d: 3),
    "nothing": (_same, lambda d: ("",)),
}


def _init(checkpoint: Path, assignment_map: Any) -> None:
    tf.train.init_from_checkpoint(str(checkpoint), assignment_map)


def _scopes(d):
    with tf.variable_scope("mine"):
        _same()
    _init(d / "whole", {"/": "mine/"})


def _scope_to_scope(d):
    with tf.variable_scope("mine"):
        _variable("b", [2, 3])
        _variable("c", [1])
    _init(d / "whole" / "model.ckpt-40", {"scope/": "mine/"})


def _all(d):
    _same()
    _init(d / "whole", {"/": "/"})


def _names(d):
    _more()
    _init(d / "whole", {"a": "a", "moving": "new", "scope/c": "scope/c"})


def _variables(d):
    a, c = _variable("mine/a", [3]), _variable("c", [1])
    _init(d / "whole", {"a": a, "scope/c": c})


def _parts(d):
    part = tf.fixed_size_partitioner(3)
    table = _variable("mine", [5, 2], partitioner=part)
    other = _variable("other", [5, 2], partitioner=part)
    _init(d / "whole", {"table": list(table)})
    _init(d / "sliced", {"table": list(other)})


def _parts_by_name(d):
    _variable("mine", [5, 2], partitioner=tf.fixed_size_partitioner(2))
    _init(d / "sliced", {"table": "mine"})


def _parts_by_scope(d):
    with tf.variable_scope("mine", partitioner=tf.fixed_size_partitioner(2)):
        _variable("b", [2, 3])
        _variable("c", [1])
    _init(d / "sliced", {"scope/": "mine/"})


def _as_bert_does(d):
    """The map is made of the names that both have."""
    _more()
    in_checkpoint = {name for name, _ in tf.train.list_variables(str(d / "whole"))}
    names = {variable.op.name for variable in tf.trainable_variables()}
    _init(d / "whole", {name: name for name in sorted(names & in_checkpoint)})


INIT_CASES: dict[str, Callable] = {
    "all": _all,
    "root to scope": _scopes,
    "scope to scope": _scope_to_scope,
    "name to name": _names,
    "name to variable": _variables,
    "name to slices": _parts,
    "name to the name of slices": _parts_by_name,
    "scope of slices": _parts_by_scope,
    "names in common": _as_bert_does,
}


def _model_fn(build: Callable, est: ModuleType) -> Callable:
    def model_fn(features, labels, mode):
        build()
        values = {v.op.name: tf.reduce_sum(v) for v in tf.trainable_variables()}
        nothing = 0.0 * tf.reduce_mean(features)  # what needs no input would never see its end
        loss = tf.add_n(list(values.values())) + nothing
        train_op = tf.assign_add(tf.train.get_global_step(), 1)
        metrics = {f"value of {k}": tf.metrics.mean(v) for k, v in values.items()}
        predictions = {key: tf.reshape(value + nothing, [1]) for key, value in values.items()}
        return est.EstimatorSpec(
            mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics if mode == est.ModeKeys.EVAL else None,
        )

    return model_fn


def _ones():
    return tf.data.Dataset.from_tensors(np.ones([1, 1], np.float32))


def warm_case(
    case: tuple[Callable, Callable], est: ModuleType, old: Path, settings: Any, **options
):
    """The estimator of a case of warm start."""
    build, start = case
    warm_start = start(old)
    warm_start = settings(*warm_start) if isinstance(warm_start, tuple) else warm_start
    return est.Estimator(_model_fn(build, est), warm_start_from=warm_start, **options)


def init_case(build: Callable, est: ModuleType, old: Path, **options):
    """The estimator of a case of init_from_checkpoint."""
    return est.Estimator(_model_fn(lambda: build(old), est), **options)


def observed(estimator: Any, modes: tuple[str, ...] = MODES) -> dict[str, Any]:
    """Returns an estimator's initial values in some modes."""
    results: dict[str, Any] = {}
    if "evaluate" in modes:
        evaluated = estimator.evaluate(_ones)
        results["evaluate"] = {key: float(value) for key, value in sorted(evaluated.items())}
    if "predict" in modes:
        (predicted,) = estimator.predict(_ones)
        results["predict"] = {key: float(value) for key, value in sorted(predicted.items())}
    if "train" in modes:
        estimator.train(_ones, steps=1)
        names = estimator.get_variable_names()
        values = {name: np.asarray(estimator.get_variable_value(name)) for name in names}
        results["train"] = {name: value.tolist() for name, value in values.items()}
    return results
