"""A checkpoint's weights, in other formats, are the same numbers; other libraries load them."""

import builtins
import json
import os
import struct
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from hypothesis import given, settings
from hypothesis import strategies as st
from test_weights_listed import WEIGHTS, examples, keras_layers, saved, trained

import estimator_bridge as eb
from estimator_bridge import weights
from estimator_bridge.commands.cli import main
from estimator_bridge.errors import DataError
from estimator_bridge.weights import conversion

v1 = tf.compat.v1
FILES = {"safetensors": "w.safetensors", "npz": "w.npz", "keras": "w.h5"}
each_format = pytest.mark.parametrize("to", FILES)


@pytest.fixture(scope="module")
def estimator(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    return trained(folder, lambda: tf_keras.optimizers.Adam(0.1), keras_layers)


def by_hand(path):
    """Reads a .safetensors file by its format: a length, a header of JSON, and bytes."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    header.pop("__metadata__", None)
    types = {"F32": np.float32, "I64": np.int64, "BF16": tf.bfloat16.as_numpy_dtype}
    return {
        name: np.frombuffer(data[slice(*one["data_offsets"])], types[one["dtype"]]).reshape(
            one["shape"]
        )
        for name, one in header.items()
    }


def read(path):
    return by_hand(path) if path.suffix == ".safetensors" else conversion.FORMATS[
        {".npz": "npz", ".h5": "keras"}[path.suffix]
    ].read(str(path))  # fmt: skip


@each_format
def test_the_file_has_the_checkpoints_weights_and_nothing_else(estimator, tmp_path, to):
    path = tmp_path / FILES[to]
    done = weights.convert(estimator.model_dir, to, str(path))
    arrays = read(path)
    assert {name: value.shape for name, value in arrays.items()} == WEIGHTS
    for name, value in arrays.items():
        np.testing.assert_array_equal(value, estimator.get_variable_value(name))
        assert value.dtype == np.float32
    assert len(done.left_out) == len(estimator.get_variable_names()) - len(WEIGHTS)
    assert os.listdir(tmp_path) == [FILES[to]]


def test_everything_has_slots_and_the_step_too(estimator, tmp_path):
    path = tmp_path / "all.npz"
    weights.convert(estimator.model_dir, "npz", str(path), everything=True)
    arrays = read(path)
    assert set(arrays) == set(estimator.get_variable_names())
    assert arrays["global_step"] == 2
    np.testing.assert_array_equal(
        arrays["m/out/kernel"], estimator.get_variable_value("m/out/kernel")
    )


def inputs():
    return np.stack([x for x, _ in examples().as_numpy_iterator()])


def test_keras_2_predicts_the_same(estimator, tmp_path):
    weights.convert(estimator.model_dir, "keras", str(tmp_path / "w.h5"))
    model = tf_keras.Sequential([
        tf_keras.layers.Dense(3, name="hidden", input_shape=[4]),
        tf_keras.layers.BatchNormalization(name="norm"),
        tf_keras.layers.Dense(2, name="out"),
    ])  # fmt: skip
    model.load_weights(str(tmp_path / "w.h5"), by_name=True)
    expected = by_numpy({name: estimator.get_variable_value(name) for name in WEIGHTS})
    np.testing.assert_allclose(model.predict(inputs(), verbose=0), expected, atol=1e-5)


def by_numpy(values):
    """The model by hand: dense, batch norm, dense."""
    net = inputs() @ values["hidden/kernel"] + values["hidden/bias"]
    scale = values["norm/gamma"] / np.sqrt(values["norm/moving_variance"] + 1e-3)
    net = (net - values["norm/moving_mean"]) * scale + values["norm/beta"]
    return net @ values["out/kernel"] + values["out/bias"]


KERAS_3 = """
import sys
import keras
import numpy as np

model = keras.Sequential([
    keras.Input([4]),
    keras.layers.Dense(3, name="hidden"),
    keras.layers.BatchNormalization(name="norm"),
    keras.layers.Dense(2, name="out"),
])
model.load_weights(sys.argv[1], by_name=True)
np.save(sys.argv[3], model.predict(np.load(sys.argv[2]), verbose=0))
"""


def test_keras_3_predicts_the_same(estimator, tmp_path):
    weights.convert(estimator.model_dir, "keras", str(tmp_path / "w.h5"))
    np.save(tmp_path / "x.npy", inputs())
    files = [str(tmp_path / name) for name in ("w.h5", "x.npy", "y.npy")]
    environ = {name: v for name, v in os.environ.items() if name != "TF_USE_LEGACY_KERAS"}
    done = subprocess.run(
        [sys.executable, "-c", KERAS_3, *files],
        env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected = by_numpy({name: estimator.get_variable_value(name) for name in WEIGHTS})
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected, atol=1e-5)


TABLE = """
# for PyTorch
hidden/kernel   fc1.weight  1,0
hidden/bias     fc1.bias    # the end of a line is a comment
norm/gamma\tnorm.weight
out/kernel      -
m/out/kernel    -
"""


@each_format
def test_a_table_renames_orders_dimensions_and_leaves_out(estimator, tmp_path, to):
    table = tmp_path / "names.txt"
    table.write_text(TABLE if to != "keras" else TABLE.replace(".", "/").replace("weight", "gamma"))
    arguments = ["--to", to, "--table", str(table), "--output", str(tmp_path / FILES[to])]
    assert main(["weights", "convert", estimator.model_dir, *arguments]) == 0
    arrays = read(tmp_path / FILES[to])
    dot, last = (".", "weight") if to != "keras" else ("/", "gamma")
    kernel = estimator.get_variable_value("hidden/kernel")
    np.testing.assert_array_equal(arrays[f"fc1{dot}{last}"], kernel.T)
    assert arrays[f"fc1{dot}{last}"].flags.c_contiguous
    assert set(arrays) == {
        f"fc1{dot}{last}", f"fc1{dot}bias", f"norm{dot}{last}", "norm/beta", "norm/moving_mean",
        "norm/moving_variance", "out/bias",
    }  # fmt: skip


@settings(deadline=None, max_examples=20)
@given(axes=st.permutations(range(4)))
def test_dimensions_come_back(axes):
    value = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    line = weights.Renaming("a", "b", tuple(axes))
    from estimator_bridge.weights.renaming import renamed

    moved = renamed({"a": value}, [line])["b"]
    np.testing.assert_array_equal(moved.transpose(np.argsort(axes)), value)


def test_averages_can_take_the_place_of_weights(tmp_path):
    path = saved(tmp_path, **{"w": [2], "w.ExponentialMovingAverage": [2]})
    table = tmp_path / "names.txt"
    table.write_text("w -\nw/ExponentialMovingAverage w\n")
    weights.convert(path, "npz", str(tmp_path / "w.npz"), weights.read_table(str(table)))
    assert set(read(tmp_path / "w.npz")) == {"w"}


@each_format
def test_bfloat16_is_kept_or_becomes_float32(tmp_path, to):
    values = tf.constant([[1.5, -2.25]], tf.bfloat16)
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("layer/kernel", initializer=tf.constant(values.numpy()))
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    done = weights.convert(path, to, str(tmp_path / FILES[to]))
    kernel = read(tmp_path / FILES[to])["layer/kernel"]
    assert kernel.astype(np.float32).tolist() == [[1.5, -2.25]]
    assert kernel.dtype.name == ("bfloat16" if to == "safetensors" else "float32")
    assert done.widened == (() if to == "safetensors" else ("layer/kernel",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", r"names\.txt, line 1: 1 words. Want the old name, the new name"),
        ("\na b c d", "line 2: 4 words"),
        ("a b x", "line 1: invalid literal"),
        ("a b\na c", "line 2: the old name 'a' is also in line 1"),
        ("a b\nc b", "line 2: the new name 'b' is also in line 1"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path, text, message):
    (tmp_path / "names.txt").write_text(text)
    with pytest.raises(DataError, match=message):
        weights.read_table(str(tmp_path / "names.txt"))
    with pytest.raises(DataError, match="the table of names cannot be read"):
        weights.read_table(str(tmp_path / "none.txt"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("hiden/kernel", "x"), r"names 'hiden/kernel'.* Similar names: hidden/kernel"),
        (("hidden/kernel", "out/bias"), "'hidden/kernel' and 'out/bias' would both be named"),
        (("hidden/kernel", "x", (0,)), r"by 0, but its shape is \[4, 3\]: want each of 0, 1 once"),
        (("hidden/kernel", "x", (1, 1)), "by 1,1, but its shape"),
    ],
)
def test_tables_that_do_not_fit_the_checkpoint(estimator, tmp_path, line, message):
    with pytest.raises(DataError, match=message):
        weights.convert(
            estimator.model_dir, "npz", str(tmp_path / "w.npz"), [weights.Renaming(*line)]
        )
    assert os.listdir(tmp_path) == []


def test_keras_needs_layers_and_a_known_order(tmp_path):
    path = saved(tmp_path, **{"alone": [2]})
    with pytest.raises(DataError, match="the variable 'alone' is in no layer"):
        weights.convert(path, "keras", str(tmp_path / "w.h5"))
    (tmp_path / "other").mkdir()
    path = saved(tmp_path / "other", **{"cell.kernel": [2], "cell.w_i_diag": [2]})
    with pytest.raises(DataError, match=r"order of its weights is not known because of cell/w_i"):
        weights.convert(path, "keras", str(tmp_path / "w.h5"))
    path = saved(tmp_path, **{"prelu.alpha": [2]})  # alone in its layer, no order is needed
    weights.convert(path, "keras", str(tmp_path / "w.h5"))
    assert set(read(tmp_path / "w.h5")) == {"prelu/alpha"}


@pytest.mark.parametrize(
    ("to", "output", "message"),
    [
        ("npz", "w.txt", r"w\.txt: a file for --to npz must end in \.npz"),
        ("keras", "w.weights.h5", r"not in \.weights\.h5"),
        ("npz", "none/w.npz", "there is no folder"),
        ("npz", "there.npz", "exists already. Remove it"),
        ("torch", "w.pt", "no format 'torch'. Choose one of keras, npz, safetensors"),
    ],
)
def test_outputs_that_cannot_be_written(estimator, tmp_path, to, output, message):
    (tmp_path / "there.npz").write_bytes(b"mine")
    with pytest.raises(ValueError, match=message):
        weights.convert(estimator.model_dir, to, str(tmp_path / output))
    assert (tmp_path / "there.npz").read_bytes() == b"mine"


@each_format
def test_a_full_disk_leaves_nothing(estimator, tmp_path, monkeypatch, to):
    def full(path, values):
        conversion.npz_file.write(path, values)
        raise OSError(28, os.strerror(28))

    form = conversion.dataclasses.replace(conversion.FORMATS[to], write=full)
    monkeypatch.setitem(conversion.FORMATS, to, form)
    with pytest.raises(eb.errors.DiskFullError, match="was not written"):
        weights.convert(estimator.model_dir, to, str(tmp_path / FILES[to]))
    assert os.listdir(tmp_path) == []


@each_format
def test_a_number_that_changed_is_noticed_when_the_file_is_read_back(
    estimator, tmp_path, monkeypatch, to
):
    form = conversion.FORMATS[to]

    def wrong(path, values):
        changed = {name: value.copy() for name, value in values.items()}
        changed["out/bias"][1] += 1e-6
        form.write(path, changed)

    monkeypatch.setitem(conversion.FORMATS, to, conversion.dataclasses.replace(form, write=wrong))
    with pytest.raises(DataError, match="1 variables differ from the checkpoint, the first 'out/b"):
        weights.convert(estimator.model_dir, to, str(tmp_path / FILES[to]))
    assert os.listdir(tmp_path) == []


def test_without_safetensors_the_error_says_what_to_install(
    estimator, tmp_path, monkeypatch, capsys
):
    load = builtins.__import__

    def without(name, *rest):
        if name.startswith("safetensors"):
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.chdir(tmp_path)
    assert main(["weights", "convert", estimator.model_dir, "--to", "safetensors"]) == 1
    assert "pip install 'estimator-bridge[safetensors]'" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_the_command_names_the_file_after_the_checkpoint(estimator, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["weights", "convert", estimator.model_dir, "--to", "safetensors"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("model.ckpt-2.safetensors: 8 variables of 35 numbers from ")
    assert lines[1] == "left out: 2 optimizer, 12 slot, 1 step"
    assert os.listdir(tmp_path) == ["model.ckpt-2.safetensors"]
