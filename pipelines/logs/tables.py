# SPDX-License-Identifier: BSD-3-Clause
"""Tables that are no log of jobs, by their card: which of its files are here, how the others are had, and what is read.

A card lists its files. One whose hash the card knows is fetched from the card's address if it is not on this machine;
one whose hash is not known is read where it is, and else left out: what is made of the table must say which are there.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from pipelines.catalog.cards import TablesCard
from pipelines.config import log_directories
from pipelines.logs.file_cache import FileCache
from swftools.errors import AcquireError, CatalogError, UnknownLogError
from swftools.formats import read_queue_polls
from swftools.formats.fetch import fetch_log
from swftools.formats.text_hash import text_sha256

_SUFFIXES = ("", ".gz", ".bz2", ".xz", ".zst")
_sha256 = FileCache(text_sha256)


@dataclass(frozen=True, eq=False)
class Tables:
    """The files of a card, read as one table.

    Parameters
    ----------
    name : str
        Of the card.
    files : list of str
        All that the card names, in order; some may be missing from ``found``.
    found : list of str
        Those that were read, in order.
    table : pandas.DataFrame
        Their rows, one behind the other, with the column ``file``.
    """

    name: str
    files: list[str]
    found: list[str]
    table: pd.DataFrame


def files_of(card: TablesCard) -> dict[str, str]:
    """Return the hash of each file that a card names, in order; an empty one where it is not known.

    Raises
    ------
    CatalogError
        The list cannot be read.
    """
    try:
        with Path(card.files).open(encoding="utf-8", newline="") as lines:
            return {row["file"]: row["sha256"] for row in csv.DictReader(lines)}
    except (OSError, KeyError, UnicodeDecodeError) as error:
        raise CatalogError(f"{card.files}: no list of files with the columns file and sha256 ({error})") from error


def hash_of_tables(card: TablesCard) -> str:
    """Return a hash of what will be read: the name and hash of each file that is here, or can be fetched."""
    hashes = [(name, known or (_sha256(path) if path else "")) for name, known, path in _found(card)]
    lines = [f"{sha256}  {name}\n" for name, sha256 in hashes if sha256]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def read_tables(card: TablesCard) -> Tables:
    """Read the files of a card; those that are not on this machine are fetched into the cache.

    Raises
    ------
    UnknownLogError
        None of its files is here, and none can be fetched.
    AcquireError
        A file has another hash than the card says, or cannot be fetched.
    UnreadableLogError, LogFormatError
        A file is no such table.
    """
    paths = {name: _checked(card, name, known, path) for name, known, path in _found(card) if known or path}
    if not paths:
        raise UnknownLogError(
            f"no file of {card.name} is on this machine; put them into a folder, and name it by SWFTOOLS_LOG_PATH"
        )
    table = _READERS[card.format](list(paths.values()), list(paths))
    return Tables(card.name, list(files_of(card)), list(paths), table)


def _found(card: TablesCard) -> Iterator[tuple[str, str, Path | None]]:
    """Yield each file with its hash, empty where nobody can fetch it, and its path, if it is on this machine."""
    folders = (
        [Path(card.folder)] if card.folder else [each for top in log_directories() for each in (top / card.name, top)]
    )
    for name, known in files_of(card).items():
        paths = (folder / f"{name}{suffix}" for folder in folders for suffix in _SUFFIXES)
        path = next((path for path in paths if path.is_file()), None)
        yield name, known if path or card.url else "", path


def _checked(card: TablesCard, name: str, known: str, path: Path | None) -> Path:
    """Return where a file is, once it is what the card says."""
    if path is None:
        from swftools.formats.download import OF_CARD  # noqa: PLC0415 (what it needs for that is of no use before)

        by_hand = f"put it, and the other files of {card.url}, into a directory of SWFTOOLS_LOG_PATH"
        return Path(fetch_log(f"{card.url}{name}", sha256=known, remedies=OF_CARD._replace(by_hand=by_hand)))
    if known and (found := _sha256(path)) != known:
        raise AcquireError(
            f"{path}: its text has the sha256 {found}, not {known} as in card {card.name}; fetch it again"
        )
    return path


def _queue_polls(paths: Sequence[Path], names: Sequence[str]) -> pd.DataFrame:
    parts = [
        read_queue_polls(path, all_columns=True).rows.assign(file=name) for path, name in zip(paths, names, strict=True)
    ]
    return pd.concat(parts, ignore_index=True)


def _start_estimates(paths: Sequence[Path], names: Sequence[str]) -> pd.DataFrame:
    """Read what Slurm said of the starts of jobs, and when they started (``sbatch --test-only``)."""
    return pd.concat(
        [pd.read_csv(path).assign(file=name) for path, name in zip(paths, names, strict=True)], ignore_index=True
    )


_READERS: dict[str, Callable[[Sequence[Path], Sequence[str]], pd.DataFrame]] = {
    "queue-polls": _queue_polls,
    "start-estimates": _start_estimates,
}
