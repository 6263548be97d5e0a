# SPDX-License-Identifier: BSD-3-Clause
"""What to cite: of a log by its card, of a version of a data set, of a paper; with terms and whom to thank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pipelines.catalog.cards import Catalog, LogCard, TablesCard
from pipelines.names import LATEST
from pipelines.papers.paper import Paper, list_papers
from pipelines.store.bibtex import Reference, each_once, organisation, reference_of, references_of_version
from pipelines.store.deposit import notes_of
from pipelines.store.published import PublishedData
from pipelines.store.readme import sources_of
from swftools.errors import UnknownLogError
from swftools.parameters.spelling import did_you_mean


@dataclass(frozen=True)
class Cited:
    """What to cite of something by name.

    Parameters
    ----------
    name : str
        Of a card, a data set or a paper.
    kind : str
        Which of these: ``log``, ``data set``, ``paper``.
    references : list of Reference
        What to cite, itself first.
    papers : dict of str to Reference
        Papers whose tables ``swftools reproduce`` makes of it, by their names there.
    notes : list of str
        Terms and acknowledgements, in words.
    version : str, optional
        Of a data set.
    """

    name: str
    kind: str
    references: list[Reference]
    papers: dict[str, Reference]
    notes: list[str]
    version: str | None = None

    def to_mapping(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "name": self.name,
            "kind": self.kind,
            "version": self.version,
            "references": [_mapping(reference) for reference in self.references],
            "papers": {name: _mapping(reference) for name, reference in self.papers.items()},
            "notes": self.notes,
        }


def find_cited(name: str, catalog: Catalog, root: PublishedData, version: str | None = None) -> Cited:
    """Find what to cite: a log's card, else a paper, else a data set; with a version always a data set.

    Parameters
    ----------
    name : str
        Of one of these.
    catalog : Catalog
        The cards.
    root : PublishedData
        Where data sets are.
    version : str, optional
        Of a data set: a version's name, its beginning, a tag or ``latest``.

    Raises
    ------
    UnknownLogError
        There is none of that name; names the nearest.
    VersionNotFoundError
        The data set has no such version.
    """
    papers = dict(sorted(list_papers().items()))
    if version is not None:
        return _of_version(root, name, version, catalog, papers)
    if name in catalog.logs:
        return _of_log(catalog.logs[name], papers)
    if name in papers:
        return _of_paper(papers[name], catalog)
    data_sets = root.data_sets()
    if name in data_sets:
        return _of_version(root, name, LATEST, catalog, papers)
    known = [*catalog.logs, *papers, *data_sets]
    hint = did_you_mean([name], list(dict.fromkeys(known))) or "; logs have names as in data_catalog.yaml"
    raise UnknownLogError(
        f"nothing to cite is called {name!r}: no card of a log, no paper ({', '.join(papers)}) and no data set of "
        f"{root.location}{hint}"
    )


def _of_log(card: LogCard, papers: Mapping[str, Paper]) -> Cited:
    """Return what to cite of a log: what its card asks for, and the log itself."""
    own = {
        "author": organisation(card.producer),
        "title": card.title,
        "howpublished": f"Log {card.name}, sha256 {card.sha256}",
        **({"url": card.url} if card.url else {}),
    }
    text = f"{card.producer}: {card.title}. Log {card.name}"
    references = [Reference("misc", card.name, own, text), reference_of(card.citation)]
    return Cited(card.name, "log", each_once(references), _users([card.name], [card], papers), _notes([card]))


def _of_paper(paper: Paper, catalog: Catalog) -> Cited:
    """Return what to cite of a paper: itself, and what the cards of its logs ask for."""
    known: dict[str, LogCard | TablesCard] = {**catalog.logs, **catalog.tables}
    cards = [known[name] for name in paper.own_logs if name in known]
    references = [reference_of(paper.citation), *(reference_of(card.citation) for card in cards)]
    return Cited(paper.name, "paper", each_once(references), {}, _notes(cards))


def _notes(cards: Iterable[LogCard | TablesCard]) -> list[str]:
    """Return terms of logs or tables and whom to thank, in words."""
    told = [(card.name, (("Licence", card.licence), ("Acknowledgement", card.acknowledgement))) for card in cards]
    return [f"{what} of {name}: {' '.join(text.split())}" for name, terms in told for what, text in terms]


def _of_version(
    root: PublishedData, data_set: str, version: str, catalog: Catalog, papers: Mapping[str, Paper]
) -> Cited:
    """Return what to cite of a version, by its manifest alone: a card may say something else by now."""
    manifest = root.manifest(data_set, version)
    found = str(manifest["version"])
    references = references_of_version(manifest, root.published_at(data_set, found).year)
    notes = [" ".join(note.split()) for note in notes_of(manifest)]
    logs = [str(source["log"]["name"]) for source in sources_of(manifest) if "log" in source]
    cards = [catalog.logs[name] for name in logs if name in catalog.logs]
    return Cited(data_set, "data set", references, _users(logs, cards, papers), notes, found)


def _users(logs: Iterable[str], cards: Iterable[LogCard], papers: Mapping[str, Paper]) -> dict[str, Reference]:
    """Return the papers that use logs; of an excerpt, those that use the whole."""
    names = {*logs, *(card.based_on for card in cards)}
    return {name: reference_of(paper.citation) for name, paper in papers.items() if names & set(paper.own_logs)}


def _mapping(reference: Reference) -> dict[str, Any]:
    return {
        "kind": reference.kind,
        "key": reference.key,
        "fields": dict(reference.fields),
        "text": reference.text,
    }
