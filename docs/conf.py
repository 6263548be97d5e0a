# SPDX-License-Identifier: BSD-3-Clause
"""How Sphinx makes the site of these pages: ``make docs``.

The pages are the Markdown of this folder, as it is. Others are written before Sphinx reads any (``site_pages``):
galleries of what is registered, the reference of public names, the dictionary of columns, and papers' tables. They lie
in ``docs/made``, which is not kept. ``search_words.yaml`` has what people search for, ``redirects.yaml`` pages that
moved.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
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
    "sphinx_reredirects",
]
exclude_patterns = ["tutorials/README.rst", "**/sg_execution_times.rst"]
redirects = yaml.safe_load((HERE / "redirects.yaml").read_text(encoding="utf-8"))
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
    "plot_gpu_cluster.py",
    "plot_broken_rack.py",
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
html_search_scorer = str(HERE / "made" / "scorer.js")


def setup(app: Sphinx) -> None:
    """Write the pages that are made, before any is read; give links to files their place; see that no page is lost."""
    from site_pages import galleries, links, moved, reference, reproduction, search, titles, tutorial_pictures
    from site_pages.written import write_file

    from swftools.fields.generate import data_dictionary

    galleries.write(HERE / "made" / "galleries")
    reference.write(HERE / "made" / "reference")
    reproduction.write(HERE / "made" / "reproduction")
    write_file(HERE / "made" / "data_dictionary.md", data_dictionary())
    write_file(HERE / "made" / "scorer.js", search.scorer())
    app.connect("source-read", links.lead_out)
    app.connect("source-read", search.add_words)
    app.connect("build-finished", search.check)
    app.connect("build-finished", moved.check)
    app.connect("build-finished", titles.check)
    app.connect("build-finished", tutorial_pictures.check)
