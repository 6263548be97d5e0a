# SPDX-License-Identifier: BSD-3-Clause
"""The pages under ``docs``: their Python blocks run, and what they claim of the code is so.

The blocks of a page run in order, in one namespace, in a directory of their own. They are checked by the asserts in
them. A block that begins with the name of a module, such as ``# my_rules.py``, becomes that file instead.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from pathlib import Path

import pytest

import pipelines  # noqa: F401 (luigi takes its configuration from the directory where it is first imported)
import swftools
from pipelines.papers import paper as papers
from pipelines.tasks.augmentations.checkpoints import SurveyedCheckpoints
from pipelines.tasks.augmentations.registry import AUGMENTATIONS
from swftools.cleaning import DEFAULT_RULES, list_rules
from swftools.cleaning import registry as cleaning_registry
from swftools.drift import registry as drift_registry
from swftools.formats import registry as format_registry
from swftools.market import registry as market_registry
from swftools.models.arrivals import ArrivalParameters
from swftools.models.cirne_berman import CirneBermanParameters
from swftools.models.lublin_feitelson import LublinFeitelsonParameters
from swftools.models.moldability import SpeedupParameters
from swftools.models.requested_times import RequestedTimeParameters
from swftools.models.tightened_requests import TighteningParameters
from swftools.parameters import Parameters
from swftools.plots import picture as pictures
from swftools.qbets.bounds import registry as bound_registry
from swftools.qbets.rivals import registry as rival_registry
from swftools.simulator import list_policies
from swftools.simulator import registry as policy_registry
from swftools.simulator.predictors import registry as predictor_registry
from swftools.simulator.search import measures as search_measures
from swftools.utility.model import UtilityParameters
from tests.cleaning.known_counts import COUNTS, FLAGGED
from tests.pages import DOCS, PAGES, README, blocks_of, table_on_page, tables_on_page

_MODULE = re.compile(r"# (\w+\.py)\n")
_LINK = re.compile(r"\]\(([^)#:]+)(#[^)]*)?\)")


LONG = {
    *("add_a_cleaning_rule", "add_a_policy", "checkpoints_under_failures", "console", "data_sets", "drift", "energy"),
    *("experiments", "goal_search", "histories", "learning", "machines", "pictures", "predict", "predictors"),
    *("pv_easy", "qbets", "reservations", "stepping", "utility", "validation", "wait_predictors", "workload_models"),
}
"""Pages whose blocks run for a second or more: by day these are compiled, and import what there is."""

WITH_BLOCKS = [page for page in PAGES if any(blocks_of(page))]


def test_long_pages_are_there() -> None:
    """None is named that has no blocks."""
    assert LONG <= {page.stem for page in WITH_BLOCKS}


@pytest.mark.parametrize("page", [page for page in WITH_BLOCKS if page.stem in LONG], ids=lambda page: page.stem)
def test_blocks_import_what_there_is(page: Path) -> None:
    """Every block is Python, and each name that it imports of ours is there; so are attributes of ours."""
    for line, block in blocks_of(page):
        tree = compile("\n" * line + block, str(page), "exec", ast.PyCF_ONLY_AST)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] in ("swftools", "pipelines"):
                module = importlib.import_module(str(node.module))
                for alias in node.names:
                    if not hasattr(module, alias.name):
                        importlib.import_module(f"{node.module}.{alias.name}")
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "swftools":
                assert hasattr(swftools, node.attr), node.attr


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow) if page.stem in LONG else page for page in WITH_BLOCKS],
    ids=lambda page: page.stem,
)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block of the page runs, and its asserts hold."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(cleaning_registry, "_RULES", list_rules())  # what a page registers is gone with it
    registries = (policy_registry.POLICIES, predictor_registry.PREDICTORS, bound_registry.BOUNDS)
    registries = (*registries, rival_registry.RIVALS, format_registry.FORMATS, drift_registry.STATISTICS)
    registries = (
        *registries,
        market_registry.MECHANISMS,
        search_measures.PLANNED_MEASURES,
        papers.PAPERS,
        *pictures.PICTURES.values(),
    )
    for names in registries:
        monkeypatch.setattr(names, "known", dict(names.known))
        monkeypatch.setattr(names, "_sources", dict(names._sources))
    namespace: dict[str, object] = {"__name__": "docs"}
    for line, block in blocks_of(page):
        if module := _MODULE.match(block):
            (tmp_path / module[1]).write_text(block, encoding="utf-8")
            monkeypatch.delitem(sys.modules, module[1].removesuffix(".py"), raising=False)
        else:
            exec(compile("\n" * line + block, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", [*PAGES, README], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    """A link to a file of the project names one that is there; links to what the site makes are tried with the site."""
    links = [match[1] for match in _LINK.finditer(page.read_text(encoding="utf-8"))]
    assert [] == [link for link in links if not link.startswith("made/") and not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_are_closed(page: Path) -> None:
    """Every code block ends, so that none is taken for text."""
    assert 0 == page.read_text(encoding="utf-8").count("```") % 2


def test_page_of_cleaning_has_every_rule() -> None:
    """The table has every rule, the default ones first and in their order."""
    names = list(table_on_page("cleaning.md", "rule"))
    assert list(DEFAULT_RULES) == names[: len(DEFAULT_RULES)]
    assert set(list_rules()) == set(names)


def test_page_of_cleaning_has_the_counts() -> None:
    """The counts are those that the tests of cleaning hold against the logs."""
    columns = ["SDSC-BLUE-2000-4.2-cln", "CTC-SP2-1996-3.1-cln", "SDSC-DS-2004-2.1-cln", "SDSC-SP2-1998-4.2-cln"]
    columns += ["KTH-SP2-1996-2.1-cln", "SDSC-BLUE-2000-4.2-cln-5000-9999"]
    table = table_on_page("cleaning.md", "rule")
    for rule in DEFAULT_RULES:
        kinds = [
            dict(zip(FLAGGED, COUNTS[name][2], strict=True)) | {"missing-processors": COUNTS[name][1]}
            for name in columns
        ]
        assert [f"{counts.get(rule, 0):,}" for counts in kinds] == table[rule][1:]


@pytest.mark.parametrize(
    ("page", "parameters"),
    [
        ("utility.md", UtilityParameters),
        ("checkpoints.md", SurveyedCheckpoints),
        ("arrivals.md", ArrivalParameters),
        ("moldable.md", SpeedupParameters),
        ("estimates.md", RequestedTimeParameters),
        ("estimates.md", TighteningParameters),
        ("workload_models.md", LublinFeitelsonParameters),
        ("workload_models.md", CirneBermanParameters),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_page_has_every_parameter(page: str, parameters: type[Parameters]) -> None:
    """A table of parameters has each of them, in order."""
    tables = tables_on_page(page, "parameter")
    assert parameters.names() in [[name.strip("`") for row in table for name in row.split("`, `")] for table in tables]


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_an_augmentation_has_a_page_with_a_picture(name: str) -> None:
    """The table of augmentations leads to a page with a picture from real data."""
    (link,) = re.findall(
        rf"^\| \[`{name}`\]\((\w+\.md)", (DOCS / "console.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert f"](pictures/{name}.svg)" in (DOCS / link).read_text(encoding="utf-8")


def test_page_of_the_simulator_has_every_policy() -> None:
    """The table has each policy, with its parameters."""
    rows = {
        name.strip("`"): row[0]
        for names, row in table_on_page("simulator.md", "policy").items()
        for name in names.split("`, `")
    }
    ours = {
        name: ", ".join(f"`{parameter}`" for parameter in policy.parameters.names() if parameter not in policy.fixed)
        for name, policy in list_policies().items()
        if policy.module.startswith("swftools.")
    }
    assert ours == rows
