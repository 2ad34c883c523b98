"""Generates pages of the documentation site and rewrites links that leave docs/.

The README is the site's first page, so that it is written once. Each public package of the library
gets a page of the API reference from its ``__all__``. Links to files of the repository that are not
pages become plain text: the project's address is not known here.
"""

from __future__ import annotations

import ast
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from estimator_bridge.base.public_names import OWN_PLACES

ROOT = Path(__file__).resolve().parent.parent
# What the search of a site in a folder needs, which the theme would load from a host; the style.
ASSETS = (ROOT / "tooling" / "iframe-worker.js", ROOT / "tooling" / "site.css")
# Pages from outside docs/: their paths in the repository and on the site.
OUTSIDE = {
    "README.md": "index.md",
    "models/README.md": "models.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "parity/REPORT.md": "parity_report.md",
    "parity/differential/REPORT.md": "differential_report.md",
    **{
        page.relative_to(ROOT).as_posix(): f"models_{page.parent.name}.md"
        for page in sorted((ROOT / "models").glob("*/README.md"))
    },
}
# The packages of the reference, in its order, with their purpose.
PACKAGES = {
    "": "Estimators, canned models, heads, hooks and exporters: the names of `tf.estimator`.",
    "tpu": "`TPUEstimator` and the rest of TPU mode.",
    "tpu.experimental": "Embeddings on TPU cores.",
    "data": "Input functions for new programs.",
    "inputs": "Input functions from arrays and data frames.",
    "training": "Training, hooks and limits that `tf.estimator` did not have.",
    "export": "Serving inputs and export outputs.",
    "experimental": "Early stopping, in-memory evaluation and other names of "
    "`tf.estimator.experimental`.",
    "heads": "Heads of canned models.",
    "keras": "Keras models as estimators.",
    "records": "Data sets as record files: written, checked, and read for training.",
    "runtime": "Strategies, emulated cores and workers.",
    "testing": "Checks that a model is ready for a TPU.",
    "weights": "Weights of checkpoints, for other libraries.",
    "errors": "Exceptions that programs may catch.",
}
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
# `[text][label]`, and the line `[label]: target` that it refers to.
_REFERENCE = re.compile(r"(?<!!)\[([^\]]+)\]\[([^\]]+)\]")
_DEFINITION = re.compile(r"^\[([^\]]+)\]: (\S+)\n?", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages to those of docs/."""
    for source, target in OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, target, content=text))
    for package in PACKAGES:
        files.append(File.generated(config, reference_page(package), content=reference(package)))
    for asset in ASSETS:
        content = asset.read_text(encoding="utf-8")
        files.append(File.generated(config, f"assets/{asset.name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links between files of the repository into links between pages of the site."""
    page_uri = page.file.src_uri
    if page_uri.startswith("reference/"):
        return markdown
    sources = {target: source for source, target in OUTSIDE.items()}
    folder = posixpath.dirname(sources.get(page_uri, f"docs/{page_uri}"))

    def site_link(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        path = posixpath.normpath(posixpath.join(folder, target))
        uri = OUTSIDE.get(path, path[len("docs/") :] if path.startswith("docs/") else None)
        if uri is None or files.get_file_from_path(uri) is None:
            if not (ROOT / path).exists():
                raise FileNotFoundError(f"{page_uri} links to {target}, which is not there.")
            return text
        return f"[{text}]({posixpath.relpath(uri, posixpath.dirname(page_uri) or '.')}{anchor})"

    return _LINK.sub(site_link, inline_links(markdown))


def inline_links(markdown: str) -> str:
    """Returns a page whose links by label, `[text][label]`, are links in place."""
    targets = dict(_DEFINITION.findall(markdown))

    def in_place(link: re.Match[str]) -> str:
        return f"[{link[1]}]({targets[link[2]]})" if link[2] in targets else link[0]

    return _REFERENCE.sub(in_place, _DEFINITION.sub("", markdown))


def reference_page(package: str) -> str:
    """Returns the path of a package's page on the site."""
    return f"reference/{package.replace('.', '_') or 'estimator_bridge'}.md"


def reference(package: str) -> str:
    """Returns the page of a package: each public name, which mkdocstrings expands."""
    dotted = ".".join(filter(None, ["estimator_bridge", package]))
    entries = [f"# {dotted}", PACKAGES[package]]
    packages = {name for name in PACKAGES if name}
    for name in public_names(dotted):
        inner = ".".join(filter(None, [package, name]))
        if inner in packages:
            link = posixpath.basename(reference_page(inner))
            entries.append(f"- [`{dotted}.{name}`]({link}): {PACKAGES[inner]}")
        elif not name.startswith("_"):
            entries.append(f"::: {dotted}.{name}")
    return "\n\n".join(entries) + "\n"


def public_names(dotted: str) -> list[str]:
    """Returns the names in a module's ``__all__``, from its source: nothing is imported."""
    path = ROOT.joinpath(*dotted.split("."))
    module = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(module.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            if any(isinstance(item, ast.Starred) for item in getattr(node.value, "elts", [])):
                return sorted(OWN_PLACES)  # the package's own list is a table
            return list(ast.literal_eval(node.value))
    return [
        node.name
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")
    ]
