# SPDX-License-Identifier: BSD-3-Clause
"""The pages of papers as the site has them: made from the tables that are kept, not kept themselves."""

from __future__ import annotations

import sys

from pipelines.papers import find_paper
from tests.pages import DOCS

sys.path.append(str(DOCS))

from site_pages import reproduction


def paper_page(name: str) -> str:
    """Return the page of a paper."""
    return reproduction.page_of(find_paper(name), reproduction.TABLES / f"{name}.csv")
