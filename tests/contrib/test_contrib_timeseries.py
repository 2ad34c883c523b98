"""tf.contrib.timeseries: what it does beyond the cases of contrib_goldens."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge_contrib import timeseries
from estimator_bridge_contrib.timeseries import math_utils, model_utils
from estimator_bridge_contrib.timeseries.series_arrays import with_all_dimensions

v1 = tf.compat.v1


def value_of(build):
    with tf.Graph().as_default(), v1.Session() as session:
        return session.run(build())


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2))
def test_arrays_get_the_dimensions_they_lack(rank, batch, length, features):
    shape = (batch, length)[2 - rank :]
    more = (features,) if features or rank == 2 else ()
    data = {"times": np.zeros(shape), "values": np.zeros(shape + more), "known": np.zeros(shape)}
    arrays = with_all_dimensions(data, require_single_batch=False)
    whole = (1,) * (2 - rank) + shape
    assert arrays["times"].shape == arrays["known"].shape == whole
    assert arrays["values"].shape == whole + (more or (1,))


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=4), st.integers(0, 99))
def test_powers_of_matrices_are_products(powers, seed):
    matrix = np.random.RandomState(seed).normal(size=[3, 3])
    powers_of_matrix = value_of(
        lambda: math_utils.matrix_to_powers(tf.constant(matrix), tf.constant(powers))
    )
    expected = [np.linalg.matrix_power(matrix, power) for power in powers]
    np.testing.assert_allclose(powers_of_matrix, expected, rtol=1e-7, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 6), st.integers(0, 99))
def test_power_sums_are_sums(size, seed):
    matrix, noise = np.random.RandomState(seed).normal(size=[2, 3, 3])
    sums = value_of(
        lambda: math_utils.power_sums_tensor(size, tf.constant(matrix), tf.constant(noise))
    )
    powers = [np.linalg.matrix_power(matrix, number) for number in range(size)]
    terms = [np.zeros([3, 3]), *(power @ noise @ power.T for power in powers)]
    np.testing.assert_allclose(sums, np.cumsum(terms, axis=0), rtol=1e-7, atol=1e-9)


def test_a_matrix_made_of_any_numbers_is_positive_definite():
    raw = np.random.RandomState(3).normal(scale=3, size=[20, 4, 4])
    matrices = value_of(lambda: math_utils.sign_magnitude_positive_definite(tf.constant(raw)))
    np.testing.assert_allclose(matrices, np.swapaxes(matrices, 1, 2))
    assert (np.linalg.eigvalsh(matrices) > 0).all()


def test_errors_say_what_was_given():
    with pytest.raises(ValueError, match=r"windows of size 9, but only 5 records"):
        reader = timeseries.NumpyReader({"times": range(5), "values": range(5)})
        timeseries.RandomWindowInputFn(reader, window_size=9, batch_size=1)
    with pytest.raises(ValueError, match=r"ends at \[4\], and `times` begins at \[4\]"):
        model_utils.canonicalize_times_or_steps_from_output(
            [4, 5], None, {"times": np.array([[4]])}
        )
    with pytest.raises(AssertionError, match="without periodicities needs an input_window_size"):
        timeseries.ARModel(None, 0, 1, 1)
    with pytest.raises(ValueError, match=r"odd numbers of latent values are supported\. Got 4"):
        timeseries.StructuralEnsembleRegressor(5, 1, cycle_num_latent_values=4)


def test_a_program_trains_evaluates_and_predicts(tmp_path):
    rows = "".join(f"{time},{np.sin(0.5 * time):.6f}\n" for time in range(200))
    (tmp_path / "series.csv").write_text(rows)
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import numpy as np
            import tensorflow as tf

            ts = tf.contrib.timeseries
            reader = ts.CSVReader("series.csv")
            estimator = ts.ARRegressor(
                periodicities=[],
                input_window_size=12,
                output_window_size=4,
                num_features=1,
                loss=ts.ARModel.SQUARED_LOSS,
                config=tf.estimator.RunConfig(tf_random_seed=1),
            )
            windows = ts.RandomWindowInputFn(reader, window_size=16, batch_size=8)
            estimator.train(windows, steps=100)
            evaluation = estimator.evaluate(ts.WholeDatasetInputFn(reader), steps=1)
            following = ts.predict_continuation_input_fn(evaluation, steps=10)
            (predictions,) = estimator.predict(following)
            times = predictions["times"]
            error = np.abs(predictions["mean"][:, 0] - np.sin(0.5 * times)).max()
            print(times[0], times[-1], evaluation["loss"] < 0.01, error < 0.5)
            """
        )
    )
    done = subprocess.run(
        [sys.executable, "-m", "estimator_bridge", "run", "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["200", "209", "True", "True"]
