# SPDX-License-Identifier: BSD-3-Clause
"""Bring a log over HTTP into a file: whole and verified, or not there at all.

What has come so far lies beside the destination as ``NAME.part``; a later attempt, also of a later run or after a
kill, asks only for the rest. The checksum decides whether the parts fit together: if not, all is fetched afresh, and
what is then still not the log expected is kept as ``NAME.bad``. A second process waits at ``NAME.lock`` for the first,
and then finds the log in place.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import requests
import urllib3
from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout
from requests.adapters import HTTPAdapter
from tqdm import tqdm

from swftools._version import __version__
from swftools.errors import AcquireError, StorageError, SwfToolsError, UnreadableLogError
from swftools.formats.compression import TEXT_LIMIT
from swftools.formats.text_hash import text_sha256
from swftools.output.amounts import duration

BACKOFF = 0.5
"""Half the seconds before the second further attempt; each one after it waits twice as long as the one before."""

LONGEST_WAIT = 120.0
"""Most seconds between two attempts, whatever the server asks for."""

LEAST_BYTES = 1 << 10
"""Bytes that have to come in the time in which a server must answer: one that trickles would never end."""

_PIECE = 1 << 14  # what a broken connection or a kill may lose of what came

_CAUSES: dict[tuple[type[BaseException], ...], str] = {
    (requests.HTTPError,): "the server gives no log",
    (requests.exceptions.InvalidSchema,): "leads to an address that is not https",
    (requests.TooManyRedirects,): "redirected in circles",
    (requests.exceptions.ProxyError,): "no way through the proxy that the environment names",
    (requests.exceptions.SSLError, urllib3.exceptions.SSLError): "the server's certificate cannot be trusted",
    (socket.gaierror,): "the server's name cannot be resolved: there is no network, or no such server",
    (ConnectionRefusedError,): "the server refuses the connection",
    (urllib3.exceptions.NewConnectionError,): "no connection",  # which calls itself a timeout too
    (requests.Timeout, urllib3.exceptions.TimeoutError): "the server does not answer in time",
    (requests.ConnectionError, urllib3.exceptions.HTTPError): "the connection broke",
    (ValueError,): "not a web address",
}
"""What users read, by what is somewhere in the chain of errors; the first that fits."""

logger = logging.getLogger(__name__)


class Remedies(NamedTuple):
    """What a user can do when a log could not be fetched, or came and is another."""

    by_hand: str
    is_new: str


OF_CARD = Remedies(
    "put it as {name} into a directory of SWFTOOLS_LOG_PATH, or pass its path (--log PATH)",
    "if the archive has a new version of the log, give it a card of its own in the catalogue",
)
OF_ADDRESS = Remedies("give the path of the file", "give the hash of what is there now, or the right address")


def download(
    url: str,
    destination: Path,
    *,
    sha256: str | None,
    max_bytes: int = TEXT_LIMIT,
    retries: int = 4,
    timeout: float = 30.0,
    remedies: Remedies = OF_CARD,
) -> None:
    """Download a log, unless it is there already; it appears, or takes another's place, whole and verified.

    Parameters
    ----------
    url : str
        An http or https address; redirects from https are followed to https only.
    destination : Path
        File to make; its directory is made too.
    sha256 : str or None
        Of the decompressed text, or of the file as it comes. Without one a file that is there is taken as it is, and
        nothing is resumed, because no hash tells whether the parts are of one file.
    max_bytes : int
        Most bytes of the decompressed text. As many are fetched, and the hundredth that compression may add.
    retries : int
        Further attempts after one that failed by connection, time, truncation, a busy or a failing server.
    timeout : float
        Seconds to wait for a connection, and for each piece of the answer. An answer that brings less than
        ``LEAST_BYTES`` in as many seconds is broken off like one that brings nothing.
    remedies : Remedies
        What messages say that a user can do.

    Raises
    ------
    AcquireError
        The log could not be fetched, or what came is not the log that was expected.
    StorageError
        The file cannot be written: disk full, no permission.
    """
    part, bad = _beside(destination, ".part"), _beside(destination, ".bad")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with _lock(destination):
            if destination.exists() and not _fault(destination, sha256, max_bytes):
                return
            logger.info("%s: downloading", url)
            limit = max_bytes + max_bytes // 100 + 1024
            if sha256 is None:
                part.unlink(missing_ok=True)
            resumes = sha256 is not None
            if _fetch(url, part, limit, retries, timeout, resumes=resumes) and _fault(part, sha256, max_bytes):
                part.unlink()  # its parts were of two versions, or of two addresses
                _fetch(url, part, limit, retries, timeout, resumes=resumes)
            fault = _fault(part, sha256, max_bytes)
            part.replace(bad if fault else destination)
    except SwfToolsError:
        raise
    except (OSError, urllib3.exceptions.HTTPError, ValueError) as error:
        # What the disk says has a number, unlike errors of requests, which are OSErrors too.
        if isinstance(error, OSError) and error.errno is not None:
            raise StorageError(f"{destination}: cannot be written ({error}); check space and permission") from error
        raise AcquireError(
            f"{url}: {_cause(error)}; run again later, or download it by hand: "
            f"{remedies.by_hand.format(name=destination.name)}"
        ) from error
    if fault:
        raise AcquireError(f"{url}: {fault}; what came is kept as {bad}; run again, or, {remedies.is_new}")
    logger.info("downloaded %s to %s", url, destination)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _lock(destination: Path) -> AbstractContextManager[object]:
    """Return the lock on a destination, once no other process has it; it ends with the process however that ends."""
    try:
        return _acquire(FileLock(_beside(destination, ".lock")))
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP):
            raise
        # The file system has no locks. What the attempt has left must not be taken for another process's mark.
        return _acquire(SoftFileLock(_beside(destination, ".mark.lock")))


def _acquire(lock: BaseFileLock) -> AbstractContextManager[object]:
    try:
        return lock.acquire(blocking=False)
    except Timeout:
        logger.info("waiting for another process's download; if there is none any more, remove %s", lock.lock_file)
        return lock.acquire()


def _fault(path: Path, sha256: str | None, max_bytes: int) -> str:
    """Say why a file is not the log expected; nothing where it is."""
    with path.open("rb") as file:
        is_page = file.read(100).lstrip().startswith(b"<")
        file.seek(0)
        if sha256 is None:
            return "it looks like a web page, not a log" if is_page else ""
        if hashlib.file_digest(file, "sha256").hexdigest() == sha256.lower():
            return ""
    try:
        actual = text_sha256(path, max_bytes)
    except UnreadableLogError as error:
        return f"what came is no readable log, or longer than expected ({str(error).partition(';')[0]})"
    if actual == sha256.lower():
        return ""
    page = ", and it looks like a web page" if is_page else ""
    return f"the text's sha256 is {actual}, expected {sha256}{page}"


class _Patience(urllib3.Retry):
    """Waits as long as a server asks, within bounds; a Retry-After that makes no sense is skipped."""

    def get_retry_after(self, response: urllib3.BaseHTTPResponse) -> float | None:
        try:
            return min(super().get_retry_after(response) or 0, LONGEST_WAIT)
        except (urllib3.exceptions.InvalidHeader, ValueError):
            return None


def _fetch(url: str, part: Path, limit: int, retries: int, timeout: float, *, resumes: bool) -> bool:
    """Get into the part file what is missing of it, in several attempts; tell whether anything was there before."""
    busy = (408, 429, 500, 502, 503, 504)
    patience = _Patience(retries, other=0, status_forcelist=busy, raise_on_status=False, backoff_factor=BACKOFF)
    with requests.Session() as session:
        # Only these: an address of another kind, and http after https, has no adapter and is refused.
        session.adapters.clear()
        for scheme in {"https", urlsplit(url).scheme} & {"https", "http"}:
            session.mount(f"{scheme}://", HTTPAdapter(max_retries=patience))
        while True:
            try:
                return _attempt(session, url, part, limit, timeout, resumes=resumes)
            except urllib3.exceptions.HTTPError as error:
                # The body broke off: the adapter's own patience ends where it begins.
                patience = patience.increment("GET", url, error=error)
                logger.warning("%s: %s; trying again", url, _cause(error))
                patience.sleep()


def _attempt(session: requests.Session, url: str, part: Path, limit: int, timeout: float, *, resumes: bool) -> bool:
    """Ask once, and append what comes to the part file; tell whether anything was there before."""
    start = part.stat().st_size if resumes and part.exists() else 0
    # Bytes must come as they are stored: a body encoded on the way has neither length nor ranges.
    headers = {"Accept-Encoding": "identity", "User-Agent": f"swftools/{__version__}"}
    headers |= {"Range": f"bytes={start}-"} if start else {}
    with session.get(url, headers=headers, stream=True, timeout=timeout) as response:
        status = response.status_code
        if start and status == requests.codes.requested_range_not_satisfiable:
            return True  # nothing is missing
        if status != requests.codes.ok and not (start and status == requests.codes.partial_content):
            raise requests.HTTPError(f"HTTP status {status} {response.reason}")
        start = start if status == requests.codes.partial_content else 0
        # None where the server does not tell it; where it does, urllib3 raises if less comes.
        left = response.raw.length_remaining
        total = None if left is None else start + left
        length = "a file of unknown length" if total is None else f"{total:,} bytes"
        logger.info("%s: %s", url, length)
        with (
            part.open("ab" if start else "wb") as file,
            tqdm(total=total, initial=start, unit="B", unit_scale=True, disable=None) as bar,
        ):
            pace = _Pace(timeout)
            for block in _pieces(response.raw):
                pace.take(len(block))
                if max(file.tell() + len(block), total or 0) > limit:
                    part.unlink()
                    raise requests.HTTPError(f"{length}, more than the limit of {limit:,}")
                file.write(block)
                bar.update(len(block))
            file.flush()
            os.fsync(file.fileno())
    return start > 0


def _pieces(raw: Any) -> Iterator[bytes]:
    """Yield what has come, as soon as something has: a whole piece may take hours."""
    while block := raw.read1(_PIECE, decode_content=False):
        yield block


class _Pace:
    """Watches how fast an answer comes."""

    def __init__(self, patience: float) -> None:
        self._patience, self._began, self._count = patience, time.monotonic(), 0

    def take(self, count: int) -> None:
        """Take note of so many bytes; raise ProtocolError where there were too few for too long."""
        self._count += count
        now = time.monotonic()
        if now - self._began < self._patience:
            return
        if self._count < LEAST_BYTES:
            told = f"{self._count} bytes in {duration(now - self._began)}"
            raise urllib3.exceptions.ProtocolError(f"too slow: {told}, and at least {LEAST_BYTES:,} are expected")
        self._began, self._count = now, 0


def _cause(error: BaseException) -> str:
    """Say in a few words what went wrong, with the system's words; the libraries' hold the insides of objects."""
    chain = [error]
    while inner := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(inner)
    fitting = (words for kinds, words in _CAUSES.items() if any(isinstance(link, kinds) for link in chain))
    return f"{next(fitting, 'cannot be asked')} ({chain[-1]})"
