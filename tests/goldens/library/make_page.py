"""Writes docs/evidence/library_names.md.

cd tests && python -m goldens.library.make_page
"""

from __future__ import annotations

import json
from pathlib import Path

from goldens.library import private_names

from estimator_bridge.legacy.library.names import GONE_MODULES, GONE_NAMES, LIBRARY_NAMES
from estimator_bridge.legacy.tf1.private_names import advice_on, place_of

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "evidence" / "library_names.md"

_HEAD = """\
# Names that libraries import

Written by `tests/goldens/library/make_page.py`.

Libraries that build on Estimator import more than its public names. This page lists the names of
Estimator's modules that public code was found to import, their definitions here, and their users.
The paths are below `tensorflow_estimator.python.estimator`, and the same below
`tensorflow.python.estimator`. They work after `estimator_bridge.install()` and under
`estimator-bridge run`.

Each name has the original's arguments and behavior: `tests/goldens/library` compares both with
TensorFlow 2.15.1. A missing name raises an error that names its replacement: for `module.name` an
AttributeError, so that `hasattr` and `getattr` with a default work; for `from module import name`
an ImportError.

The survey read the sources of 38 repositories, and searched an index of public code for imports of
each module. If the index does not name a repository, the table says "other public code". Names
without users belong to a family with users.
"""
_TAIL = """\
## Also found

| name | answer |
|---|---|
| `tensorflow.python.ops.variables.VariableV1` | `tf.compat.v1.Variable` |
| `tensorflow.examples.tutorials.mnist.input_data` | `read_data_sets`: the same batches for a seed |
| `tensorflow_estimator.contrib` | `tensorflow.contrib` |
| `tensorflow_estimator.python.estimator.keras` | `keras_lib`, the module's later name |

## Estimator's private methods

Libraries that run their own session build their graph with these methods of an Estimator:
`_call_input_fn`, `_call_model_fn`, `_create_and_assert_global_step`, `_create_global_step`,
`_extract_batch_length`, `_extract_keys`, `_get_features_from_input_fn`,
`_get_features_and_labels_from_input_fn`, `_get_iterator_from_input_fn`; and read `_session_config`,
`_device_fn`, `_train_distribution`, `_eval_distribution`, `_warm_start_settings`, `_model_fn`,
`_model_dir`, `_config` and `_params`. All of them exist, with the original's results.

A subclass that overrides `_assert_members_are_not_overridden` may override public members, as in the
original. It may not override private methods that only the original's training called, such as
`_train_model`: this library's training would not call them, so the constructor refuses that.
"""


_PRIVATE = """\
## Private names of TensorFlow

138 repositories import {total:,} names below `tensorflow.python` and `tensorflow_estimator` that
TensorFlow 1.15.5 or 2.15.1 has. {resolved:,} resolve, {advised} raise an error that says what to write,
and none does neither. `check` and `rewrite` read the same table. The names that TensorFlow moved or
removed, with the number of repositories:

| name below `tensorflow.python` | repositories | now |
|---|---|---|
"""


def _private() -> str:
    rows = private_names.rows()
    lines = []
    advised = sum(
        name.rpartition(".")[2] in GONE_NAMES.get(_module_of_estimator(name), ()) for name in rows
    )
    for name, (count, _) in sorted(rows.items(), key=lambda row: (-row[1][0], row[0])):
        place, advice = place_of(name), advice_on(name)
        advised += advice is not None
        if place or advice:
            now = f"`{place.replace('tf1.', 'tf.compat.v1.', 1)}`" if place else advice
            lines.append(f"| `{name.partition('.python.')[2]}` | {count} | {now} |")
    total = len(rows)
    head = _PRIVATE.format(total=total, resolved=total - advised, advised=advised)
    return head + "\n".join(lines) + "\n"


def _module_of_estimator(name: str) -> str:
    return name.rpartition(".")[0].partition(".python.estimator.")[2]


def page() -> str:
    """Returns the page's text."""
    uses = json.loads((HERE / "uses.json").read_text())
    parts = [_HEAD]
    for module, names in LIBRARY_NAMES.items():
        parts.append(f"## {module}\n\n| name | definition | used by |\n|---|---|---|")
        rows = [(name, f"`{place}`") for name, place in names.items()]
        rows += [
            (name, f"missing: {reason}") for name, reason in GONE_NAMES.get(module, {}).items()
        ]
        for name, answer in rows:
            who = sorted({use.partition(":")[0] for use in uses.get(f"{module}.{name}", [])})
            parts.append(f"| `{name}` | {answer} | {', '.join(who)} |")
        parts.append("")
    parts.append("## Modules that are missing\n\n| module | answer |\n|---|---|")
    parts += [f"| `{module}` | {reason} |" for module, reason in GONE_MODULES.items()]
    return "\n".join([*parts, "", _TAIL, _private()])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
