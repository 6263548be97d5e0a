# SPDX-License-Identifier: BSD-3-Clause
"""Names with parameters as text: ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``, and lists of those separated by commas.

So are policies, cleaning rules, predictors and generated logs named on a command line, in a card and in a call.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from swftools.errors import ParameterError
from swftools.parameters.spelling import as_known

SCALARS: dict[str, re.Pattern[str]] = {
    "null": re.compile(r"^(?:~|null|)$"),
    "bool": re.compile(r"^(?:true|false)$"),
    "int": re.compile(r"^-?[0-9]{1,40}$"),
    "float": re.compile(
        r"^-?(?:(?:[0-9]{1,40}\.[0-9]{0,40}|[0-9]{1,40}(?=[eE]))(?:[eE][-+]?[0-9]{1,40})?|"
        r"\.[0-9]{1,40}(?:[eE][-+][0-9]{1,40})?)$"
    ),
}
"""What a word of YAML is, by its type there; any other is text, so ``no`` and ``1:30`` stay what was written."""

_WORD = re.compile(r"""\s*(?P<key>[^,=]*?)\s*(?:=\s*(?P<value>"[^"]*"|'[^']*'|[^,]*?)\s*)?(?P<comma>,|\Z)""")


def read_entry(text: str, known: Collection[str] = ()) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``.

    Parameters
    ----------
    text : str
        Values are read as YAML scalars, blanks around words do not count; a key with a dot is a key within a mapping.
        The name may be ``module:name``.
    known : collection of str
        Names behind whose colon there can only be parameters, so that a mistake in them is told as one. One of them is
        returned as it stands here, however it is spelled (``spelling.as_known``).

    Raises
    ------
    ParameterError
        The form is another, several are given, or a key stands twice.

    Examples
    --------
    >>> read_entry("my_policies:patient:max_wait=3600,order=sjf")
    ('my_policies:patient', {'max_wait': 3600, 'order': 'sjf'})
    >>> read_entry("lublin-feitelson:types=mix,batch.u_med=4.5")
    ('lublin-feitelson', {'types': 'mix', 'batch': {'u_med': 4.5}})
    """
    entries = read_entries(text, known)
    if len(entries) != 1:
        raise ParameterError(f"{text!r} is not one NAME or NAME:KEY=VALUE,KEY=VALUE but {len(entries)}")
    return entries[0]


def read_entries(text: str, known: Collection[str] = ()) -> list[tuple[str, dict[str, Any]]]:
    """Return the names and parameters of a list of entries separated by commas.

    A word without ``=``, or with a colon before it, begins a new entry; see ``read_entry``.

    Examples
    --------
    >>> read_entries("fcfs,easy:reservations=2,backfill_order=sjf,conservative")
    [('fcfs', {}), ('easy', {'reservations': 2, 'backfill_order': 'sjf'}), ('conservative', {})]
    """
    entries: list[tuple[str, dict[str, Any]]] = []
    for word, key, value in _words(text):
        name, colon, inner = key.rpartition(":") if value is not None else (key, "", "")
        head, _, rest = key.partition(":")
        if value is None and rest and head in known:  # spelled otherwise it may be a module of one's own
            raise ParameterError(f"{text!r}: {rest!r} is not KEY=VALUE, such as {head}:KEY=VALUE,KEY=VALUE")
        if value is None or colon:
            if not name:
                raise ParameterError(f"{text!r}: {word!r} is not a name, nor NAME:KEY=VALUE")
            entries.append((as_known(name.strip(), known), {}))
        elif not entries:
            raise ParameterError(f"{text!r}: {word!r} comes before any name; write NAME:{word}")
        if value is not None:
            _assign(text, entries[-1][1], word, inner.strip() if colon else key, value)
    return entries


def read_assignments(text: str) -> dict[str, Any]:
    """Return the parameters of ``KEY=VALUE,KEY=VALUE``, the part of ``read_entry`` behind the colon; of "" none.

    Examples
    --------
    >>> read_assignments("bound=60, trimmed=true")
    {'bound': 60, 'trimmed': True}
    """
    values: dict[str, Any] = {}
    for word, key, value in _words(text):
        if value is None:
            raise ParameterError(f"{text!r}: {word!r} is not KEY=VALUE")
        _assign(text, values, word, key, value)
    return values


def write_entry(name: str, values: Mapping[str, Any]) -> str:
    """Return a name and parameters in the form that ``read_entry`` takes back.

    Examples
    --------
    >>> write_entry("virtual", {"error": 0.5}), write_entry("request", {})
    ('virtual:error=0.5', 'request')
    """
    words = [f"{key}={_scalar_text(value)}" for key, value in _flat(values)]
    return f"{name}:{','.join(words)}" if words else name


def read_scalar(text: str) -> Any:
    """Return what a YAML scalar means: none, a truth value, a number, or else text, which may be in quotes.

    Examples
    --------
    >>> read_scalar("1e9"), read_scalar("no"), read_scalar("'7'"), read_scalar("null")
    (1000000000.0, 'no', '7', None)
    """
    kind = next((kind for kind, pattern in SCALARS.items() if pattern.match(text)), "str")
    if kind == "null":
        return None
    if kind == "bool":
        return text == "true"
    if kind == "str":
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
    return int(text) if kind == "int" else float(text)


def _words(text: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield each word of a text, its key, and its value; None where it has none."""
    for match in _WORD.finditer(text) if text.strip() else ():
        yield match[0].removesuffix(",").strip(), match["key"], match["value"]
        if not match["comma"]:
            return


def _assign(text: str, values: dict[str, Any], word: str, key: str, value: str) -> None:
    """Put the value of a word into a mapping, of a key with dots into the mapping within."""
    *outer, inner = key.split(".")
    if not (value and inner and all(outer)) or value[0] in "[]{}":
        raise ParameterError(f"{text!r}: {word!r} is not KEY=VALUE, such as jobs=10000, or batch.u_med=4.5")
    within: Any = values
    for name in outer:
        within = within.setdefault(name, {}) if isinstance(within, dict) else None
    if not isinstance(within, dict) or inner in within:
        raise ParameterError(f"{text!r}: {key} is given twice")
    within[inner] = read_scalar(value)


def _flat(values: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key, with dots for mappings within, and its value."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _scalar_text(value: object) -> str:
    """Return the text of which ``read_scalar`` makes a value."""
    if isinstance(value, str):
        is_plain = value.strip() == value and not set(value) & set(",\"'[]{}") and read_scalar(value) == value
        return value if is_plain else f"'{value}'" if '"' in value else f'"{value}"'
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else repr(value)
