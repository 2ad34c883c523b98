"""EB064: a program that runs in a cluster."""

import pytest
from migrate.model_sources import HEAD
from migrate.rewritten import check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        f"{HEAD}config = {{'cluster': None}}\n",
        f"{HEAD}class Server:\n    pass\n\nserver = Server()\n",
        f"{HEAD}strategy = tf.distribute.MirroredStrategy()\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (f"import os\n{HEAD}config = os.environ.get('TF_CONFIG', '{{}}')\n", "reads TF_CONFIG"),
        (f"{HEAD}server = tf.train.Server(cluster, job_name='ps', task_index=0)\n", "Server: a"),
        (
            f"{HEAD}strategy = tf.distribute.experimental.ParameterServerStrategy()\n",
            "ParameterServerStrategy: a cluster with the job 'ps' trains as it did",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB064", "works as is", source, words)
