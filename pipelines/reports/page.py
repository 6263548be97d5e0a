# SPDX-License-Identifier: BSD-3-Clause
"""A report as one HTML file: it needs no network and no script, prints, and reads on a phone, dark or light."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pipelines.logs.load import LoadedLog
from pipelines.reports.centre import WHAT as OUR_CENTRE
from pipelines.reports.centre import parts_of_centre
from pipelines.reports.drawings import drawn
from pipelines.reports.report import NumberCell, Section, Version, parts_of, unit_of
from pipelines.reports.schedule import WHAT as A_SCHEDULE
from pipelines.reports.schedule import parts_of_schedules
from pipelines.reports.table_files import write_tables
from pipelines.reports.trace import WHAT, parts_of_log
from pipelines.store.bibtex import bibtex_text, references_of_version
from pipelines.store.data_root import DataRoot
from pipelines.store.readme import sources_of
from swftools._version import __version__
from swftools.errors import MissingLibraryError
from swftools.output.shown_text import shown
from swftools.simulator.schedule import Schedule

_UNIT = re.compile(r"(?<=\d) (?=[A-Za-z%])")
"""Where a line does not end: between a number and its unit."""

_SCRIPTS = ("tables.js", "zoom.js", "values.js", "choice.js")
"""What a reader can do where scripts run: sort tables and take them along, look closer, see values, choose a part."""

_MISSING = "reports need Jinja2 and matplotlib: pip install swftools[report]"


def check_libraries() -> None:
    """Raise MissingLibraryError if a library for reports is not installed; imports none."""
    if not all(find_spec(name) for name in ("jinja2", "matplotlib")):
        raise MissingLibraryError(_MISSING)


def put_report(root: DataRoot, data_set: str, version: str) -> str:
    """Write the report on a version beside it, as ``VERSION.html``; return its path.

    Parameters
    ----------
    root : DataRoot
        Where the version is published.
    data_set, version : str
        The version, by its whole name.
    """
    return root.put_report(data_set, version, report_page(Version(root, root.manifest(data_set, version))))


def report_page(version: Version, other: Version | None = None) -> str:
    """Return the report on a version, perhaps compared with another.

    Parameters
    ----------
    version : Version
        What it is about.
    other : Version, optional
        Of the same kind.

    Returns
    -------
    str
        HTML. Equal versions and libraries give equal text.

    Raises
    ------
    ParameterError
        There is no report on such versions.
    MissingLibraryError
        Jinja2 or matplotlib is not installed.
    """
    what, parts = parts_of(version, other)
    return _page(
        parts,
        title=version.manifest.get("title") or version.data_set,
        what=what,
        version=version,
        other=other,
        facts=list(_facts(version.manifest)),
        provenance=list(_provenance(version.manifest)),
        bibtex=bibtex_text(references_of_version(version.manifest, None)).strip(),
    )


def page_of_log(loaded: LoadedLog) -> str:
    """Return the report on a log that need not be published: the parts of that on a trace.

    Raises
    ------
    MissingLibraryError
        Jinja2 or matplotlib is not installed.
    """
    return _page_on(loaded, WHAT, parts_of_log(loaded.trace, loaded.report))


def page_of_schedule(loaded: LoadedLog, schedule: Schedule, policy: str) -> str:
    """Return the report on a schedule of a log, neither of which need be published.

    Parameters
    ----------
    loaded : LoadedLog
        The log.
    schedule : Schedule
        Of its jobs.
    policy : str
        What the schedule is called.

    Raises
    ------
    MissingLibraryError
        Jinja2 or matplotlib is not installed.
    """
    return _page_on(loaded, A_SCHEDULE, parts_of_schedules({policy: schedule}, schedule.assumptions), policy)


def page_of_centre(
    loaded: LoadedLog, schedule: Schedule, tables: Path | None = None, more: Sequence[Section] = ()
) -> str:
    """Return the report "our centre" on a log and the schedule that it tells itself, neither of which is published.

    Parameters
    ----------
    loaded : LoadedLog
        The log.
    schedule : Schedule
        What it tells.
    tables : Path, optional
        A folder, into which each table is written as CSV too.
    more : sequence of Section
        What else stands in it, behind its own parts: ``parts_of_candidates``.

    Raises
    ------
    MissingLibraryError
        Jinja2 or matplotlib is not installed.
    """
    parts = [*parts_of_centre(schedule), *more]
    page = _page_on(loaded, OUR_CENTRE, parts)
    if tables is not None:
        write_tables(parts, tables)
    return page


def _page_on(loaded: LoadedLog, what: str, parts: list[Section], policy: str | None = None) -> str:
    """Return a page about a log that need not be published."""
    card, trace = loaded.log.card, loaded.trace
    told = {
        "Site": trace.header.installation,
        "Computer": trace.header.computer,
        "Processors": trace.processors,
        "Licence": card.licence if card else None,
        "Acknowledgement": " ".join(trace.header.acknowledgements),
        "To cite": card.citation if card else None,
    }
    rules = [] if loaded.report is None else loaded.report.steps["rule"].tolist()
    made = {
        "Policy": policy,
        "Read as": trace.provenance.get("format"),
        "Cleaned by": ", ".join(rule for rule in rules if rule != "read") or "no rule",
        "Software": f"swftools {__version__}",
        "sha256 of the log's text": trace.provenance.get("sha256"),
    }
    return _page(
        parts,
        title=loaded.log.name,
        what=what,
        version=None,
        other=None,
        facts=[("Log", loaded.log.name), *((name, value) for name, value in told.items() if value)],
        provenance=[(name, value) for name, value in made.items() if value],
        bibtex="",
    )


def _page(parts: list[Section], **told: Any) -> str:
    """Return a page of parts, whose pictures are drawn."""
    template = _template()
    from markupsafe import Markup  # noqa: PLC0415 (comes with Jinja2)

    numbers = itertools.count()
    pictured = [(part, list(drawn(part, numbers))) for part in parts]
    scripts = Markup("\n".join(_beside(name) for name in _SCRIPTS))  # noqa: S704 (ours)
    places = places_of(part for part, _ in pictured)
    return str(template.render(parts=pictured, scripts=scripts, words=words_of(parts), places=places, **told))


def words_of(parts: Iterable[Section]) -> dict[str, str]:
    """Return the place on the page where each word is explained; by the word in small letters.

    Units behind a comma, as in "used, %", are no part of a word.
    """
    rows = [row for part in parts for table in part.tables if table.explains for row in table.rows]
    return {str(word).lower(): anchor(str(word)) for word, *_ in rows}


def places_of(parts: Iterable[Section]) -> dict[int, str]:
    """Return what the place of each row that explains a word is called, by ``id``: the first row of a word has it."""
    rows = [row for part in parts for table in part.tables if table.explains for row in table.rows]
    first = {anchor(str(row[0])): id(row) for row in reversed(rows)}
    return {row: name for name, row in first.items()}


def anchor(word: str) -> str:
    """Return what the place of a word is called on a page.

    Examples
    --------
    >>> anchor("time limit"), anchor("90 %")
    ('word-time-limit', 'word-90')
    """
    return "word-" + "-".join(re.findall(r"\w+", word.lower()))


def word_of(heading: object) -> str:
    """Return the word that a heading is about, by which ``words_of`` finds it: without the unit behind it."""
    return re.sub(r", (%.*|[^ ]+)$", "", str(heading)).lower()


def _template() -> Any:
    """Return the page's template, which escapes all that it is given."""
    try:
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise MissingLibraryError(_MISSING) from error
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalized,
    )
    environment.filters["cell"] = _cell
    environment.filters["unit"] = unit_of
    environment.filters["word"] = word_of
    environment.filters["identity"] = id
    environment.filters["sorted_by"] = _sorted_by
    environment.tests["number"] = _is_number
    return environment.from_string(_beside("page.html"))


def _beside(name: str) -> str:
    """Return a file of this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _finalized(value: object) -> object:
    """Take from a text what would turn its order or is not seen; what is marked as safe is ours."""
    return shown(value) if type(value) is str else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | NumberCell) and not isinstance(value, bool)


def _sorted_by(value: float | NumberCell) -> str:
    """Return the number by which a cell is sorted, and which is saved, with eight digits at most."""
    number = value.value if isinstance(value, NumberCell) else value
    return str(number) if isinstance(number, int) else f"{number:.8g}"


def _cell(value: object) -> str:
    """Return a cell as it is shown."""
    if isinstance(value, NumberCell):
        return _UNIT.sub("\u00a0", value.words)
    if value is None or value != value:  # noqa: PLR0124 (NaN)
        return ""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.0f}" if _is_number(value) else str(value)


def _facts(manifest: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield what a version is, and on which terms."""
    logs = [str(source["log"]["name"]) for source in sources_of(manifest)]
    yield "Logs" if len(logs) > 1 else "Log", ", ".join(logs)
    for name, words in {
        "installation": "Site",
        "computer": "Computer",
        "machine_processors": "Processors",
        "licence": "Licence",
        "acknowledgement": "Acknowledgement",
        "citation": "To cite",
    }.items():
        for told in dict.fromkeys(source[name] for source in sources_of(manifest) if source.get(name)):
            yield words, told


def _provenance(manifest: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield how a version was made."""
    yield "Version", manifest["version"]
    yield "Made by", manifest.get("made_by")
    for name, words in {"code_versions": "Versions of the stages", "software": "Software"}.items():
        if manifest.get(name):
            yield words, ", ".join(f"{key} {value}" for key, value in manifest[name].items())
    if manifest.get("log", {}).get("sha256"):
        yield "sha256 of the log's text", manifest["log"]["sha256"]
