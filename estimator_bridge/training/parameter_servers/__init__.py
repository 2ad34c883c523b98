"""Training on parameter servers, as TF_CONFIG with a job `ps` describes it.

Each chief and worker traces the model itself and runs its own steps, at its own pace, on variables
that the servers hold. Between two steps of one process the others change the variables, and each
process calls its hooks around each of its steps. So no step is lifted here and no loop is compiled:
``session_loop.py`` runs the traced graph in TensorFlow's own distributed session, with the hooks,
the order and the names of the original. The servers are TensorFlow's own too.

- ``placement.py``: which operation is on which process.
- ``servers.py``: the server of this process, and the life of a parameter server.
- ``job_end.py``: how a parameter server learns that its job has ended.
- ``session_config.py``: which processes a session connects to.
- ``session_creators.py``: sessions that wait for servers no longer than they may.
- ``saver.py``: checkpoints that appear complete, also where several servers write one.

Evaluation, prediction and export run in one process, from a checkpoint, as without servers.
"""

from estimator_bridge.training.parameter_servers.job_end import (
    announce_end_at_exit,
    job_goes_on,
)
from estimator_bridge.training.parameter_servers.placement import (
    ServerExecution,
    has_servers,
    is_server_strategy,
)
from estimator_bridge.training.parameter_servers.servers import serve, start_server
from estimator_bridge.training.parameter_servers.session_loop import train_on_servers

__all__ = [
    "ServerExecution",
    "announce_end_at_exit",
    "has_servers",
    "is_server_strategy",
    "job_goes_on",
    "serve",
    "start_server",
    "train_on_servers",
]
