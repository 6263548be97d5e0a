# SPDX-License-Identifier: BSD-3-Clause
"""The search of the site: what people search for leads to the page that answers.

Sphinx finds the pages that have all words of a query, and sorts them hardly at all. So a page is given the words that
people use (``search_words.yaml``), and ``scorer.js`` sorts by them. ``search_questions.yaml`` is asked when the site is
built, by the very code that a browser runs.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]

FIRST = 3
"""Among so many results the page that answers must be."""

_SCRIPTS = ("_static/searchtools.js", "_static/language_data.js", "searchindex.js")
"""What a page of results loads, in this order."""

_BROWSER = """
var window = globalThis;
window.location = { search: "" };
var localStorage = { setItem() {} };
var SPHINX_HIGHLIGHT_ENABLED = false;
var DOCUMENTATION_OPTIONS = {};
var document = { getElementById: () => null, addEventListener() {}, readyState: "loading" };
var _ready = () => {};
var _ = (text) => text;
class URLSearchParams {
  constructor(text) { this.text = text; }
  get(name) { return this.text; }
}
"""
"""As much of a browser as these need; the query stands in ``location.search`` as it is."""

_ASK = """
(query => {
  window.location.search = query;
  return JSON.stringify(Search._performSearch(...Search._parseQuery(query)).reverse().map(each => each[0]));
})
"""


@cache
def words() -> dict[str, list[str]]:
    """Return what people search for, by page."""
    found: dict[str, list[str]] = yaml.safe_load((DOCS / "search_words.yaml").read_text(encoding="utf-8"))
    return found


def questions() -> dict[str, str]:
    """Return questions, and the page that answers each."""
    found: dict[str, str] = yaml.safe_load((DOCS / "search_questions.yaml").read_text(encoding="utf-8"))
    return found


def scorer() -> str:
    """Return the code that sorts results."""
    code = (Path(__file__).parent / "scorer.js").read_text(encoding="utf-8")
    return code.replace("ANSWERS;", f"{json.dumps(words(), indent=1)};")


def add_words(app: Sphinx, name: str, source: list[str]) -> None:
    """Give a page the words that people search for, so that the search finds it by them."""
    if name in words() and Path(app.env.doc2path(name)).suffix == ".md":
        keywords = json.dumps(", ".join(words()[name]))
        source[0] = f"---\nmyst:\n  html_meta:\n    keywords: {keywords}\n---\n\n{source[0]}"


def check(app: Sphinx, exception: Exception | None) -> None:
    """Warn of each question whose page is not among the first, and of words for a page that is none."""
    from sphinx.util.logging import getLogger  # noqa: PLC0415 (tests need no Sphinx)

    if exception is not None or app.builder.name != "html":
        return
    for name in sorted({*words(), *questions().values()} - app.env.found_docs):
        getLogger(__name__).warning("search_words.yaml or search_questions.yaml: there is no page %s", name)
    search = Search(Path(app.outdir))
    for question, page in questions().items():
        found = search.pages(question)[:FIRST]
        if page not in found:
            getLogger(__name__).warning('search for "%s" finds %s before %s', question, found, page)


class Search:
    """The search of a site that was built.

    Parameters
    ----------
    site : Path
        Its folder.
    """

    def __init__(self, site: Path) -> None:
        from py_mini_racer import MiniRacer  # noqa: PLC0415 (only where a site is built)

        self._engine: Any = MiniRacer()
        self._engine.eval(_BROWSER)
        for name in _SCRIPTS:
            self._engine.eval((site / name).read_text(encoding="utf-8"))

    def pages(self, query: str) -> list[str]:
        """Return the pages that a query finds, best first; a page as often as it is found."""
        found: list[str] = json.loads(self._engine.eval(f"{_ASK.strip()}({json.dumps(query)})"))
        return found
