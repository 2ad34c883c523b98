"""The public API is the original's: every name, in both versions, with its signature."""

from __future__ import annotations

import ast
import contextlib
import inspect
import json
import pathlib
import re

import pytest
from goldens.signatures.face_observer import signature

import estimator_bridge as eb
from estimator_bridge.base.public_names import OWN_PLACES, V1_PLACES, V2_PLACES
from estimator_bridge.errors import MissingImportError, MissingNameError
from estimator_bridge.legacy.api_modules import api_module_v1, api_module_v2

import tensorflow as tf  # isort: skip

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "signatures"

V1, V2 = "tf.compat.v1.estimator.", "tf.estimator."
SIGNATURES = json.loads((GOLDENS / "signatures.json").read_text())
FACES = {V1: api_module_v1(), V2: api_module_v2()}
# What the package has besides: this library's own.
OWN = {
    "Model",
    "__version__",
    "bridge_v1_behavior",
    "data",
    "errors",
    "heads",
    "install",
    "records",
    "runtime",
    "testing",
    "tpu",
    "training",
    "v1",
    "weights",
}
OWN |= {"keras"}  # tf.keras.estimator
OWN |= {"inputs"}  # of tf.compat.v1.estimator alone
# Signatures that are not the original's, each with the reason.
DEVIATIONS = {
    # Protocol buffers, enums and classes without arguments: Python's version decides.
    "CheckpointSaverListener": "takes no arguments",
    "Exporter": "takes no arguments",
    "Head": "takes no arguments",
    "ModeKeys": "takes no arguments",
    "SessionRunHook": "takes no arguments",
    "NanLossDuringTrainingError": "takes no arguments",
    "export.ExportOutput": "is abstract",
    "tpu.InputPipelineConfig": "is an enumeration",
    # An enumeration's value as a default, of which there is one format left.
    "tpu.TPUEstimator": "export_saved_model_api_version=None",
}


def names_of(prefix):
    return {name[len(prefix) :] for name in SIGNATURES if name.startswith(prefix)}


def member(face, name):
    value = face
    for part in name.split("."):
        value = getattr(value, part)
    return value


def every_name():
    return [(prefix, name) for prefix in (V1, V2) for name in sorted(names_of(prefix))]


@pytest.mark.parametrize(("prefix", "name"), every_name(), ids="".join)
def test_name_is_there(prefix, name):
    assert callable(member(FACES[prefix], name))


def normal(parameters):
    return [re.sub(r" at 0x\w+", "", parameter) for parameter in parameters]


@pytest.mark.parametrize(
    ("prefix", "name"),
    [(p, n) for p, n in every_name() if n not in DEVIATIONS],
    ids="".join,
)
def test_signature(prefix, name):
    ours = normal(signature(member(FACES[prefix], name)))
    assert ours == normal(SIGNATURES[prefix + name])


@pytest.mark.parametrize("name", DEVIATIONS)
def test_deviation_is_one(name):
    ours = None  # no signature at all
    with contextlib.suppress(ValueError):
        ours = normal(signature(member(FACES[V1], name)))
    assert ours != normal(SIGNATURES[V1 + name])


def test_the_package_has_the_names_of_tf_estimator():
    expected = {name.partition(".")[0] for name in names_of(V2)}
    assert set(eb.__all__) - OWN == expected
    assert all(hasattr(eb, name) for name in eb.__all__)


def test_type_checkers_read_the_same_names_in_the_same_places():
    tree = ast.parse(pathlib.Path(eb.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)
                and ast.unparse(node.test) == "TYPE_CHECKING"]  # fmt: skip
    read = {name.asname: f"{node.module}.{name.name}" for node in block.body for name in node.names}
    read["__version__"] = "estimator_bridge.base.version.__version__"  # imported for use
    assert read == OWN_PLACES


@pytest.mark.parametrize(("prefix", "names"), [(V1, V1_PLACES), (V2, V2_PLACES)])
def test_faces_list_the_names_of_their_version(prefix, names):
    expected = {name.partition(".")[0] for name in names_of(prefix)}
    assert set(names) == expected
    assert dir(FACES[prefix]) == sorted(names)


def test_hooks_are_those_of_tensorflow():
    hooks = [name for name in V2_PLACES if hasattr(tf.compat.v1.train, name)]
    assert len(hooks) >= 17
    for name in set(hooks) - {"WarmStartSettings", "export", "experimental"}:
        assert getattr(eb, name) is getattr(tf.compat.v1.train, name)


def test_what_is_missing_says_what_to_do():
    package = api_module_v2()
    assert not hasattr(package, "inputs")
    message = r"tf\.estimator\.inputs is only in tf\.compat\.v1\.estimator"
    with pytest.raises(MissingNameError, match=message):
        package.inputs  # noqa: B018
    with pytest.raises(MissingImportError, match=message):
        exec(f"from {package.__name__} import inputs")


def test_neighbours_of_what_is_missing_import():
    values = {}
    exec("from estimator_bridge import Estimator, TrainSpec", values)
    assert values["TrainSpec"] is eb.TrainSpec
    with pytest.raises(ImportError, match="cannot import name 'DNNClasifier'"):
        exec("from estimator_bridge import DNNClasifier")
    with pytest.raises(AttributeError, match="'estimator_bridge' has no attribute 'DNNClasifier'"):
        eb.DNNClasifier  # noqa: B018


def test_the_v2_face_says_where_names_of_v1_are():
    assert not hasattr(api_module_v2(), "tpu")
    with pytest.raises(MissingNameError, match=r"use tf\.compat\.v1\.estimator\.tpu"):
        api_module_v2().tpu  # noqa: B018


def serving_input_receiver_fn():
    x = tf.compat.v1.placeholder(tf.float32, [None], name="x")
    return eb.export.TensorServingInputReceiver(x, x)


def model_fn(features, labels, mode):
    weight = tf.compat.v1.get_variable("weight", [], initializer=tf.compat.v1.ones_initializer())
    return eb.EstimatorSpec(
        mode,
        predictions=features * weight,
        loss=weight * 2,
        train_op=tf.compat.v1.assign_add(tf.compat.v1.train.get_global_step(), 1),
    )


def test_the_old_name_of_export_saved_model_is_in_v1_alone(tmp_path):
    v1, v2 = api_module_v1().Estimator, api_module_v2().Estimator
    assert v2 is eb.Estimator
    assert issubclass(v1, v2)
    assert issubclass(eb.tpu.TPUEstimator, v1)
    estimator = v1(model_fn, str(tmp_path / "model"))
    estimator.train(lambda: tf.data.Dataset.from_tensors(tf.ones([2])), steps=1)
    folder = estimator.export_savedmodel(
        str(tmp_path / "export"), serving_input_receiver_fn, strip_default_attrs=True
    )
    assert (pathlib.Path(folder.decode()) / "saved_model.pb").exists()
    assert not hasattr(v2(model_fn), "export_savedmodel")
    with pytest.raises(AttributeError, match="Please use `export_saved_model`"):
        v2(model_fn).export_savedmodel  # noqa: B018
    expected = [
        "export_dir_base", "serving_input_receiver_fn", "assets_extra=None", "as_text=False",
        "checkpoint_path=None", "strip_default_attrs=False",
    ]  # fmt: skip
    assert signature(v1.export_savedmodel)[1:] == expected


def test_every_public_object_has_a_docstring():
    for name in eb.__all__:
        value = getattr(eb, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name


@pytest.mark.parametrize("version", FACES)
@pytest.mark.parametrize("kind", ["Classifier", "Regressor", "Estimator"])
def test_boosted_trees_say_what_to_use(version, kind):
    message = rf"^{re.escape(version)}BoostedTrees{kind} was removed, .*package ydf"
    with pytest.raises(MissingNameError, match=message):
        getattr(FACES[version], f"BoostedTrees{kind}")
