# SPDX-License-Identifier: BSD-3-Clause
"""The site of the documentation: what it makes from the code, and that examples keep to public names.

``make docs`` builds it, where a link that leads nowhere and a page without a place are errors.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

import pipelines  # noqa: F401 (luigi takes its configuration from the directory where it is first imported)
from pipelines.papers import list_papers
from swftools.cleaning import CleaningReport, list_rules
from swftools.formats import list_formats
from swftools.market import list_mechanisms
from swftools.parameters import Parameters, number, whole
from swftools.plots import kinds_of_pictures, list_pictures
from swftools.qbets import list_bounds, list_rivals
from swftools.simulator import list_policies, list_predictors
from tests.folders import ROOT
from tests.pages import DOCS, PAGES, README, blocks_of

sys.path.append(str(DOCS))

from site_pages import drawn, galleries, links, policy_facts, reference, titles, tutorial_pictures, written

EXAMPLES = [*sorted((ROOT / "examples").rglob("*.py")), *sorted((DOCS / "tutorials").glob("*.py"))]


def _sources() -> Iterator[tuple[Path, str]]:
    """Yield the code that users are shown."""
    for page in [*PAGES, README]:
        for _, block in blocks_of(page):
            yield page, block
    for path in EXAMPLES:
        yield path, path.read_text(encoding="utf-8")


def _imported(source: str) -> Iterator[tuple[str, str]]:
    """Yield what is imported from the packages here: the module, and the name in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in {"swftools", "pipelines"}:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (
                (alias.name, "") for alias in node.names if alias.name.split(".")[0] in {"swftools", "pipelines"}
            )


def test_examples_use_public_names() -> None:
    """What users are shown is imported from public packages, and is public there."""
    public = {package: {"", *reference.public_names(package)} for package in reference.PACKAGES}
    private = {
        (str(path.relative_to(ROOT)), module, name)
        for path, source in _sources()
        for module, name in _imported(source)
        if name not in public.get(module, ())
    }
    assert private == set()


@pytest.mark.parametrize("package", reference.PACKAGES)
def test_public_names_are_there_and_described(package: str) -> None:
    """Each can be had, stands at most two deep, and has a docstring of its own."""
    assert package.count(".") <= 1
    module = importlib.import_module(package)
    for name in reference.public_names(package):
        each = getattr(module, name)
        if inspect.isroutine(each) or inspect.isclass(each):
            assert written.first_paragraph(each.__doc__), f"{package}.{name}"


@pytest.mark.parametrize(
    ("gallery", "names"),
    [
        (
            "policies",
            [name for name, each in list_policies().items() if each.decide.__module__.startswith("swftools.")],
        ),
        ("predictors", [*list_predictors()]),
        ("bounds", [*list_bounds(), *list_rivals()]),
        ("formats", [*list_formats()]),
        ("price_mechanisms", [*list_mechanisms()]),
        ("papers", [*list_papers()]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_gallery_has_all_that_is_registered(gallery: str, names: Any) -> None:
    """A section each, with a sentence."""
    page = galleries.GALLERIES[gallery]()
    sections = {part.split("\n", 1)[0]: part.split("\n", 1)[1].strip() for part in page.split("\n## ")[1:]}
    assert set(names) <= set(sections)
    assert [] == [name for name in names if len(sections[name]) < 20]


def test_cleaning_rules_are_all_there() -> None:
    """Those that must be asked for say so."""
    page = galleries.GALLERIES["cleaning_rules"]()
    assert all(f"## {name}" in page for name in list_rules())
    assert "## flurries (asked for by name)" in page
    assert "## duplicates\n" in page


def test_every_gallery_is_listed() -> None:
    """The page of galleries leads to each."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    assert [] == [name for name in galleries.GALLERIES if f"made/galleries/{name}\n" not in text]


@dataclass(frozen=True)
class Oven(Parameters):
    """Parameters of an oven.

    Parameters
    ----------
    heat, most : float
        How hot it is, and may be,
        degrees; 1 | 2.
    loaves : int
        Loaves of ``bread``.

    Attributes
    ----------
    door : str
        Not a parameter.
    """

    heat: float = number(180.0)
    most: float = number(250.0)
    loaves: int = whole(1)


def test_parameters_with_their_meanings() -> None:
    """Name, default and the docstring's words, whatever stands on several lines."""
    assert galleries.of_parameters(Oven, ["most"]).splitlines() == [
        "| parameter | default | meaning |",
        "| --- | --- | --- |",
        r"| `heat` | `180.0` | How hot it is, and may be, degrees; 1 \| 2. |",
        "| `loaves` | `1` | Loaves of `bread`. |",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[slurm](formats/slurm.md#x)", "[slurm](formats/slurm.md#x)"),
        ("[the cron line](../examples/reevaluate/crontab)", "the cron line (`examples/reevaluate/crontab`)"),
        ("[`luigi.cfg`](../luigi.cfg)", "`luigi.cfg`"),
        ("[it](../README.md)", "[it](index.md)"),
        ("[far](https://example.org/x.html)", "[far](https://example.org/x.html)"),
        ("`[a](b)` and\n```\n[a](../luigi.cfg)\n```\n", "`[a](b)` and\n```\n[a](../luigi.cfg)\n```\n"),
    ],
)
def test_links_out_of_the_folder(text: str, expected: str) -> None:
    """A link to no page becomes words; code stays as it is."""
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda name: str(DOCS / f"{name}.md")))
    source = [text]
    links.lead_out(app, "operation", source)  # type: ignore[arg-type]
    assert source == [expected]


def test_pages_are_written_only_where_they_change(tmp_path: Path) -> None:
    """An equal page keeps its time; a page of another name goes."""
    written.write_pages(tmp_path, {"a.md": "a", "b.md": "b"})
    before = (tmp_path / "a.md").stat().st_mtime_ns
    written.write_pages(tmp_path, {"a.md": "a", "c.md": "c"})
    assert (tmp_path / "a.md").stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "c.md"]


def test_a_page_that_sphinx_writes_over_is_found(tmp_path: Path) -> None:
    """Such as search.html, which is Sphinx's own: the file is there, but not the page."""
    html = '<h1>A &amp; <code>B</code><a class="headerlink" href="#a">#</a></h1>'
    (tmp_path / "kept.html").write_text(html, encoding="utf-8")
    (tmp_path / "search.html").write_text("<h1>Search</h1>", encoding="utf-8")
    assert titles.lost({"kept": "A & B", "search": "Search", "none": "C"}, tmp_path) == ["search", "none"]


def test_tutorials_show_pictures() -> None:
    """An image of the tutorial itself, not that of a thumbnail elsewhere, and no name of axes; each draws something."""
    shown = '<img src="../../_images/sphx_glr_plot_nightly_001.png" alt="x">'
    assert tutorial_pictures.fault(f"<p>{shown}</p>") == ""
    assert tutorial_pictures.fault('<img src="../../_images/sphx_glr_plot_nightly_thumb.png">') == "shows no picture"
    assert "name of axes" in tutorial_pictures.fault(f"{shown}<pre>&lt;Axes: xlabel=...&gt;</pre>")
    for path in (DOCS / "tutorials").glob("plot_*.py"):
        source = path.read_text(encoding="utf-8")
        assert re.search(r"\bplots\.plot\(|\.plot\(\"", source), path.name


def test_gallery_of_pictures_shows_them() -> None:
    """Each picture there is, once, with its call; of tables with where they come from."""
    page = galleries.GALLERIES["pictures"]()
    shown = re.findall(r"!\[[^]]+\]\(\.\./pictures/([\w-]+)\.png\)", page)
    known = [(kind.__name__.lower(), name) for kind in kinds_of_pictures() for name in list_pictures(kind)]
    assert sorted(shown) == sorted(f"{kind}-{name}" for kind, name in known)
    assert '`trace.plot("load")` or `swftools plot LOG --picture load`.' in page
    assert '`swftools.plots.plot(TABLE, "told")`, where TABLE is `replay(trace)`.' in page
    assert set(drawn.TABLES) == set(list_pictures(pd.DataFrame))


def test_pictures_are_drawn_when_what_draws_them_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are there and newer stay; one that is older is drawn anew, and a file of no picture goes."""
    monkeypatch.setattr(drawn, "Excerpt", lambda: SimpleNamespace(report=CleaningReport.__new__(CleaningReport)))
    made: list[str] = []
    axes = Figure().add_subplot()
    monkeypatch.setattr(drawn, "plot", lambda subject, name: made.append(name) or axes)
    monkeypatch.setattr(drawn, "SUBJECTS", {CleaningReport: lambda log, name: log.report})
    (tmp_path / "gone.png").write_bytes(b"")
    for _ in range(2):
        drawn.draw(tmp_path)
    assert made == ["balance"]
    assert [path.name for path in tmp_path.iterdir()] == ["cleaningreport-balance.png"]
    assert (tmp_path / "cleaningreport-balance.png").read_bytes().startswith(b"\x89PNG")
    os.utime(tmp_path / "cleaningreport-balance.png", (0, 0))
    drawn.draw(tmp_path)
    assert made == ["balance"] * 2


def test_gallery_of_policies_says_when_and_from_where() -> None:
    """Each that is shipped: when to use it, what it promises, and its paper."""
    shipped = {name: each for name, each in list_policies().items() if each.module.startswith("swftools.")}
    assert all(policy.when.endswith(".") for policy in shipped.values())
    assert all(policy_facts.paper(policy) for policy in shipped.values())
    page = galleries.GALLERIES["policies"]()
    for line in ("**When**", "**Promises**", "**From**"):
        assert page.count(f"\n{line} ") == len(shipped)
    assert "**Promises** `reservation` ([checked]" in page
    assert "`strict-fairness` with `slp=true`, `order=fcfs`" in page
