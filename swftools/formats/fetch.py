# SPDX-License-Identifier: BSD-3-Clause
"""Logs by their web address: fetched once, into a cache on this machine, and read from there.

What is in the cache is read without asking the server, so a log stays what it was, also offline. An address may end
with ``#sha256=HEX``, the hash of the file or of its decompressed text, with ``#NAME``, a file of a zip archive, or with
both: ``#sha256=HEX&NAME``.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from swftools.errors import ParameterError
from swftools.formats.compression import TEXT_LIMIT

if TYPE_CHECKING:
    from swftools.formats.download import Remedies

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_HASH = re.compile(r"[0-9a-fA-F]{64}")
_SHA256 = "sha256="

logger = logging.getLogger(__name__)

_known_whole: dict[tuple[Path, str], tuple[int, int]] = {}
"""Size and time of files whose hash this process has seen to be right."""


def is_address(source: object) -> bool:
    """Return whether a source is a web address."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def cache_folder() -> Path:
    """Return where fetched logs are kept: ``SWFTOOLS_CACHE`` of the environment, else swftools in the user's cache."""
    if chosen := os.environ.get("SWFTOOLS_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "swftools"


def on_this_machine(source: Any, *, sha256: str | None = None, max_bytes: int = TEXT_LIMIT) -> Any:
    """Return a source of ``read_log`` with the paths of what was fetched in the place of web addresses.

    Raises
    ------
    ParameterError
        ``sha256`` is given, and the source is no address; or as ``fetch_log``.
    AcquireError, StorageError
        As ``fetch_log``.
    """
    if is_address(source):
        return fetch_log(source, sha256=sha256, max_bytes=max_bytes)
    if sha256 is not None:
        raise ParameterError("sha256 goes with the web address of a log")
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        return [fetch_log(each, max_bytes=max_bytes) if is_address(each) else each for each in source]
    return source


def fetch_log(
    url: str, *, sha256: str | None = None, max_bytes: int = TEXT_LIMIT, remedies: Remedies | None = None
) -> str:
    """Return the path of a log by its address, which is fetched unless it is in the cache.

    Parameters
    ----------
    url : str
        An https address. One of http is taken only with a hash, because anybody on the way may change what comes.
    sha256 : str, optional
        Hash of the file as it is stored there, or of its decompressed text; also behind the address, as
        ``#sha256=HEX``. A file in the cache that has another is fetched afresh.
    max_bytes : int
        Most bytes that are fetched.
    remedies : Remedies, optional
        What messages say that a user can do; as of an address that the user gave by default.

    Returns
    -------
    str
        Of a zip archive with the name behind a ``#``, as the address has it.

    Raises
    ------
    ParameterError
        The address or the hash is none.
    AcquireError
        The log could not be fetched, or has another hash, or is a web page. The message says which.
    StorageError
        The cache cannot be written.
    """
    address, expected, member = _parts(url)
    if sha256 is not None and expected is not None and sha256.lower() != expected:
        raise ParameterError(f"{address}: two hashes, behind the address and as sha256; give one")
    expected = sha256.lower() if sha256 is not None else expected
    if expected is not None and not _HASH.fullmatch(expected):
        raise ParameterError(f"{address}: sha256={expected[:70]} is no hash; it has 64 digits of 0-9 and a-f")
    host = urlsplit(address).hostname
    if not host:
        raise ParameterError(f"{address}: an address without a server; write https://SERVER/PATH")
    if expected is None and not address.lower().startswith("https:"):
        raise ParameterError(
            f"{address}: what comes by http may be changed on the way; use https, or add its hash: {address}#sha256=..."
        )
    folder = cache_folder() / "logs" / hashlib.sha256(address.encode()).hexdigest()[:16]
    path = folder / _file_name(address, host)
    if _is_cached(path, expected):
        logger.info("%s: read from the cache; to fetch it again remove %s", address, path)
    else:
        # Imported late: what is in the cache is read without the libraries of the web.
        from swftools.formats.download import OF_ADDRESS, download  # noqa: PLC0415

        download(address, path, sha256=expected, max_bytes=max_bytes, remedies=remedies or OF_ADDRESS)
        if expected is not None:
            _known_whole[path, expected] = _stamp(path)
    return f"{path}#{member}" if member else str(path)


def _parts(url: str) -> tuple[str, str | None, str | None]:
    """Return an address, the hash behind it, and the name behind it; None where there are none."""
    address, _, rest = url.partition("#")
    expected: str | None = None
    if rest.lower().startswith(_SHA256):
        expected, _, rest = rest[len(_SHA256) :].partition("&")
        expected = expected.lower()
    return address, expected, unquote(rest) or None


def _file_name(address: str, host: str) -> str:
    """Return a safe name for the file of an address: the last of its path, else the server's."""
    name = unquote(urlsplit(address).path).rstrip("/").rpartition("/")[2]
    safe = re.sub(r"[^A-Za-z0-9._+-]+", "-", name).strip("-.")[-100:]
    return safe or re.sub(r"[^A-Za-z0-9.-]+", "-", host)


def _is_cached(path: Path, expected: str | None) -> bool:
    """Return whether a file is in the cache that need not be looked at again."""
    if not path.is_file():
        return False
    return expected is None or _known_whole.get((path, expected)) == _stamp(path)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
