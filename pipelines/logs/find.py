"""Which log a name means: a card of the catalogue, a file, and where its text can be had; or a model."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pipelines.catalog.cards import RESOURCES, Catalog, LogCard
from pipelines.catalog.reader import read_catalog
from pipelines.config import log_directories, setting
from pipelines.keys import canonical_json
from pipelines.logs.download import text_sha256
from pipelines.logs.generated import MODELS, find_model
from pipelines.logs.names import name_of_file, name_of_model
from swftools.errors import SwfToolsError
from swftools.parameters import Parameters

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
        A local file that holds it, or would if it existed.
    sha256 : str, optional
        Hash of the decompressed text; None where there is no such file.
    problem : str, optional
        Why there is no such log, and what to do.
    damage : str, optional
        Why the file is there but cannot be read, and what to do.
    model : Parameters, optional
        Of what generates it; then there is no text, and ``sha256`` is that of the parameters.
    """

    name: str
    card: LogCard | None = None
    path: Path | None = None
    sha256: str | None = None
    problem: str | None = None
    damage: str | None = None
    model: Parameters | None = None


def find_log(log: str) -> Log:
    """Find a log by the name of its card, by a path, or by the name of a model with parameters.

    A card's log is taken from the package, from the directories of the setting ``log_path``, or (path None)
    from the card's url. A file whose text has the hash of a card's log is that log.

    Raises
    ------
    CatalogError
        The catalogue is not valid.
    ParameterError
        It is a model, and its parameters are wrong.
    """
    if model := find_model(log):
        key = hashlib.sha256(canonical_json({model.NAME: model.to_mapping()}).encode()).hexdigest()
        return Log(name_of_model(model), sha256=key, model=model)
    catalog = _catalog(setting("catalog"))
    if log in catalog.logs:
        card = catalog.logs[log]
        return Log(card.name, card, _local_copy(card), card.sha256)
    path = Path(log).expanduser()
    if not path.is_file():
        known = ", ".join([*catalog.logs, *MODELS])
        what = "a directory" if path.is_dir() else "neither a file nor a card of the catalogue"
        return Log(name_of_file(path), path=path, problem=f"log {log!r} is {what}; give a path, or one of: {known}")
    try:
        status = path.stat()
        sha256 = _sha256(path.resolve(), status.st_size, status.st_mtime_ns)
    except (SwfToolsError, OSError) as error:
        return Log(name_of_file(path), path=path, damage=str(error))
    matching = catalog.card_of(sha256)
    return Log(matching.name if matching else name_of_file(path), matching, path, sha256)


@cache
def _catalog(path: str) -> Catalog:
    return read_catalog(path or None)


@cache
def _sha256(path: Path, size: int, modified: int) -> str:  # noqa: ARG001 (size and time are the cache's key)
    return text_sha256(path)


def _local_copy(card: LogCard) -> Path | None:
    """Return a local file that holds a card's log, if there is one."""
    if card.file:
        return Path(str(RESOURCES.joinpath(*card.file.split("/"))))
    candidates = (folder / f"{card.name}.swf{suffix}" for folder in log_directories() for suffix in _SUFFIXES)
    return next((path for path in candidates if path.is_file()), None)
