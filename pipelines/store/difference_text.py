# SPDX-License-Identifier: BSD-3-Clause
"""The difference of two versions in words, for a terminal: what was done otherwise, then what came of it."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from swftools.output.shown_text import WIDTH

_MOST_FACTS = 8
_MOST_RESULTS = 20
_MOST_COLUMNS = 6
_MOST_NAMES = 6
_LABEL = 31
_DIGITS = (4, 6, 9, 17)
_SIGNS = {"added": "+", "gone": "-"}
_REST = "--json has all"


def difference_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that tell what ``compare_versions`` found; one line where there is no difference.

    Parameters
    ----------
    found : mapping
        As ``compare_versions`` returns it.
    """
    a, b = found["a"], found["b"]
    if a["version"] == b["version"]:
        yield f"{found['data_set']}: no difference, both are {a['version']}"
        return
    if not found["is_different"]:
        yield f"{found['data_set']}: no difference but the names: {a['version']} and {b['version']}"
        return
    yield found["data_set"]
    for letter, version in (("A", a), ("B", b)):
        names = [*(["latest"] if version["is_latest"] else []), *version["tags"]]
        when = version["published_at"].replace("T", " ").replace("+00:00", "Z")
        yield from _wrapped(f"{letter}  {version['version']}  {when}  {', '.join(names)}".rstrip(), 2)
    yield from _fact_lines(found["facts"])
    for table, metrics in found["metrics"].items():
        yield from _metric_lines(table, metrics)
    yield from _table_lines(found["tables"], found["metrics"])
    yield from _file_lines(found["files"], found["tables"])


# How it was made


def _fact_lines(facts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what the manifests say of how the versions were made."""
    hashes = {fact["path"] for fact in facts if fact["path"].endswith("sha256")}
    for group, changes in groupby(facts, key=lambda fact: fact["group"]):
        # The key of a log is its hash: to tell it once is enough.
        shown = [each for each in changes if each["path"].removesuffix("key") + "sha256" not in hashes - {each["path"]}]
        yield group
        for _, alike in groupby(shown, key=lambda fact: (fact["path"], fact["change"])):
            listed = list(alike)
            for change in listed[:_MOST_FACTS]:
                yield from _fact(change)
            if len(listed) > _MOST_FACTS:
                yield f"    ... and {len(listed) - _MOST_FACTS:,} more {change['change']}; {_REST}"


def _fact(change: Mapping[str, Any]) -> Iterator[str]:
    """Yield one change: in a line where there is room, else a line for what was and one for what is."""
    path = change["path"].removeprefix("parameters.")
    if sign := _SIGNS.get(change["change"]):
        yield _cut(f"  {sign} {path}: {_word(change['b' if sign == '+' else 'a'])}")
        return
    a, b = _apart(change["a"], change["b"])
    line = f"  {path}: {a} -> {b}"
    if change["change"] == "reordered":
        yield _cut(f"  {path}: in another order")
    elif len(line) <= WIDTH:
        yield line
    else:
        yield _cut(f"  {path}:")
        yield _cut(f"    - {a}")
        yield _cut(f"    + {b}")


# What came of it


def _metric_lines(table: str, metrics: Mapping[str, Any]) -> Iterator[str]:
    """Yield the results that differ, the most telling first, and how many others there are."""
    if problem := metrics.get("problem"):
        yield from _wrapped(f"{table}: not compared, {problem}", 0)
        return
    rows = metrics["rows"]
    if not (rows or metrics["only_a"] or metrics["only_b"]):
        return
    yield from _wrapped(f"{table}: {len(rows):,} values differ, {metrics['equal']:,} do not{_legend(metrics)}", 0)
    ordered = sorted(rows, key=_rank)
    for row in ordered[:_MOST_RESULTS]:
        yield from _result(row, _is_judged(rows))
    if rest := ordered[_MOST_RESULTS:]:
        beyond = sum(row["is_beyond_spread"] is True for row in rest)
        yield f"  ... and {len(rest):,} more, {beyond:,} of them by more than chance; {_REST}"
    for letter in "ab":
        yield from _only(metrics[f"only_{letter}"], letter.upper())


def _legend(metrics: Mapping[str, Any]) -> str:
    """Return what the spread is, and what a star says; or why there is none."""
    rows = metrics["rows"]
    spreads = {kind for kind in metrics["spreads"].values() if kind}
    if not rows:
        return ""
    legend = "".join(f"; ± {kind}" for kind in sorted(spreads))
    if _is_judged(rows):
        unknown = any(row["is_beyond_spread"] is None for row in rows)
        return f"{legend}; * by more than chance (p < .05){', ? not known' * unknown}"
    if spreads and all(min(row["a"]["runs"], row["b"]["runs"]) < 2 for row in rows):
        return f"{legend}; one run on a side, so there is no spread to judge by"
    return f"{legend}; there is nothing to judge them by"


def _rank(row: Mapping[str, Any]) -> tuple[bool, int, float]:
    """Return what results are sorted by: the usual ones, then what chance would hardly make, then what moved most."""
    one, other, difference = row["a"]["mean"], row["b"]["mean"], row["difference"]
    share = 1.0 if difference is None else abs(difference) / max(abs(one), abs(other))
    return not row["is_first"], {True: 0, None: 1, False: 2}[row["is_beyond_spread"]], -share


def _is_judged(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the spread tells of any result whether it differs by more."""
    return any(row["is_beyond_spread"] is not None for row in rows)


def _result(row: Mapping[str, Any], is_judged: bool) -> Iterator[str]:
    """Yield a result of both versions; what it is of has a line of its own where it is long."""
    words = [_word(word) for name, word in row["key"].items() if word not in (None, "all") and name != "unit"]
    label = " ".join([*words, *([row["value"]] if row["value"] not in ("value", "ours") else [])])
    a, b = _apart(row["a"]["mean"], row["b"]["mean"])
    spreads = [_spread(row[side]["spread"], row[side]["mean"]) for side in "ab"]
    difference = "" if row["difference"] is None else _word(row["difference"])
    difference = f"+{difference}" if (row["difference"] or 0) > 0 else difference
    mark = {True: " *", None: " ?" * is_judged, False: ""}[row["is_beyond_spread"]]
    numbers = f"{a + spreads[0]:>15} -> {b + spreads[1]:<15} {difference:>9}{mark}"
    if len(label) > _LABEL or len(numbers) > WIDTH - _LABEL - 3:
        yield _cut(f"  {label}")
        yield f"{numbers:>{WIDTH - 2 + len(mark)}}"
    else:
        yield f"  {label:<{_LABEL}} {numbers}"


def _only(keys: Sequence[Mapping[str, Any]], letter: str) -> Iterator[str]:
    """Yield which results only one version has, by what stands first in their keys."""
    if keys:
        first = next(iter(keys[0]))
        counts = Counter(_word(key[first]) for key in keys)
        names = [f"{name} ({count:,})" for name, count in counts.items()]
        yield from _wrapped(f"only in {letter}, by {first}: {_listed(names)}", 2)


# Tables and files


def _table_lines(tables: Mapping[str, Any], metrics: Mapping[str, Any]) -> Iterator[str]:
    """Yield which tables are new, gone or changed; columns of results that are told of above do not count."""
    if not tables:
        return
    yield "tables"
    for name, table in tables.items():
        rows = table["rows"]
        if sign := _SIGNS.get(table["change"]):
            yield f"  {sign} {name}: {rows['b' if sign == '+' else 'a']:,} rows"
            continue
        same = rows["a"] == rows["b"]
        yield f"  {name}: " + (f"{rows['a']:,} rows in both" if same else f"{rows['a']:,} -> {rows['b']:,} rows")
        columns = table["columns"]
        for change, sign in (("added", "+"), ("gone", "-")):
            if columns[change]:
                yield from _wrapped(f"{sign} columns {_listed(columns[change])}", 4)
        for redefined in columns["redefined"]:
            yield from _wrapped(_moves(redefined), 4)
        if name in metrics and "problem" not in metrics[name]:
            continue
        moved = columns["moved"]
        for column in moved[:_MOST_COLUMNS]:
            yield from _wrapped(_moves({key: pair for key, pair in column.items() if key != "by"}), 4)
        if len(moved) > _MOST_COLUMNS:
            yield f"    ... and {len(moved) - _MOST_COLUMNS:,} columns more moved; {_REST}"


def _moves(column: Mapping[str, Any]) -> str:
    """Return a column and what changed of it."""
    changes = [(key, _apart(pair["a"], pair["b"])) for key, pair in column.items() if key != "column"]
    return f"{column['column']}: " + "; ".join(f"{key} {a} -> {b}" for key, (a, b) in changes)


def _file_lines(files: Mapping[str, Any], tables: Mapping[str, Any]) -> Iterator[str]:
    """Yield which files are new, gone or changed; those of tables that are told of as a whole do not count."""
    whole = tuple(f"{name}/" for name, table in tables.items() if table["change"] in _SIGNS)
    told = []
    for change in ("added", "gone", "changed"):
        listed = [file["name"] for file in files[change] if not file.get("tells_version")]
        names = [name for name in listed if not name.startswith(whole)]
        told += [f"{len(names):,} {change} ({_listed(names)})"] if names else []
    if told:
        yield from _wrapped(f"files: {'; '.join(told)}", 0)


# Words


def _apart(a: Any, b: Any) -> tuple[str, str]:
    """Return two values in as few digits or letters as tell them apart."""
    for digits in _DIGITS:
        one, other = _word(a, digits), _word(b, digits)
        if one != other:
            return one, other
    return json.dumps(a, ensure_ascii=False), json.dumps(b, ensure_ascii=False)


def _word(value: Any, digits: int = _DIGITS[0]) -> str:
    """Return a value in words: numbers with so many digits, hashes by their beginning."""
    if value is None:
        return "none"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        is_long = 10 ** (digits - 1) <= abs(value) < 10**7
        return f"{value:,.0f}" if is_long else f"{value:.{digits}g}"
    is_hash = len(value) == 64 and not value.strip("0123456789abcdef")
    return value[: 3 * digits] if is_hash else " ".join(value.split())


def _spread(spread: float | None, mean: float | None) -> str:
    """Return the spread of a mean in words; nothing where there is none, or it is zero."""
    if not spread or mean is None:
        return ""
    return f" ± {spread:,.0f}" if 100 <= spread < 10**7 else f" ± {spread:.2g}"


def _listed(names: Sequence[str]) -> str:
    """Return some names, and how many more there are."""
    rest = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {rest:,} more" if rest > 0 else "")


def _wrapped(text: str, indent: int) -> list[str]:
    """Return a text in lines, those behind the first further in."""
    first, rest = " " * indent, " " * (indent + 4)
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def _cut(line: str) -> str:
    """Return a line that ends where the terminal does."""
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."
