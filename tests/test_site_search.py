# SPDX-License-Identifier: BSD-3-Clause
"""The search, as a browser runs it, on a small site; the questions of the real one are asked by ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from tests.pages import DOCS

sys.path.append(str(DOCS))

from site_pages import search

PAGES = {
    "index.md": "# All\n\n```{toctree}\nmetrics\ninstall\nnights\nmade/paper\nmade/slowdown\n```\n",
    "metrics.md": "# Measures of schedules\n\nAmong them is the bounded slowdown.\n",
    "install.md": "# Installing it\n\nIn a container.\n",
    "nights.md": "# Nightly runs\n\nA picture of all that is installed.\n",
    "made/paper.md": "# A paper\n\nBounded slowdown, slowdown bounded.\n\n## Bounded slowdown\n\nBounded.\n",
    "made/slowdown.md": "# Slowdown\n\nBounded.\n",
}
WORDS = {"metrics": ["bounded slowdown"], "install": ["docker", "how do I install it"], "nights": ["dashboard, charts"]}


def build(folder: Path, questions: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Sphinx:
    """Build a site of these pages, and ask it."""
    source = folder / "docs"
    for name, text in PAGES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    monkeypatch.setattr(search, "words", lambda: WORDS)
    monkeypatch.setattr(search, "questions", lambda: questions)
    (source / "scorer.js").write_text(search.scorer())
    settings = {"extensions": ["myst_parser"], "html_search_scorer": str(source / "scorer.js")}
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            source, None, folder / "site", folder / "trees", "html", settings, status=None, warning=None, freshenv=True
        )
        app.connect("source-read", search.add_words)
        app.connect("build-finished", search.check)
        app.build()
    return app


def test_a_page_that_answers_comes_before_those_that_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By words that are not on the page; and where a made page has them in its heading."""
    app = build(tmp_path, {}, monkeypatch)
    site = search.Search(Path(app.outdir))
    assert site.pages("bounded slowdown")[0] == "metrics"
    assert set(site.pages("Bounded Slowdown")) == {"metrics", "index", "made/paper", "made/slowdown"}
    assert site.pages("slowdown")[0] == "metrics"
    assert site.pages("bounded")[-1].startswith("made/")
    assert site.pages("docker") == ["install"]
    assert site.pages("how do I install it?")[0] == "install"
    assert site.pages("installed")[0] == "install"
    assert site.pages("dashboard") == ["nights"]
    assert site.pages("nothing of this") == []
    assert (app.statuscode, app._warncount) == (0, 0)


@pytest.mark.parametrize(
    ("questions", "count"),
    [({"bounded slowdown": "metrics", "docker": "install"}, 0), ({"docker": "metrics"}, 1), ({"docker": "gone"}, 2)],
)
def test_a_question_that_is_not_answered_is_a_warning(
    questions: dict[str, str], count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which fails the build; so does a page that is none."""
    assert build(tmp_path, questions, monkeypatch)._warncount == count


def test_twenty_questions_are_asked() -> None:
    """Of other pages each, most of them; and of each word that people missed."""
    asked = search.questions()
    assert len(asked) >= 20
    assert len(set(asked.values())) >= 15
    missed = {"bounded slowdown", "how long will my job wait", "fair share", "fairshare", "docker", "dashboard"}
    assert missed | {"more nodes", "partition"} <= set(asked)


def test_words_are_put_before_a_page() -> None:
    """As what Sphinx takes for keywords; a page without words, and one that is no Markdown, stay as they are."""

    class App:
        class env:  # noqa: N801 (its name in Sphinx)
            doc2path = staticmethod(lambda name: f"{name}.md" if name != "install" else "install.rst")

    for name, is_changed in (("predict", True), ("install", False), ("no page of ours", False)):
        source = ["# Title\n"]
        search.add_words(App, name, source)  # type: ignore[arg-type]
        assert (source[0] != "# Title\n") is is_changed
        assert source[0].endswith("# Title\n")
