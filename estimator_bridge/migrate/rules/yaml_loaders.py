from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.calls import add_keyword, calls, is_spread
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule


@rule("EB042", "yaml.load without a loader")
def yaml_loaders(module: Module) -> Iterator[Finding]:
    """Since PyYAML 6.0 `yaml.load` requires a loader.

    `FullLoader` was the default of `yaml.load` from 5.1 on. For untrusted files, `yaml.safe_load`
    is better.

    Before:

    ```python
    import yaml

    with open("config.yaml") as file:
        config = yaml.load(file)
    ```

    After:

    ```python
    import yaml

    with open("config.yaml") as file:
        config = yaml.load(file, Loader=yaml.FullLoader)
    ```
    """
    for call, name in calls(module):
        if name not in ("yaml.load", "yaml.load_all") or is_spread(call):
            continue
        if len(call.args) != 1 or call.keywords:
            continue
        if isinstance(call.func, ast.Attribute):
            loader = f"Loader={module.lines.of(call.func.value)}.FullLoader"
            edit = add_keyword(module, call, loader)
            yield module.finding(
                "EB042", call, Severity.REWRITTEN, f"{name} requires a loader", f"Add {loader}.",
                (edit,),
            )  # fmt: skip
        else:
            yield module.finding(
                "EB042", call, Severity.BY_HAND, f"{name} requires a loader",
                "Add Loader=yaml.FullLoader.",
            )  # fmt: skip
