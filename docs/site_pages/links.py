# SPDX-License-Identifier: BSD-3-Clause
"""Links of pages to files that are no pages, such as ``../data_catalog.yaml``: on the site they are a file's name.

The pages are read where they lie as well, in a checkout, where such a link leads to the file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1].resolve()

_LINK = re.compile(r"\[([^\]]*)\]\(([^)#:\s]+)(#[^)]*)?\)")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`(?!\]))", re.DOTALL | re.MULTILINE)


def lead_out(app: Sphinx, name: str, source: list[str]) -> None:
    """Turn links out of the folder into the words that stand for them."""
    page = Path(app.env.doc2path(name))
    if page.suffix != ".md":
        return

    def as_site(match: re.Match[str]) -> str:
        target = (page.parent / match[2]).resolve()
        if target.is_relative_to(DOCS) and target.suffix in {".md", ".svg", ".png"}:
            return match[0]
        if target.name == "README.md":
            return f"[{match[1]}]({'../' * (len(page.relative_to(DOCS).parts) - 1)}index.md)"
        return match[1] if match[1].startswith("`") else f"{match[1]} (`{target.relative_to(DOCS.parent)}`)"

    parts = _CODE.split(source[0])
    source[0] = "".join(part if part.startswith("`") else _LINK.sub(as_site, part) for part in parts)
