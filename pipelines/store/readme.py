# SPDX-License-Identifier: BSD-3-Clause
"""README.md of a version: what a person who comes upon the directory must know, from the facts of its manifest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from swftools.fields.definition import GENERATED
from swftools.fields.dictionary import TABLE_MEANINGS, generated_columns
from swftools.output.shown_text import shown_in_json, shown_in_markdown

_ORIGIN = {
    "source_url": "From",
    "installation": "Site",
    "computer": "Computer",
    "information": "Information",
    "conversion": "Conversion",
}
_MADE = {
    "parameters": "Parameters",
    "seed": "Seed",
    "seeds": "Seeds",
    "code_versions": "Versions of the stages",
    "software": "Software",
}


def readme_text(
    facts: Mapping[str, Any],
    rows: Mapping[str, int],
    files: Iterable[str],
    what: str,
    shown: str = "",
    made_of: str = "",
    columns: Iterable[str] = (),
) -> str:
    """Write the page of a version, in Markdown; equal facts give equal text.

    Parameters
    ----------
    facts : mapping
        The manifest's entries but for those of the tables and files; with ``data_set``, ``version``, ``made_by`` (the
        task) and ``main_table``.
    rows : mapping of str to int
        Number of rows of each table.
    files : iterable of str
        Names of the files beside the tables.
    what : str
        What kind of data set it is, as "A workload trace of a parallel machine".
    shown : str
        Its main table or picture, in Markdown.
    made_of : str
        In words; by default the logs that the facts name.
    columns : iterable of str
        Those of the main table, of which it is said which are generated.
    """
    table, sources = facts["main_table"], sources_of(facts)
    named = ", ".join(f"`{source['log']['name']}` (sha256 `{source['log']['key']}`)" for source in sources)
    logs = f"the log{'s' * (len(sources) > 1)} {named}"
    sections = [
        f"# {facts['data_set']}",
        f"{what}{f' ({title})' if (title := _title(facts)) else ''}: version `{facts['version']}`, made of "
        f"{made_of or logs}. A version is never changed; another one has another name.",
        *(["## What it shows", shown.rstrip()] if shown else []),
        "## What became of the jobs",
        *(part for source in sources for part in (*_heading_of(source, sources), _bullets(_account(source)))),
        "## Tables",
        _table(("table", "one row", "rows"), [(f"`{t}`", _row_of(t), f"{count:,}") for t, count in rows.items()]),
        "Columns, with types, units and meanings, are in `datapackage.json`, in `manifest.json` with statistics, and "
        "in the metadata of the Parquet files.",
        *_generated(table, columns),
        "## How to read them",
        "In this directory, by pandas, DuckDB or R:",
        f'```\nimport pandas as pd\n{table} = pd.read_parquet("{table}")\n```',
        f"```\nSELECT * FROM '{table}/*.parquet'\n```",
        f'```\n{table} <- arrow::open_dataset("{table}")\n```',
    ]
    if files := list(files):
        sections += ["Beside them: " + ", ".join(f"`{name}`" for name in files) + "."]
    sections += [
        "## Licence and acknowledgement",
        *(part for source in sources for part in (*_heading_of(source, sources), *_terms(source))),
        "## How it was made",
        f"By the task `{facts['made_by']}` of swftools. Equal inputs give equal bytes.",
        *_named(_MADE, facts),
    ]
    return "\n\n".join(sections) + "\n"


def sources_of(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what a version says of each log it was made of: of one it says so itself, of several under ``sources``."""
    sources: list[Mapping[str, Any]] = facts.get("sources") or [facts]
    return sources


def told_of(source: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words what became of the jobs of a log, and what had to be assumed."""
    yield from account_lines(source["account"], source["assumptions"])


def account_lines(account: Mapping[str, Any], assumptions: Iterable[str]) -> Iterator[str]:
    """Yield in words what became of the jobs that were read, and what had to be assumed.

    Parameters
    ----------
    account : mapping
        As ``pipelines.tasks.facts.account_of`` returns it.
    assumptions : iterable of str
        Sentences.
    """
    totals = {name: sum(account[name].values()) for name in ("quarantined", "merged", "repaired")}
    yield (
        f"{account['job_lines_read']:,} job lines read: {account['jobs_kept']:,} jobs kept ({totals['repaired']:,} of "
        f"them repaired), {totals['quarantined']:,} quarantined, {totals['merged']:,} merged"
    )
    for name in totals:
        for rule, count in account[name].items():
            yield f"  {name} by {'reading' if rule == 'read' else f'rule {rule}'}: {count:,}"
    for sentence in assumptions:
        yield f"assumed: {sentence}"


def _account(facts: Mapping[str, Any]) -> list[str]:
    """Return the lines of the account, with what cleaning only marked."""
    account = facts["account"]
    marked = [f"marked by rule {rule}: {count:,}" for rule, count in account["flagged"].items()]
    first, *rest = account_lines(account, [])
    return [first, *rest, *marked, *(f"assumed: {sentence}" for sentence in facts["assumptions"])]


def _generated(table: str, columns: Iterable[str]) -> Iterator[str]:
    """Yield in a sentence which columns of a table are generated, if any."""
    if names := generated_columns(columns):
        told = ", ".join(f"`{name}`" for name in names)
        yield f"{len(names)} columns of `{table}` are **{GENERATED}**: {told}."


def _title(facts: Mapping[str, Any]) -> str:
    """Return the title of the log's card; nothing where it has none."""
    return shown_in_markdown(facts.get("title") or "")


def _heading_of(source: Mapping[str, Any], sources: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the heading of a log among several."""
    return [f"### {shown_in_markdown(source['log']['name'])}"] if len(sources) > 1 else []


def _terms(source: Mapping[str, Any]) -> Iterator[str]:
    """Yield licence, acknowledgement and origin of a log, and what is amiss with it."""
    yield f"Licence: {shown_in_markdown(source['licence'])}"
    yield from _named({"acknowledgement": "Acknowledgement", "citation": "To cite", **_ORIGIN}, source)
    if source.get("anomalies"):
        yield from ("Known anomalies:", _bullets(source["anomalies"]))


def _row_of(table: str) -> str:
    """Return what a row of a table is."""
    return TABLE_MEANINGS[table].removeprefix("One row ")


def _table(heading: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heading, tuple("---" for _ in heading), *rows))


def _bullets(lines: Iterable[str]) -> str:
    """Return a Markdown list of lines that may be from outside."""
    return "\n".join("* " + shown_in_markdown(" ".join(line.split())) for line in lines)


def _named(names: Mapping[str, str], facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the facts that are known, each as a paragraph with its name; nested ones as JSON."""
    for key, name in names.items():
        value = facts.get(key)
        if isinstance(value, Mapping):
            text = shown_in_json(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False))
            yield f"{name}:\n\n```json\n{text}\n```"
        elif isinstance(value, str) and "\n" in value:
            yield f"{name}:\n\n{_bullets(value.splitlines())}"
        elif value is not None and value != "":
            yield f"{name}: {shown_in_markdown(value)}"
