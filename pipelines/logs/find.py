# SPDX-License-Identifier: BSD-3-Clause
"""Which log a name means: a card of the catalogue, a file, and where its text can be had; or a model."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from pipelines.catalog.cards import RESOURCES, Catalog, LogCard, TablesCard
from pipelines.catalog.reader import read_catalog
from pipelines.config import log_directories, setting
from pipelines.keys import canonical_json
from pipelines.logs.dependent import may_have_dependencies
from pipelines.logs.file_cache import FileCache
from pipelines.logs.generated import MODELS, find_model
from pipelines.logs.how_read import HowRead
from pipelines.logs.names import name_of_file, name_of_model
from pipelines.logs.published import hash_of_jobs, read_manifest, version_folder
from pipelines.logs.tables import hash_of_tables
from pipelines.names import LATEST
from swftools.errors import AcquireError, StorageError, SwfToolsError
from swftools.formats.compression import source_name
from swftools.formats.fetch import fetch_log, is_address
from swftools.formats.multi_file import log_files
from swftools.formats.place import file_of
from swftools.formats.text_hash import joined_sha256, text_sha256
from swftools.parameters import Parameters, did_you_mean
from swftools.parameters.spelling import as_known

SHIPPED_LOG = "SDSC-BLUE-2000-4.2-cln-5000-9999"
"""Name of the log shipped with the package, the input unless another is named."""

_SUFFIXES = ("", ".gz", ".bz2", ".xz", ".zst")


@dataclass(frozen=True)
class Log:
    """A log to be processed.

    Parameters
    ----------
    name : str
        Its card's name, or made from its file's name; safe as a name of a data set.
    card : LogCard, optional
        What the catalogue knows of it.
    path : Path, optional
        A local file that holds it, or would if it existed; or a folder or pattern of several.
    sha256 : str, optional
        Hash of the decompressed text; None where there is no such file.
    problem : str, optional
        Why there is no such log, and what to do.
    damage : str, optional
        Why the file is there but cannot be read, and what to do.
    model : Parameters, optional
        Of what generates it; then there is no text, and ``sha256`` is that of the parameters.
    how : HowRead
        How its text is read.
    """

    name: str
    card: LogCard | None = None
    path: Path | None = None
    sha256: str | None = None
    problem: str | None = None
    damage: str | None = None
    model: Parameters | None = None
    how: HowRead = field(default_factory=HowRead)
    version: Path | None = None
    """The folder of the published version that it is: its jobs are a table, and cleaned."""
    tables: TablesCard | None = None
    """The card of the tables that it is: then it is no log of jobs, which ``problem`` says to all who ask for one."""

    @property
    def has_dependencies(self) -> bool:
        """Whether jobs of it may wait for others."""
        return may_have_dependencies(self)


def catalog_in_use() -> Catalog:
    """Return the catalogue that the setting ``catalog`` names, else the shipped one, as it is on disk now.

    Raises
    ------
    CatalogError
        It is not valid.
    """
    return _catalog(Path(setting("catalog") or str(RESOURCES / "data_catalog.yaml")))


def find_log(log: str, how: HowRead | None = None) -> Log:
    """Find a log by the name of its card, by a path, or by the name of a model with parameters.

    A path may be that of a folder, or a pattern: its files are one log, whose text is theirs one behind the other. The
    folder of a published version, or of its jobs, is a log whose jobs are those; so is the name of a data set in the
    data root, where there is no file of that name. An https address is fetched into the cache, and read from there.
    ``how`` says how it is read, where its card does not say so or is to be overruled.

    The name of a card of tables is found, too: ``tables`` is the card, and ``problem`` says that it is no log.

    A card's log is taken from the package, from the directories of the setting ``log_path``, or (path None)
    from the card's url. A file whose text has the hash of a card's log is that log.

    Raises
    ------
    CatalogError
        The catalogue is not valid.
    ParameterError
        It is a model, and its parameters are wrong.
    """
    how = how or HowRead()
    if model := find_model(log):
        key = hashlib.sha256(canonical_json({model.NAME: model.to_mapping()}).encode()).hexdigest()
        return Log(name_of_model(model), sha256=key, model=model)
    if is_address(log):
        return _fetched(log, how)
    catalog = catalog_in_use()
    if (card_name := as_known(log, catalog.logs)) != log and not is_there(Path(log).expanduser()):
        log = card_name
    if log in catalog.logs:
        card = catalog.logs[log]
        return Log(card.name, card, _local_copy(card), card.sha256, how=_with_card(how, card))
    if log in catalog.tables:
        return _tables(catalog.tables[log])
    return _in_files(log, how, catalog)


def _tables(card: TablesCard) -> Log:
    """Return what a card of tables says, as a log that nobody can simulate."""
    told = f"{card.name} is a set of tables, not a log of jobs; papers are made of it: swftools reproduce"
    return Log(card.name, sha256=hash_of_tables(card), problem=told, tables=card)


def _in_files(log: str, how: HowRead, catalog: Catalog) -> Log:
    """Return the log, or the published version, that a path means."""
    path = Path(log).expanduser()
    if folder := version_folder(path):
        try:
            manifest = read_manifest(folder)
        except SwfToolsError as error:
            return Log(name_of_file(folder), path=path, damage=str(error), version=folder)
        return Log(manifest["data_set"], path=path, sha256=hash_of_jobs(manifest), version=folder)
    if not is_there(path) and (published := _published(log)):
        return find_log(str(published), how)
    if not is_there(path):
        known = ", ".join([*catalog.logs, *MODELS])
        near = did_you_mean([log], [*catalog.logs, *MODELS])
        what = "a folder without files" if path.is_dir() else "neither a file nor a card of the catalogue"
        return Log(
            name_of_file(path), path=path, problem=f"log {log!r} is {what}; give a path, or one of: {known}{near}"
        )
    try:
        sha256 = _sha256(path.resolve()) if path.is_file() else _hashes_as(how.format)(path)
    except (SwfToolsError, OSError) as error:
        return Log(name_of_file(path), path=path, damage=str(error), how=how)
    matching = catalog.card_of(sha256)
    name = matching.name if matching else name_of_file(path)
    return Log(name, matching, path, sha256, how=_with_card(how, matching) if matching else how)


def _fetched(address: str, how: HowRead) -> Log:
    """Return the log at a web address, which is fetched into the cache unless it is there."""
    try:
        return find_log(fetch_log(address), how)
    except (AcquireError, StorageError) as error:
        return Log(name_of_file(Path(address.partition("#")[0])), path=Path(address), damage=str(error), how=how)


def _published(name: str) -> Path | None:
    """Return the folder of the latest version of a data set in the data root, if there is one of that name on disk."""
    folder = Path(setting("data_root") or "data") / name
    latest = folder / LATEST
    if Path(name).name != name or not latest.is_file():
        return None
    version = folder / latest.read_text(encoding="utf-8").strip()
    return version if version.parent == folder and version_folder(version) else None


def _with_card(how: HowRead, card: LogCard) -> HowRead:
    """Return how a card's log is read: as is asked for, else as the card says."""
    return how if how.format else HowRead(card.read_as, how.anonymise)


def is_there(path: Path) -> bool:
    """Return whether there is a file, a folder with files, or a file that is like a pattern."""
    try:
        return all(file_of(source_name(source)).is_file() for source in log_files(path).sources)
    except SwfToolsError:
        return False


def is_stream(log: str) -> bool:
    """Return whether a log's name means standard input, or a pipe: text that can be had once only."""
    if log == "-":
        return True
    path = Path(log).expanduser()
    return path.is_fifo() or path.is_char_device() or str(path) == "/dev/stdin"


_catalog = FileCache(read_catalog)
_sha256 = FileCache(text_sha256)


@cache
def _hashes_as(format_: str) -> FileCache[str]:
    """Return what remembers the hash of several files that are one log of a format, which puts them in order."""
    return FileCache(partial(_joined_sha256, format_))


def _joined_sha256(format_: str, path: Path) -> str:
    return joined_sha256(HowRead(format_).files(path))


def path_of(log: str) -> Path | None:
    """Return the file that a log is read from, without looking into it; None where it is read from none."""
    if is_stream(log):
        return Path("/dev/stdin" if log == "-" else log)
    path = Path(log).expanduser()
    if is_there(path) or find_model(log):
        return path if is_there(path) else None
    card = catalog_in_use().logs.get(log)
    return _local_copy(card) if card else None


def _local_copy(card: LogCard) -> Path | None:
    """Return a local file that holds a card's log, if there is one."""
    if card.file:
        return Path(str(RESOURCES.joinpath(*card.file.split("/"))))
    names = [f"{card.name}{kind}{suffix}" for kind in _kinds(card) for suffix in _SUFFIXES]
    candidates = (folder / name for folder in log_directories() for name in names)
    return next((path for path in candidates if is_there(path)), None)


def name_by_hand(card: LogCard) -> str:
    """Return as what a card's log, which was downloaded by hand, is found in a directory of logs."""
    if card.format == "swf":
        return f"{card.name}.swf.gz"
    there = (card.url or "").rpartition("/")[2]
    endings = [f"{kind}{suffix}" for kind in _kinds(card)[1:] for suffix in _SUFFIXES]
    return f"{card.name}{next((each for each in endings if there.endswith(each)), '')}"


def _kinds(card: LogCard) -> tuple[str, ...]:
    """Return how names of a card's file may end, before the ending of a compression."""
    return (".swf",) if card.format == "swf" else ("", ".csv", ".txt", ".log", ".json")
