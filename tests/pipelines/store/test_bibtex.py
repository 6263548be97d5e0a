# SPDX-License-Identifier: BSD-3-Clause
"""Citations in words as entries of BibTeX, drawn by hand; text that LaTeX takes."""

from __future__ import annotations

import pytest

from pipelines.store.bibtex import Reference, bibtex_text, escaped, organisation, reference_of, references_of_version

ARCHIVE = (
    "D. G. Feitelson, D. Tsafrir, D. Krakov: Experience with using the Parallel Workloads Archive. "
    "Journal of Parallel and Distributed Computing 74(10), 2967-2982, 2014"
)
DISSERTATION = "D. C. Nurmi: Statistical methods. Dissertation, University of California, Santa Barbara, 2009"
TALK = "Y. Yuan, G. Yang: PV-EASY: a strict scheduler. 19th ACM Symposium (HPDC), 2010"


def test_an_article() -> None:
    """With journal, volume, number and pages; BibTeX writes a range with two dashes."""
    assert (
        bibtex_text([reference_of(ARCHIVE)])
        == """\
@article{feitelson2014,
  author = {D. G. Feitelson and D. Tsafrir and D. Krakov},
  title = {{Experience with using the Parallel Workloads Archive}},
  journal = {Journal of Parallel and Distributed Computing},
  volume = {74},
  number = {10},
  pages = {2967--2982},
  year = {2014},
}
"""
    )


@pytest.mark.parametrize(
    ("citation", "kind", "key", "fields"),
    [
        (DISSERTATION, "phdthesis", "nurmi2009", {"school": "University of California, Santa Barbara"}),
        (TALK, "inproceedings", "yuan2010", {"author": "Y. Yuan and G. Yang", "title": "PV-EASY: a strict scheduler"}),
        ("Zoë 2026", "misc", "20262026", {"title": "Zoë 2026", "year": "2026"}),
        ("see the site's page", "misc", "page", {"title": "see the site's page"}),
        ("Lee, C. B.: A title. A journal 3, 1-2, 2009", "article", "lee2009", {"author": "{Lee, C. B.}"}),
    ],
)
def test_kinds(citation: str, kind: str, key: str, fields: dict[str, str]) -> None:
    """What has not the form of a citation is kept whole; names in another order are not taken apart."""
    found = reference_of(citation)
    assert (kind, key, citation) == (found.kind, found.key, found.text)
    assert fields.items() <= found.fields.items()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            r"a & b % c_d {e} $f #g ~h ^i \j",
            r"a \& b \% c\_d \{e\} \$f \#g "
            r"\textasciitilde{}h \textasciicircum{}i \textbackslash{}j",
        ),
        ("Zoë Łukasz Åse Čapek Ñ ï Øre ß", r"Zo{\"e} {\L}ukasz {\r A}se {\v C}apek {\~N} {\"\i} {\O}re {\ss}"),
        ("Zoe\N{COMBINING DIAERESIS}", r"Zo{\"e}"),
        ("1–2 “x”", "1--2 ``x''"),  # noqa: RUF001 (the dash that people type)
        ("東京", "東京"),
        ("night\x1b[2J", r"night\textbackslash{}x1b[2J"),
        ("two\n  lines", "two lines"),
    ],
)
def test_text_for_latex(text: str, shown: str) -> None:
    """Letters with accents by commands, what a terminal would obey as Python writes it, others as they are."""
    assert shown == escaped(text)


def test_addresses_are_verbatim() -> None:
    """A percent sign of an address stays; a brace would end the field."""
    entry = Reference("misc", "a b,c}", {"url": "https://x.org/a_b?c=1%20&d={e}"}, "x")
    assert "@misc{a-b-c-,\n  url = {https://x.org/a_b?c=1%20&d=%7Be%7D},\n}\n" == bibtex_text([entry])


def test_two_works_of_a_year_have_two_keys() -> None:
    """The same work twice is one entry."""
    text = bibtex_text([reference_of(ARCHIVE), reference_of(ARCHIVE), reference_of(f"A. Feitelson: {ARCHIVE[41:]}")])
    assert ["@article{feitelson2014,", "@article{feitelson2014a,"] == [
        line for line in text.splitlines() if line.startswith("@")
    ]


def test_notes_are_no_entries() -> None:
    """BibTeX reads an @ wherever it stands; lines end at 80 columns."""
    text = bibtex_text([reference_of(ARCHIVE)], ["ask ann@site.org " + "word " * 30])
    assert text.startswith("% ask ann(at)site.org word")
    assert 80 >= max(map(len, text.splitlines()))
    assert text.count("@") == 1


def test_a_version_is_cited_with_its_logs() -> None:
    """By the site, as one name; a log without a citation has none."""
    manifest = {
        "data_set": "blue",
        "version": "5186",
        "sources": [
            {"log": {"name": "one", "key": "ab"}, "citation": ARCHIVE, "installation": "Sand and Sea"},
            {"log": {"name": "two", "key": "cd"}, "installation": "Sand and Sea"},
        ],
    }
    own, asked = references_of_version(manifest, 2026)
    assert ("blue-5186", {"author": "{Sand and Sea}", "year": "2026"}) == (
        own.key,
        {name: own.fields[name] for name in ("author", "year")},
    )
    assert "Version 5186, made by swftools of one (sha256 ab), two (sha256 cd)" == own.fields["note"]
    assert "author = {{Sand and Sea}}," in bibtex_text([own])
    two = Reference("misc", "x", {"author": f"{organisation('A {b} & C')} and D. Éa and {organisation('E')}"}, "x")
    assert r"author = {{A b \& C} and D. {\'E}a and {E}}," in bibtex_text([two])
    assert ARCHIVE == asked.text
