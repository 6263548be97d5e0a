# SPDX-License-Identifier: BSD-3-Clause
"""Citations as BibTeX: entries made of what cards and papers say in words, and text that LaTeX takes.

A citation in words is AUTHORS: TITLE. WHERE, YEAR. What does not have that form becomes an entry of kind misc that
holds all of it, so nothing of a citation is ever lost.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from string import ascii_lowercase
from typing import Any
from urllib.parse import quote

from pipelines.store.readme import sources_of
from swftools.output.shown_text import shown

_WIDTH = 80
_FORM = re.compile(r"(?P<author>[^:]+): (?P<title>.+?[^A-Z])\. (?P<where>.+), (?P<year>[12][0-9]{3})\.?")
_ARTICLE = re.compile(r"(?P<journal>.+?) (?P<volume>[0-9]+)(\((?P<number>[0-9-]+)\))?(, (?P<pages>[0-9]+(-[0-9]+)?))?")
_NAME = re.compile(r"[^\W\d_]{2}")
"""What a name has that initials have not."""
_BETWEEN = re.compile(r" and (?![^{]*\})")
"""What parts authors; an organisation's name, in braces, may have an "and" of its own."""
_THESIS = re.compile(r"(Dissertation|Ph\.? ?D\.? thesis), (?P<school>.+)", re.IGNORECASE)

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "ß": r"{\ss}",
    "æ": r"{\ae}",
    "Æ": r"{\AE}",
    "œ": r"{\oe}",
    "Œ": r"{\OE}",
    "ø": r"{\o}",
    "Ø": r"{\O}",
    "ł": r"{\l}",
    "Ł": r"{\L}",
    "\N{LATIN SMALL LETTER DOTLESS I}": r"{\i}",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{LEFT SINGLE QUOTATION MARK}": "`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "“": "``",
    "”": "''",
}
_ACCENTS = {
    "\N{COMBINING GRAVE ACCENT}": "`",
    "\N{COMBINING ACUTE ACCENT}": "'",
    "\N{COMBINING CIRCUMFLEX ACCENT}": "^",
    "\N{COMBINING TILDE}": "~",
    "\N{COMBINING MACRON}": "=",
    "\N{COMBINING DIAERESIS}": '"',
    "\N{COMBINING DOT ABOVE}": ".",
    "\N{COMBINING CEDILLA}": "c ",
    "\N{COMBINING CARON}": "v ",
    "\N{COMBINING BREVE}": "u ",
    "\N{COMBINING RING ABOVE}": "r ",
    "\N{COMBINING OGONEK}": "k ",
    "\N{COMBINING DOUBLE ACUTE ACCENT}": "H ",
}
_VERBATIM = ("url",)


@dataclass(frozen=True)
class Reference:
    """An entry of a bibliography.

    Parameters
    ----------
    kind : str
        As BibTeX has them: article, phdthesis, inproceedings, misc.
    key : str
        By which it is cited.
    fields : mapping of str to str
        As they are read by people, not yet escaped; several authors are joined by `` and ``.
    text : str
        The citation in words.
    """

    kind: str
    key: str
    fields: Mapping[str, str]
    text: str
    is_whole: frozenset[str] = field(default_factory=lambda: frozenset({"title"}))
    """Fields whose capitals and names BibTeX must leave alone."""


def reference_of(citation: str) -> Reference:
    """Return the entry of a citation in words."""
    text = " ".join(citation.split())
    found = _FORM.fullmatch(text)
    if found is None:
        year = re.findall(r"\b[12][0-9]{3}\b", text)
        fields = {"title": text} | ({"year": year[-1]} if year else {})
        return Reference("misc", _key(re.sub(r"[:,.].*", "", text), year[-1] if year else ""), fields, text)
    authors, where = re.split(r", (?:and )?| and ", found["author"]), found["where"]
    kind, more = _where(where)
    if not all(_NAME.search(author) for author in authors):  # the last name stands first, behind it a comma
        authors = [organisation(found["author"])]
    fields = {"author": " and ".join(authors), "title": found["title"], **more, "year": found["year"]}
    return Reference(kind, _key(authors[0], found["year"]), fields, text)


def _where(text: str) -> tuple[str, dict[str, str]]:
    """Return the kind of an entry, and the fields that tell where it appeared."""
    if found := _THESIS.fullmatch(text):
        return "phdthesis", {"school": found["school"]}
    if found := _ARTICLE.fullmatch(text):
        known = {name: value for name, value in found.groupdict().items() if value}
        return "article", known | ({"pages": known["pages"].replace("-", "--")} if "pages" in known else {})
    return "inproceedings", {"booktitle": text}


def _key(author: str, year: str) -> str:
    """Return a key of the last name and the year, in plain letters."""
    plain = unicodedata.normalize("NFKD", (re.sub(r",.*|[{}]", "", author).split() or ["entry"])[-1])
    return (re.sub(r"[^a-z0-9]", "", plain.lower()) or "entry") + year


def references_of_version(manifest: Mapping[str, Any], year: int | None) -> list[Reference]:
    """Return what is to be cited of a version: itself, of the year if one is given, and what its logs ask for."""
    name, version = str(manifest["data_set"]), str(manifest["version"])
    sources = sources_of(manifest)
    named = [source["log"] for source in sources if "log" in source]
    logs = ", ".join(f"{log['name']} (sha256 {log.get('key', 'unknown')})" for log in named)
    title = f"{manifest.get('title') or name} (data set {name})"
    sites = list(dict.fromkeys(str(source["installation"]) for source in sources if source.get("installation")))
    fields = {
        **({"author": " and ".join(map(organisation, sites))} if sites else {}),
        "title": title,
        **({"year": str(year)} if year else {}),
        "version": version,
        "note": f"Version {version}, made by swftools" + (f" of {logs}" if logs else ""),
    }
    text = f"{', '.join(sites) + ': ' if sites else ''}{title}. {fields['note']}{f', {year}' if year else ''}"
    own = Reference("misc", f"{name}-{version}", fields, text)
    asked = [reference_of(str(source["citation"])) for source in sources if source.get("citation")]
    return each_once([own, *asked])


def organisation(name: str) -> str:
    """Return a name as that of an author without first and last names, which BibTeX must not look for."""
    return "{" + re.sub("[{}]", "", name) + "}"


def each_once(references: Iterable[Reference]) -> list[Reference]:
    """Return entries without those that cite the same again."""
    return list({reference.text: reference for reference in references}.values())


def bibtex_text(references: Iterable[Reference], notes: Iterable[str] = ()) -> str:
    """Write entries as BibTeX, each once; two that cite other works by one key get a letter behind it.

    Parameters
    ----------
    references : iterable of Reference
        In order.
    notes : iterable of str
        What stands before them as comments: lines that BibTeX passes over.
    """
    taken: set[str] = set()
    blocks = ["\n".join(line for note in notes for line in _comment(note))]
    for reference in each_once(references):
        plain = re.sub(r"[^A-Za-z0-9.:+-]", "-", reference.key)
        key = next(name for name in _names_of(plain) if name not in taken)
        taken.add(key)
        lines = [_line(name, value, reference.is_whole) for name, value in reference.fields.items() if value]
        blocks.append("\n".join([f"@{reference.kind}{{{key},", *lines, "}"]))
    return "\n\n".join(filter(None, blocks)) + "\n"


def escaped(text: str) -> str:
    r"""Return a text as LaTeX shows it; of letters that plain LaTeX cannot make, the letters themselves.

    Examples
    --------
    >>> print(escaped("Zoë & 50 % of {a_b}"))
    Zo{\"e} \& 50 \% of \{a\_b\}
    """
    return "".join(_SPECIAL.get(letter) or _accented(letter) for letter in shown_text(text))


def shown_text(text: str) -> str:
    """Return a text in one line, without what a terminal would obey."""
    return shown(unicodedata.normalize("NFC", " ".join(text.split())))


def _accented(letter: str) -> str:
    """Return a letter with its accent by LaTeX's command; as it is where it has none, or one that is not known."""
    base, *marks = list(unicodedata.normalize("NFD", letter))
    if len(marks) != 1 or marks[0] not in _ACCENTS or not base.isascii():
        return letter
    # An accent takes the place of the dot.
    base = {"i": r"\i", "j": r"\j"}.get(base, base) if _ACCENTS[marks[0]] in "`'^~=\"" else base
    return f"{{\\{_ACCENTS[marks[0]]}{base}}}"


def _line(name: str, value: str, is_whole: frozenset[str]) -> str:
    """Return a field of an entry, in lines of 80 columns."""
    text = quote(value, safe="!#$%&'()*+,/:;=?@[]~-._") if name in _VERBATIM else _value(name, value)
    text = f"{{{text}}}" if name in is_whole else text
    return "\n".join(_folded(f"{name} = {{{text}}},", "  ", "    "))


def _value(name: str, value: str) -> str:
    """Return what a field holds; a name in braces is that of an organisation, which is one word."""
    if name != "author":
        return escaped(value) if name != "pages" else value
    names = _BETWEEN.split(value)
    return " and ".join(f"{{{escaped(one[1:-1])}}}" if one.startswith("{") else escaped(one) for one in names)


def _comment(note: str) -> Iterator[str]:
    """Yield a note as lines that BibTeX passes over: it takes an @, wherever it stands, for an entry."""
    yield from _folded(shown_text(note).replace("@", "(at)"), "% ", "%   ")


def _folded(text: str, first: str, other: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=other,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _names_of(key: str) -> Iterator[str]:
    """Yield a key, then the key with a letter behind it, then with numbers."""
    yield key
    yield from (key + letter for letter in ascii_lowercase)
    yield from (f"{key}-{number}" for number in count(2))
