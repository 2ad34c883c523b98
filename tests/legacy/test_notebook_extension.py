"""`%load_ext estimator_bridge`: a notebook of TensorFlow 1, cell by cell in Jupyter's kernel."""

import nbclient
import nbformat
import pytest

CELLS = {
    "load": "%load_ext estimator_bridge",
    "import": "import numpy as np\nimport tensorflow as tf\n"
    "tf.logging.set_verbosity(tf.logging.WARN)\n"
    "print(tf.contrib.layers.fully_connected.__name__, hasattr(tf, 'placeholder'))",
    "model": """
def model_fn(features, labels, mode, params):
    net = tf.contrib.layers.fully_connected(features["x"], 4)
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(net, 1))
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.AdamOptimizer(0.01))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

def input_fn(params):
    x = np.ones([64, 2], np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, :1])).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)""",
    "train": """
config = tf.contrib.tpu.RunConfig(
    model_dir="run", tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=10))
estimator = tf.contrib.tpu.TPUEstimator(
    model_fn, config=config, use_tpu=False, train_batch_size=8, params={})
_ = estimator.train(input_fn, max_steps=50)""",
    "again": "%load_ext estimator_bridge\nprint(estimator.get_variable_value('global_step'))",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of each cell, by its name."""
    folder = tmp_path_factory.mktemp("notebook")
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    book = nbformat.v4.new_notebook(cells=cells)
    patch = pytest.MonkeyPatch()
    with patch.context() as environment:
        environment.setenv("ESTIMATOR_BRIDGE_MONITOR", "1")
        client = nbclient.NotebookClient(
            book, timeout=200, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        )
        client.execute()
    return {name: cell.outputs for name, cell in zip(CELLS, book.cells)}


def text_of(outputs):
    return "".join(one.get("text", "") for one in outputs if one.get("name") == "stdout")


def test_cells_see_tensorflow_1_with_its_contrib(outputs):
    assert outputs["load"] == []
    assert text_of(outputs["import"]) == "fully_connected True\n"


def test_a_training_shows_one_line_of_plain_text(outputs):
    shown = [one["data"] for one in outputs["train"] if one["output_type"] == "display_data"]
    lines = [data["text/plain"] for data in shown]
    assert all(set(data) == {"text/plain"} for data in shown)
    assert lines[0].startswith("step 50/50  loss ")
    assert [line.split(":")[0] for line in lines[1:]] == ["Report", "Curves"]


def test_a_second_load_does_no_harm(outputs):
    assert text_of(outputs["again"]).endswith("50\n")


def test_a_load_after_tensorflow_says_to_restart_the_kernel():
    import tensorflow  # noqa: F401

    import estimator_bridge as eb

    class Shell:
        user_ns: dict = {}  # noqa: RUF012 - stays empty

    with pytest.raises(eb.errors.TooLateError, match="Restart the kernel, and make it the first"):
        eb.load_ipython_extension(Shell())
