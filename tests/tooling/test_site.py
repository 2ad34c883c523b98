"""The documentation site builds without a warning and shows what the library exports."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tooling import site_hooks

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "WARNING" not in output
    return folder


@pytest.mark.parametrize("package", site_hooks.PACKAGES)
def test_each_public_name_has_an_entry(site, package):
    page = (site / site_hooks.reference_page(package)).with_suffix(".html")
    ids = set(re.findall(r'id="([^"]+)"', page.read_text(encoding="utf-8")))
    dotted = ".".join(filter(None, ["estimator_bridge", package]))
    packages = {name for name in site_hooks.PACKAGES if name}
    for name in site_hooks.public_names(dotted):
        inner = ".".join(filter(None, [package, name]))
        if inner not in packages and not name.startswith("_"):
            assert any(element_id.endswith(f".{name}") for element_id in ids), name


def test_an_entry_has_arguments_and_their_meaning(site):
    page = html.unescape((site / "reference" / "tpu.html").read_text(encoding="utf-8"))
    text = re.sub(r"<[^>]+>", "", page)
    assert "train_batch_size" in text
    assert "Raises:" in text


def test_links_between_the_repository_s_pages_work_on_the_site(site):
    start = (site / "index.html").read_text(encoding="utf-8")
    assert 'href="migration.html"' in start
    assert 'href="parity_report.html"' in start
    assert "docs/migration.md" not in re.findall(r'href="([^"]+)"', start)


def test_the_search_works_in_a_folder_and_no_page_asks_another_host(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'<(script|link rel="(stylesheet|preconnect)")[^>]+https?://', text), (
            page
        )
    start = (site / "index.html").read_text(encoding="utf-8")
    assert '<script src="assets/iframe-worker.js"></script>' in start
    assert (site / "assets" / "iframe-worker.js").exists()
    assert (
        (site / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index")
    )


def test_a_link_by_label_to_a_file_that_is_no_page_becomes_plain_text():
    page = "A [program][old], a [page](migration.md), `x[0][old_]`.\n\n[old]: tests/old.py\n"
    assert site_hooks.inline_links(page) == (
        "A [program](tests/old.py), a [page](migration.md), `x[0][old_]`.\n\n"
    )


def test_a_link_to_a_file_that_is_not_there_stops_the_build():
    class Page:
        class file:
            src_uri = "migration.md"

    with pytest.raises(FileNotFoundError, match=r"nowhere\.md, which is not there"):
        site_hooks.on_page_markdown("[a](nowhere.md)", Page, None, Files())


class Files:
    def get_file_from_path(self, path):
        return None
