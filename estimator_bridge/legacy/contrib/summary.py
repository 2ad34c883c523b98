"""tf.contrib.summary: summaries that are written by operations, in host_call for example.

TensorFlow still has these functions. They write values as TensorFlow 1 did (``simple_value`` of a
scalar), take the global step where none is given, and record nothing unless
``always_record_summaries`` or its like says so.
"""

from estimator_bridge.legacy.missing import missing_getattr
from estimator_bridge.tensorflow_private import contrib_summary as _summary

__all__ = [
    "SummaryWriter",
    "all_summary_ops",
    "always_record_summaries",
    "audio",
    "create_file_writer",
    "create_summary_file_writer",
    "eval_dir",
    "flush",
    "generic",
    "graph",
    "histogram",
    "image",
    "import_event",
    "initialize",
    "never_record_summaries",
    "record_summaries_every_n_global_steps",
    "scalar",
    "should_record_summaries",
    "summary_writer_initializer_op",
]

SummaryWriter = _summary.SummaryWriter
all_summary_ops = _summary.all_v2_summary_ops
always_record_summaries = _summary.always_record_summaries
audio = _summary.audio
create_file_writer = _summary.create_file_writer
create_summary_file_writer = _summary.create_file_writer  # its older name
eval_dir = _summary.eval_dir
flush = _summary.legacy_raw_flush  # takes a writer's resource too
generic = _summary.generic
graph = _summary.graph_v1
histogram = _summary.histogram
image = _summary.image
import_event = _summary.import_event
initialize = _summary.initialize
never_record_summaries = _summary.never_record_summaries
record_summaries_every_n_global_steps = _summary.record_summaries_every_n_global_steps
scalar = _summary.scalar
# tf.summary's says yes where nothing was said.
should_record_summaries = _summary._legacy_contrib_should_record_summaries
summary_writer_initializer_op = _summary.summary_writer_initializer_op

__getattr__ = missing_getattr(
    __name__,
    {
        "create_db_writer": "wrote to a database, and is gone. Use create_file_writer(logdir).",
        "text": "was never there: use tf.summary.text, or tf.compat.v2.summary.text in host_call.",
    },
    "tf.contrib.summary",
)
