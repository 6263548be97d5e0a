# SPDX-License-Identifier: BSD-3-Clause
"""Pages that answer: what newcomers ask, and what papers' tables show. Each line leads somewhere that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipelines.cli.main import main
from pipelines.papers import find_paper
from tests.pages import DOCS

QUESTIONS = (DOCS / "questions.md").read_text(encoding="utf-8")
FINDINGS = (DOCS / "reproduction.md").read_text(encoding="utf-8")


def links_of(text: str) -> list[tuple[str, str]]:
    """Return the page and the anchor of each link to another page."""
    found = re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text)
    return [(page, anchor) for page, anchor in found if page or anchor]


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as MyST and forges make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_there(page: str, anchor: str, of: str) -> bool:
    """Whether a link leads to a page, and to a heading on it; pages that are made when the site is built count."""
    if page.startswith("made/"):
        return True
    path = DOCS / (page or of)
    return path.exists() and (not anchor or anchor in anchors_of(path))


@pytest.mark.parametrize("name", ["questions.md", "reproduction.md"])
def test_links_lead_somewhere(name: str) -> None:
    """To a page, and where they name a heading, to that."""
    found = links_of((DOCS / name).read_text(encoding="utf-8"))
    assert len(found) > 20
    assert [] == [link for link in found if not is_there(*link, name)]


def test_a_wrong_link_would_be_seen() -> None:
    """To no page, or to no heading of it."""
    assert not is_there("no_such_page.md", "", "questions.md")
    assert not is_there("logs.md", "no-such-heading", "questions.md")
    assert is_there("logs.md", "names", "questions.md")


def test_each_question_has_an_answer() -> None:
    """Some words, and a page that says more or a command."""
    parts = re.split(r"^### (.*)$", QUESTIONS, flags=re.MULTILINE)[1:]
    answers = dict(zip(parts[::2], parts[1::2], strict=True))
    assert len(answers) >= 20
    lacking = [question for question, answer in answers.items() if not links_of(answer) and "`swftools " not in answer]
    assert lacking == []


def test_ten_questions_are_found_by_one_search() -> None:
    """The words are in the heading of the question, and the site's search looks at headings first."""
    headings = set(re.findall(r"^### (.*)$", QUESTIONS, re.MULTILINE))
    searches = re.findall(r"^\| `([^`|]*)` \| (.*) \|$", QUESTIONS, re.MULTILINE)
    assert len(searches) >= 10
    for words, question in searches:
        assert question in headings
        assert words in question


def test_questions_name_commands_that_there_are() -> None:
    """So that the answer can be typed."""
    named = set(re.findall(r"`swftools ([a-z-]+)", QUESTIONS))
    assert named
    assert named <= set(main.commands)


def test_questions_are_one_click_from_the_start() -> None:
    """An answer is two clicks away, and the page that says more three."""
    start = (DOCS / "index.md").read_text(encoding="utf-8")
    assert {("questions.md", ""), ("glossary.md", ""), ("reproduction.md", "")} <= {
        *links_of(start),
        *links_of((DOCS / "researchers.md").read_text(encoding="utf-8")),
    }


def test_each_finding_names_its_table() -> None:
    """A paper, and a table that it has, in the command beside the link."""
    lines = re.findall(r"^\| (?:yes|no|beyond) \|.*$", FINDINGS, re.MULTILINE)
    assert len(lines) >= 30
    for line in lines:
        command = line.rsplit("`", 2)[1]
        if command.startswith("(swftools "):  # an answer by another command
            assert command.strip("()").split()[1] in main.commands
            continue
        name, *rest = command.split(" --table ")
        paper = find_paper(name)
        assert not rest or rest[0] in {table.number for table in paper.tables}, line
        if rest:
            assert f"reproduction/{name}.md#" in line


def test_every_paper_has_findings_of_each_kind() -> None:
    """What reproduces, what does not, and what was learnt beyond it."""
    for section in FINDINGS.split("\n## ")[1:6]:
        kinds = set(re.findall(r"^\| ([^|-]+) \|", section, re.MULTILINE))
        assert kinds == {"yes", "no", "beyond"}, section.split("\n")[0]
