# SPDX-License-Identifier: BSD-3-Clause
"""Write the pages of the formats of tables from what each class declares: ``make format-pages``.

Each page is of one class, so that a format stays one file. ``--check`` says whether they are as they would be written.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path

import swftools.formats.detect  # noqa: F401 (registers the formats)
from swftools.formats import list_formats
from swftools.formats.tables.mapping import MappedTable
from swftools.formats.tables.table_format import TableFormat

FOLDER = Path(__file__).parent / "formats" / "tables"
_MEANINGS = {
    "submit": "submission",
    "eligible": "`eligible_time`",
    "start": "start",
    "end": "end",
    "wait_time": "wait time",
    "run_time": "run time",
    "requested_time": "requested time",
    "cpu_time": "CPU time, of all processors",
    "allocated_processors": "allocated processors",
    "requested_processors": "requested processors",
    "used_memory": "used memory",
    "requested_memory": "requested memory",
    "state": "status, `logged_state`",
    "status": "status",
    "user": "user",
    "group": "group",
    "executable": "executable",
    "queue": "queue",
    "partition": "partition",
}
_STATUS = {0: "failed (0)", 1: "completed (1)", 5: "cancelled (5)", None: "has not ended: quarantined"}


def pages() -> dict[Path, str]:
    """Return the text of every page."""
    kinds = {
        name: kind for name, kind in list_formats().items() if issubclass(kind, TableFormat) and kind is not MappedTable
    }
    return {FOLDER / f"{name}.md": page_of(kind) for name, kind in sorted(kinds.items())}


def page_of(kind: type[TableFormat]) -> str:
    """Return the page of a format."""
    module = inspect.getdoc(inspect.getmodule(kind)) or ""
    parts = [
        f"# {kind.TITLE}",
        module,
        f"Get {kind.COMMAND}. It is recognised from its columns; `--format {kind.NAME}` says it instead.",
        "\n".join(
            [
                f"* **A job:** {kind.JOB}",
                f"* **Its width:** {kind.WIDTH}",
                f"* **Its machine:** {kind.MACHINE}",
                f"* **Tried on:** {kind.TRIED}",
            ]
        ),
        _columns(kind),
        _states(kind),
        _times(kind),
    ]
    if kind.TRAPS:
        parts.append("To know of it:\n\n" + "\n".join(f"* {trap}" for trap in kind.TRAPS))
    parts += [_snippet(kind), kind.LICENCE]
    parts.append("What all tables have in common: [tables](../../tables.md).")
    made = "<!-- Made by make format-pages from the class of the format; do not edit. -->"
    return "\n\n".join([parts[0], made, *(part for part in parts[1:] if part)]) + "\n"


def _columns(kind: type[TableFormat]) -> str:
    """Return the table of columns, and that of widths."""
    rows = ["| SWF, and beyond | from |", "|---|---|"]
    rows += [f"| {_MEANINGS.get(name, f'`{name}`')} | {each.in_words} |" for name, each in kind.COLUMNS.items()]
    widths = [
        f"| {_MEANINGS[name]}, `width={word}`{' (as it is by default)' * (place == 0)} | {each.in_words} |"
        for place, (word, columns) in enumerate(kind.WIDTHS.items())
        for name, each in columns.items()
    ]
    return "\n".join(rows + widths)


def _states(kind: type[TableFormat]) -> str:
    """Return what states mean."""
    if not kind.STATES:
        return ""
    meanings: dict[int | None, list[str]] = {}
    for word, status in kind.STATES.items():
        meanings.setdefault(status, []).append(word)
    told = "; ".join(f"{', '.join(words)}: {_STATUS[status]}" for status, words in meanings.items())
    return f"States, in small letters too: {told}. Another state sends its row to the quarantine."


def _times(kind: type[TableFormat]) -> str:
    """Return what times mean."""
    if not kind.HAS_DATES:
        return "Times have no date: second 0 is the first submission, and the header has no `UnixStartTime`."
    if kind.ZONE:
        return f"Times without a zone are those of {kind.ZONE}; `time_zone=` says another."
    return ""


def _snippet(kind: type[TableFormat]) -> str:
    """Return code that reads a few rows."""
    if not kind.EXAMPLE:
        return ""
    options = ', time_zone="America/Chicago"' if kind.NAME == "alcf" else ""
    rows = kind.EXAMPLE.replace("\\", "\\\\")
    return (
        f'```python\nimport io\n\nfrom swftools import read_log\n\nrows = b"""\\\n{rows}"""\n'
        f'trace = read_log(io.BytesIO(rows), "{kind.NAME}"{options})\n'
        'print(trace.jobs[["submit_time", "wait_time", "run_time", "requested_processors", "status"]].to_string())\n'
        f"assert len(trace) >= 2 and not len(trace.quarantine)\n```"
    )


def main(words: list[str] | None = None) -> int:
    """Write the pages, or say which differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; the status says whether all are as written"
    )
    check = parser.parse_args(words).check
    wrong = [path for path, text in pages().items() if not path.exists() or path.read_text("utf-8") != text]
    wrong += [path for path in FOLDER.glob("*.md") if path not in pages()]
    for path in wrong:
        sys.stdout.write(
            f"{path.name}: {'not as it would be written; run make format-pages' if check else 'written'}\n"
        )
        if check:
            continue
        if path in pages():
            path.write_text(pages()[path], encoding="utf-8")
        else:
            path.unlink()
    return int(check and bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
