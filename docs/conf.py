# SPDX-License-Identifier: BSD-3-Clause
"""How Sphinx makes the site of these pages: ``make docs``.

The pages are the Markdown of this folder, as it is. Three kinds are written before Sphinx reads any (``site_pages``):
galleries of what is registered, the reference of public names, and links to files that are no pages. They lie in
``docs/made``, which is not kept.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_gallery.sorting import ExplicitOrder

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import swftools  # noqa: E402 (after the path)

logging.getLogger("pipelines").setLevel(logging.WARNING)

project = "swftools"
author = "the swftools developers"
project_copyright = author
release = version = swftools.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["package_index.md", "tutorials/README.rst", "**/sg_execution_times.rst"]
nitpicky = (
    False  # types in signatures are those of numpy and pandas, which are not looked up: it works without a network
)
suppress_warnings = ["config.cache", "ref.python"]  # a word such as "name" is an attribute of several classes

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autodoc_inherit_docstrings = False  # luigi's own would be repeated, and lead nowhere
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

TUTORIALS = [
    "plot_log_to_figure.py",
    "plot_slurm_to_report.py",
    "plot_own_policy.py",
    "plot_learning.py",
    "plot_nightly.py",
]
sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "made/tutorials",
    "ignore_pattern": r"(__init__|my_policies)\.py",
    "within_subsection_order": ExplicitOrder(TUTORIALS),
    "show_memory": False,
    "ignore_repr_types": r"matplotlib\..*",  # a picture is shown, not how its axes are called
    "download_all_examples": False,
    "abort_on_example_error": True,
    "min_reported_time": 0,
    "write_computation_times": False,
}

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["dark.css"]
html_title = f"swftools {release}"
html_show_sourcelink = False
html_copy_source = False


def setup(app: Sphinx) -> None:
    """Write the pages that are made, before any is read; give links to files their place; see that no page is lost."""
    from site_pages import galleries, links, reference, titles, tutorial_pictures

    galleries.write(HERE / "made" / "galleries")
    reference.write(HERE / "made" / "reference")
    app.connect("source-read", links.lead_out)
    app.connect("build-finished", titles.check)
    app.connect("build-finished", tutorial_pictures.check)
