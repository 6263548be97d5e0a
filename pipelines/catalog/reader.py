# SPDX-License-Identifier: BSD-3-Clause
"""The catalogue of source logs and published data sets: read ``data_catalog.yaml`` and check all of it.

Three passes over one file: its YAML (``strict_yaml``), whose first mistake ends the reading; the types
of each card (``cards``, by pydantic); and what only several keys or cards together can break (here). What the last two
find is reported at once, each with its line, card, key and remedy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from pipelines.catalog.cards import RESOURCES, Catalog
from swftools.errors import CatalogError, ParameterError
from swftools.formats.registry import list_formats
from swftools.machines.numbering import number_nodes
from swftools.machines.parts import NodeKind, Partition
from swftools.parameters.problems import Problem, message_of, path_of, report
from swftools.parameters.spelling import did_you_mean
from swftools.parameters.strict_yaml import KeyPath, read_yaml_file

INHERITED = frozenset(
    {"producer", "acknowledgement", "citation", "licence", "format", "options", "dependencies", "machine", "queues"}
    | {"alternatives", "published_filters", "cleaning"}
)
"""The keys that a log's card takes from the card it is ``based_on``."""


def read_catalog(path: str | Path | None = None) -> Catalog:
    """Read and check a catalogue.

    Parameters
    ----------
    path : str or Path, optional
        A file like ``data_catalog.yaml``; by default the one that is shipped with the package.

    Raises
    ------
    CatalogError
        The file cannot be read or is not valid; the message lists every problem.

    Examples
    --------
    >>> read_catalog().log("CTC-SP2-1996-3.1-cln").machine.processors
    430
    """
    source = RESOURCES / "data_catalog.yaml" if path is None else Path(path)
    data, content = read_yaml_file(source, CatalogError, "check the path of the catalogue")
    catalog, problems = _build(content, Path(str(source)).parent)
    if catalog is None or problems:
        raise CatalogError(report(str(source), data, problems))
    return catalog


def _build(raw: Any, folder: Path) -> tuple[Catalog | None, list[Problem]]:
    """Check the types of all cards and what lies between them; return the catalogue unless a type is wrong."""
    if not isinstance(raw, dict):
        found = "the file is empty" if raw is None else f"the file is a {type(raw).__name__}"
        return None, [((), f"{found}; it must be a mapping with the key logs, see data_catalog.yaml of this package")]
    own = {name: _with_path(card, folder) for name, card in _mapping(raw.get("logs")).items()}
    complete = raw | {"logs": _with_inherited(own)} if "logs" in raw and isinstance(raw["logs"], dict) else raw
    if isinstance(raw.get("tables"), dict):
        complete = complete | {"tables": {name: _tables(name, card, folder) for name, card in raw["tables"].items()}}
    problems = [*_between_cards(raw | {"logs": own} if "logs" in raw else raw, _mapping(complete.get("logs")))]
    for name, card in _mapping(complete.get("tables")).items():
        problems += _between_tables(("tables", name), _mapping(card), _mapping(raw.get("logs")))
    try:
        return TypeAdapter(Catalog).validate_python(complete), problems
    except ValidationError as error:
        problems += [
            (path_of(details), message_of(details, Catalog))
            for details in error.errors(include_url=False)
            if not _told_elsewhere(details["loc"], own)
        ]
        return None, problems


def _mapping(value: Any) -> dict[Any, Any]:
    """Return a value that should be a mapping; empty if it is not, which the types report."""
    return value if isinstance(value, dict) else {}


def _with_path(card: Any, folder: Path) -> Any:
    """Return a log's card with the whole path of the file that describes its machine."""
    machine = _mapping(_mapping(card).get("machine"))
    if not isinstance(machine.get("description"), str):
        return card
    return card | {"machine": machine | {"description": str(folder / machine["description"])}}


def _tables(name: Any, card: Any, folder: Path) -> Any:
    """Return a card of tables with its name, and with whole paths: of the catalogue's folder, else of the package."""
    if not isinstance(card, dict):
        return card
    paths = {key: card[key] for key in ("files", "folder") if isinstance(card.get(key), str)}
    places = {key: (folder / path, Path(str(RESOURCES / path))) for key, path in paths.items()}
    whole = {
        key: str(own if own.exists() or not shipped.exists() else shipped) for key, (own, shipped) in places.items()
    }
    return card | whole | {"name": name}


def _between_tables(where: KeyPath, card: Mapping[Any, Any], logs: Mapping[Any, Any]) -> Iterator[Problem]:
    """Yield what is wrong between a card of tables and what is around it; types are checked elsewhere."""
    if where[-1] in logs:
        yield where, "a log has this name, too; rename one of them"
    for key, is_there, what in (("files", Path.is_file, "file"), ("folder", Path.is_dir, "folder")):
        if isinstance(card.get(key), str) and not is_there(Path(card[key])):
            yield (*where, key), f"there is no {what} {card[key]}; the path is from the folder of the catalogue on"
    if "url" in card and "folder" in card:
        yield (*where, "folder"), "the card has a url too; keep one of them"


def _machine(where: KeyPath, machine: Mapping[Any, Any]) -> Iterator[Problem]:
    """Yield what is wrong between what a card says of the nodes of its machine; types are checked elsewhere."""
    nodes, description = machine.get("nodes"), machine.get("description")
    if description is not None and nodes is not None:
        yield (*where, "description"), "the card has nodes too; keep one of them"
    if isinstance(description, str) and not Path(description).is_file():
        yield (
            (*where, "description"),
            f"there is no file {description}; the path is from the folder of the catalogue on",
        )
    if not nodes and any(key in machine for key in ("partitions", "order")):
        key = "partitions" if "partitions" in machine else "order"
        yield (*where, key), f"the card has {key} and no nodes; describe the nodes, or leave {key} out"
    if not nodes:
        return
    try:
        kinds = TypeAdapter(tuple[NodeKind, ...]).validate_python(nodes)
        partitions = TypeAdapter(tuple[Partition, ...]).validate_python(machine.get("partitions", ()))
    except ValidationError:
        return
    yield from (((*where, *place), what) for place, what in number_nodes(kinds, partitions, ()).problems)


def _with_inherited(own: Mapping[Any, Any]) -> dict[Any, Any]:
    """Give each log's card its name and what it takes from the card that it is based on."""
    complete: dict[Any, Any] = {}
    for name, card in own.items():
        complete[name] = card
        if isinstance(card, dict):
            based_on = card.get("based_on")
            base = _mapping(own.get(based_on)) if isinstance(based_on, str) else {}
            complete[name] = {key: base[key] for key in INHERITED if key in base} | card | {"name": name}
    return complete


def _told_elsewhere(loc: KeyPath, own: Mapping[Any, Any]) -> bool:
    """Tell whether an error is in what a log's card inherited, or in the name it was given here."""
    if len(loc) < 3 or loc[0] != "logs":
        return False
    card = _mapping(own.get(loc[1]))
    return loc[2] == "name" or ("based_on" in card and loc[2] in INHERITED and loc[2] not in card)


def _between_cards(raw: Mapping[Any, Any], complete: Mapping[Any, Any]) -> Iterator[Problem]:
    """Yield what is wrong between keys or cards; values of a wrong type are skipped."""
    logs = _mapping(raw.get("logs"))
    for kind in ("logs", "tables", "data_sets"):
        yield from _equal_but_for_case(kind, _mapping(raw.get(kind)))
    first_with: dict[str, Any] = {}
    for name, card in logs.items():
        if not isinstance(card, dict):
            continue
        where = ("logs", name)
        if "name" in card:
            yield (*where, "name"), "unknown key; the card's own key is its name"
        if "url" in card and "file" in card:
            yield (*where, "file"), "the card has a url too; keep one of them"
        yield from _based_on(name, card, logs)
        sha256 = card.get("sha256")
        if isinstance(sha256, str) and first_with.setdefault(sha256, name) != name:
            yield (*where, "sha256"), f"the same as in card {first_with[sha256]!r}; a text has one card"
        yield from _options(where, _mapping(complete.get(name)))
        yield from _machine((*where, "machine"), _mapping(card.get("machine")))
        queues = _mapping(card.get("queues"))
        yield from _ranks((*where, "queues"), queues)
        all_queues = _mapping(_mapping(complete.get(name)).get("queues"))
        for label, ranking in _mapping(card.get("alternatives")).items():
            yield from _alternative((*where, "alternatives", label), _mapping(ranking), list(all_queues))
    for name, card in _mapping(raw.get("data_sets")).items():
        log = _mapping(card).get("log")
        if isinstance(log, str) and log not in logs:
            yield ("data_sets", name, "log"), f"there is no card {log!r} under logs{did_you_mean([log], logs)}"


def _equal_but_for_case(kind: str, cards: Mapping[Any, Any]) -> Iterator[Problem]:
    """Yield names that would be one file on a file system that does not tell cases apart."""
    first_with: dict[str, Any] = {}
    for name in cards:
        if first_with.setdefault(str(name).casefold(), name) != name:
            yield (kind, name), f"differs from {first_with[str(name).casefold()]!r} only in case; rename it"


def _based_on(name: Any, card: Mapping[Any, Any], logs: Mapping[Any, Any]) -> Iterator[Problem]:
    base = card.get("based_on")
    if not isinstance(base, str):
        return
    if base not in logs or base == name:
        others = [other for other in logs if other != name]
        yield ("logs", name, "based_on"), f"there is no other card {base!r} under logs{did_you_mean([base], others)}"
    elif "based_on" in _mapping(logs[base]):
        yield ("logs", name, "based_on"), f"card {base!r} is itself based on another; name that one"


def _options(where: KeyPath, card: Mapping[Any, Any]) -> Iterator[Problem]:
    """Yield what is wrong with the options of a card's format, if there is such a format."""
    kind = list_formats().get(str(card.get("format")))
    if kind is not None:
        try:
            kind.from_mapping(_mapping(card.get("options")))
        except (ParameterError, TypeError) as error:
            yield (*where, "options"), str(error)


def _rank(value: Any) -> int | None:
    """Return a valid rank, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _ranks(where: KeyPath, queues: Mapping[Any, Any]) -> Iterator[Problem]:
    """Yield ranks that several queues hold without saying so, that no queue owns, or that have gaps."""
    holders: dict[int, list[Any]] = defaultdict(list)
    for number, queue in queues.items():
        rank = _rank(_mapping(queue).get("priority_rank"))
        if rank is not None:
            holders[rank].append(number)
    for rank, numbers in holders.items():
        owners = [number for number in numbers if _mapping(queues[number]).get("shared_rank") is not True]
        for number in owners[1:]:
            yield (
                (*where, number, "priority_rank"),
                f"rank {rank} is queue {owners[0]}'s too; give another, or declare it with shared_rank: true",
            )
        if not owners:
            yield (
                (*where, numbers[0], "shared_rank"),
                f"no queue owns rank {rank}; leave shared_rank out at one of the queues {', '.join(map(str, numbers))}",
            )
    if sum(map(len, holders.values())) == len(queues):
        yield from _gaps(where, holders)


def _alternative(where: KeyPath, ranking: Mapping[Any, Any], queues: list[Any]) -> Iterator[Problem]:
    """Yield what is wrong with an alternative ranking of these queues."""
    given = _mapping(ranking.get("priority_ranks"))
    other = _rank(ranking.get("other_queues"))
    first_with: dict[int, Any] = {}
    for number, value in given.items():
        rank = _rank(value)
        if number not in queues:
            yield (*where, "priority_ranks", number), f"the card has no queue {number}"
        if rank is not None and first_with.setdefault(rank, number) != number:
            yield (*where, "priority_ranks", number), f"rank {rank} is queue {first_with[rank]}'s too; give another"
    unnamed = [number for number in queues if number not in given]
    if unnamed and "other_queues" not in ranking:
        listed = ", ".join(map(str, unnamed))
        yield where, f"no rank for the queues {listed}; name them in priority_ranks or add other_queues"
    if all(_rank(value) is not None for value in given.values()):
        yield from _gaps(where, set(first_with) | ({other} if other is not None else set()))


def _gaps(where: KeyPath, ranks: Mapping[int, Any] | set[int]) -> Iterator[Problem]:
    if sorted(ranks) != list(range(len(ranks))):
        listed = ", ".join(map(str, sorted(ranks)))
        yield where, f"the ranks are {listed}; they should be 0 to {len(ranks) - 1} without gaps, 0 the highest"
