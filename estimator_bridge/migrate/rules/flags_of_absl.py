from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.calls import add_keyword, calls, is_spread, keyword
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule

# The flags that absl's logging, app and testing modules define when TensorFlow is imported.
_THEIRS = {
    "alsologtostderr", "log_dir", "logger_levels", "logtostderr", "only_check_args", "pdb",
    "pdb_post_mortem", "profile_file", "run_with_pdb", "run_with_profiling", "showprefixforinfo",
    "stderrthreshold", "test_random_seed", "test_srcdir", "test_tmpdir",
    "use_cprofile_for_profiling", "xml_output_file",
}  # fmt: skip
# absl reads these when it logs, and expects its own types.
_READ_BY_ABSL = {"v", "verbosity"}
_FLAGS = ("tf1.flags.DEFINE_", "tf1.app.flags.DEFINE_", "absl.flags.DEFINE_")


@rule("EB061", "a flag that TensorFlow also defines")
def flags_of_absl(module: Module) -> Iterator[Finding]:
    """Programs older than TensorFlow 1.5 define flags that absl now defines, such as `log_dir`.

    A second definition raises DuplicateFlagError. With `allow_override=True` the program's
    definition wins. absl itself reads the flags `v` and `verbosity`, so rename those.

    Before:

    ```python
    import tensorflow.compat.v1 as tf

    tf.flags.DEFINE_string("log_dir", "/tmp/log", "Where logs go.")
    ```

    After:

    ```python
    import tensorflow.compat.v1 as tf

    tf.flags.DEFINE_string("log_dir", "/tmp/log", "Where logs go.", allow_override=True)
    ```
    """
    for call, name in calls(module):
        if not name.startswith(_FLAGS):
            continue
        name_node = call.args[0] if call.args else getattr(keyword(call, "name"), "value", None)
        flag = name_node.value if isinstance(name_node, ast.Constant) else None
        if flag in _READ_BY_ABSL:
            yield module.finding(
                "EB061", call, Severity.BY_HAND, f"absl has a flag {flag} and reads it",
                "Give the program's flag another name.",
            )  # fmt: skip
        elif flag in _THEIRS and not is_spread(call) and not keyword(call, "allow_override"):
            yield module.finding(
                "EB061", call, Severity.REWRITTEN, f"absl has a flag {flag}",
                "Add allow_override=True.",
                (add_keyword(module, call, "allow_override=True"),),
            )  # fmt: skip
