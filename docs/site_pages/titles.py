# SPDX-License-Identifier: BSD-3-Clause
"""Whether each page is in its file on the site: Sphinx writes pages too, such as search.html, and does not warn."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_TITLE = re.compile(r"<h1[^>]*>(.*?)<a class=\"headerlink\"", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


def check(app: Sphinx, exception: Exception | None) -> None:
    """Warn of each page whose file on the site has another title: it was written over."""
    from sphinx.util.logging import getLogger  # noqa: PLC0415 (tests need no Sphinx)

    if exception is not None or app.builder.name != "html":
        return
    titles = {name: title.astext() for name, title in app.env.titles.items()}
    for name in lost(titles, Path(app.outdir)):
        getLogger(__name__).warning("%s.html is not this page: give the page another name", name, location=name)


def lost(titles: dict[str, str], site: Path) -> list[str]:
    """Return the pages whose HTML is not there or has another title."""
    return [name for name, title in titles.items() if _title_of(site / f"{name}.html") != _plain(title)]


def _title_of(page: Path) -> str | None:
    found = _TITLE.search(page.read_text(encoding="utf-8")) if page.exists() else None
    return None if found is None else _plain(unescape(_TAG.sub("", found[1])))


def _plain(title: str) -> str:
    return " ".join(title.split())
