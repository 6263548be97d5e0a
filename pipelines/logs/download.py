"""Bring a log over HTTP into a file: resumed where it broke off, verified, and there only when it is whole.

What has come so far lies beside the destination as ``NAME.part`` (see ``part_file``). A later run, also after a
kill, asks for the rest, provided that the server still has the same version. A second process waits for the
first and then finds the log in place. What came with a wrong checksum is kept aside as ``NAME.bad`` for
inspection, and the next run starts afresh.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import requests
import urllib3
from tqdm import tqdm

from pipelines.logs.part_file import PartFile, open_part
from swftools._version import __version__
from swftools.errors import AcquireError, ParameterError, StorageError, UnreadableLogError
from swftools.formats.compression import TEXT_LIMIT, open_log

DOWNLOAD_LIMIT = 2 << 30
"""Most bytes that a download may have, unless the caller says otherwise."""

LONGEST_WAIT = 120.0
"""Most seconds between two attempts, whatever the server asks for."""

_BLOCK = 1 << 18
_PIECE = 1 << 14  # what a broken connection or a kill may lose of what came
_BY_HAND = "download it by hand and pass --log PATH"
_FINAL = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidSchema,
    requests.exceptions.MissingSchema,
    requests.exceptions.TooManyRedirects,
    requests.exceptions.SSLError,
)

logger = logging.getLogger(__name__)


class _PassingError(Exception):
    """An attempt failed in a way that may pass; ``wait`` is what the server asks for, in seconds."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def text_sha256(path: str | os.PathLike[str] | BinaryIO, max_bytes: int = TEXT_LIMIT) -> str:
    """Return the sha256 of a log's decompressed text, as the cards of ``data_catalog.yaml`` state it.

    Parameters
    ----------
    path : path or binary file object
        Plain or compressed (gzip, bzip2, xz, Zstandard), recognised by its first bytes.
    max_bytes : int
        Most bytes that compressed text may have; plain text has no limit.

    Raises
    ------
    UnreadableLogError
        The log is missing, truncated, corrupt, or longer than ``max_bytes`` once decompressed.
    """
    digest = hashlib.sha256()
    with open_log(path, max_bytes=max_bytes) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def download(
    url: str,
    destination: Path,
    *,
    sha256: str | None,
    max_bytes: int = DOWNLOAD_LIMIT,
    progress: bool = True,
    retries: int = 4,
    timeout: float = 30.0,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Download a log and return the sha256 of its decompressed text.

    The destination appears, or is replaced, at once when all is there and verified. If it is there already with
    the right checksum, nothing is fetched.

    Parameters
    ----------
    url : str
        An http or https address; redirects are followed to such addresses only.
    destination : Path
        File to make; its directory is made too.
    sha256 : str or None
        Of the decompressed text. None takes any log that can be decompressed to its end.
    max_bytes : int
        Most bytes to fetch.
    progress : bool
        Show a bar on a terminal, write log lines elsewhere.
    retries : int
        Further attempts after one that failed by connection, time, truncation, a busy or a failing server.
    timeout : float
        Seconds to wait for a connection, and for each piece of the answer.
    sleep : callable
        Waits between attempts; takes seconds.

    Raises
    ------
    AcquireError
        The log could not be fetched, or what came is not the log that was expected.
    ParameterError
        ``retries`` is negative.
    StorageError
        The file cannot be written: disk full, no permission.
    """
    if retries < 0:
        raise ParameterError(f"retries is {retries}; give 0 or more")
    expected = sha256.lower() if sha256 else None
    with _storage(destination), open_part(destination) as part:
        present = _sum_of(destination) if expected or part.waited else None
        if present and present == (expected or present):
            logger.info("%s is already there", destination)
            return present
        _with_retries(_Fetch(url, part, max_bytes, progress, timeout), retries, sleep)
        os.fsync(part.file.fileno())
        actual = _verified(url, part, destination, expected)
        part.path.replace(destination)
    logger.info("downloaded %s to %s", url, destination)
    return actual


@contextmanager
def _storage(destination: Path) -> Iterator[None]:
    """Turn an error of the file system into one that names the destination."""
    try:
        yield
    except AcquireError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(f"{destination}: cannot be written ({reason}); check space and permission") from error


def _sum_of(path: Path) -> str | None:
    """Return the checksum of a log; None if it is not there or damaged."""
    try:
        return text_sha256(path)
    except UnreadableLogError:
        return None


def _verified(url: str, part: PartFile, destination: Path, expected: str | None) -> str:
    """Return the checksum of what was fetched; move it aside if it is not what was expected."""
    bad = destination.with_name(destination.name + ".bad")
    try:
        actual = text_sha256(part.path)
    except UnreadableLogError as error:
        part.path.replace(bad)
        raise AcquireError(f"{url}: what came is no readable log, see {bad} ({error}); {_BY_HAND}") from error
    if expected and actual != expected:
        part.path.replace(bad)
        raise AcquireError(
            f"{url}: the text's sha256 is {actual}, expected {expected}; what came is kept as {bad}; run again, or, "
            "if the archive has a new version of the log, give it a card of its own in the catalogue"
        )
    return actual


def _with_retries(fetch: _Fetch, retries: int, sleep: Callable[[float], None]) -> None:
    """Fetch, and again after failures that may pass, waiting longer each time."""
    for attempt in range(1, retries + 2):
        try:
            with requests.Session() as session:
                fetch.attempt(session)
        except _FINAL as error:
            raise AcquireError(f"{fetch.url}: {_reason(error)}; {_BY_HAND}") from error
        except (_PassingError, requests.RequestException, urllib3.exceptions.HTTPError) as error:
            reason = _reason(error)
            if attempt > retries:
                raise AcquireError(f"{fetch.url}: {reason}, at attempt {attempt}; {_BY_HAND}") from error
            asked = error.wait if isinstance(error, _PassingError) else None
            delay = min(2.0 ** (attempt - 1) if asked is None else asked, LONGEST_WAIT)
            logger.warning("%s: %s; trying again in %.0f s", fetch.url, reason, delay)
            sleep(delay)
        else:
            return


def _reason(error: Exception) -> str:
    """Say in a few words what went wrong; the libraries' texts hold the insides of objects."""
    if isinstance(error, _PassingError):
        return str(error)
    if isinstance(error, requests.exceptions.InvalidSchema):
        return f"leads to an address that is not http or https ({error})"
    if isinstance(error, requests.exceptions.SSLError):
        return f"the server's certificate cannot be trusted ({error})"
    if isinstance(error, requests.exceptions.TooManyRedirects):
        return "redirected in circles"
    if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.MissingSchema):
        return f"no web address ({error})"
    if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
        return "the server does not answer in time"
    if isinstance(error, requests.ConnectionError) and error.request is not None:
        return f"no connection to {urlsplit(str(error.request.url)).netloc}"
    return f"the connection broke ({type(error).__name__})"


class _Fetch:
    """What to get, and the part file that it goes on from."""

    def __init__(self, url: str, part: PartFile, max_bytes: int, progress: bool, timeout: float) -> None:
        self.url, self._part = url, part
        self._max_bytes, self._progress, self._timeout = max_bytes, progress, timeout

    def attempt(self, session: requests.Session) -> None:
        """Get what is missing; return when the part file holds all."""
        start = self._part.size()
        mark = self._part.mark(self.url) if start else None
        with self._ask(session, start, mark) as response:
            if mark and response.status_code == requests.codes.requested_range_not_satisfiable:
                if response.headers.get("Content-Range") == f"bytes */{start}":
                    return
                self._begin_anew("the server's file is shorter than what came before")
            self._check_status(response)
            if response.status_code == requests.codes.partial_content:
                first = re.match(r"bytes (\d{1,18})-", response.headers.get("Content-Range", ""))
                if not mark or not first or int(first[1]) != start or _mark_of(response) not in (None, mark):
                    self._begin_anew("the server sent another part than asked for")
                logger.info("%s: going on after %s bytes", self.url, f"{start:,}")
            else:
                start = 0
                self._part.empty()
                self._part.set_mark(self.url, _mark_of(response))
            self._receive(response, start)

    def _ask(self, session: requests.Session, start: int, mark: str | None) -> requests.Response:
        """Send the request: for the rest of a known version, or for all."""
        # Bytes must come as they are stored: a body encoded on the way has neither length nor ranges.
        headers = {"Accept-Encoding": "identity", "User-Agent": f"swftools/{__version__}"}
        if mark:
            headers |= {"Range": f"bytes={start}-", "If-Range": mark}
        try:
            return session.get(self.url, headers=headers, stream=True, timeout=self._timeout)
        except requests.RequestException:
            raise
        except OSError as error:
            # Not of the connection: a file of certificates that the environment names and that is not there.
            raise AcquireError(f"{self.url}: {error}; mend that, or {_BY_HAND}") from error

    def _check_status(self, response: requests.Response) -> None:
        """Raise unless the answer is a whole body or a part of it."""
        status = response.status_code
        if status in (requests.codes.ok, requests.codes.partial_content):
            return
        answer = f"HTTP status {status} {response.reason or ''}".rstrip()
        if status >= 500 or status in (requests.codes.too_many_requests, requests.codes.request_timeout):
            raise _PassingError(answer, _retry_after(response.headers.get("Retry-After")))
        raise AcquireError(f"{self.url}: {answer}; {_BY_HAND}")

    def _begin_anew(self, reason: str) -> None:
        """Empty the part file and have the next attempt ask for all."""
        self._part.empty()
        raise _PassingError(f"{reason}; beginning anew", 0.0)

    def _receive(self, response: requests.Response, start: int) -> None:
        """Append the body to the part file, within the limit, and check its length."""
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if re.fullmatch(r"\d{1,18}", length, re.ASCII) else None
        if (total or 0) > self._max_bytes:
            raise AcquireError(f"{self.url}: {total:,} bytes, more than the limit of {self._max_bytes:,}; {_BY_HAND}")
        received = start
        with self._bar(start, total) as bar:
            spoken = time.monotonic()
            try:
                for block in response.raw.stream(_PIECE, decode_content=False):
                    received += len(block)
                    if received > self._max_bytes:
                        self._part.empty()
                        raise AcquireError(f"{self.url}: more than the limit of {self._max_bytes:,} bytes; {_BY_HAND}")
                    self._part.file.write(block)
                    bar.update(len(block))
                    if self._progress and bar.disable and time.monotonic() - spoken > 10:
                        spoken = time.monotonic()
                        logger.info("%s: %s bytes so far", self.url, f"{received:,}")
            finally:
                self._part.file.flush()
        if total is not None and received != total:
            raise _PassingError(f"truncated, {received:,} of {total:,} bytes")

    def _bar(self, start: int, total: int | None) -> tqdm[Any]:
        """Return a progress bar, hidden unless on a terminal; then log lines speak in its place."""
        if self._progress:
            logger.info("%s: %s", self.url, "length not known" if total is None else f"{total:,} bytes")
        hidden = None if self._progress else True
        return tqdm(total=total, initial=start, unit="B", unit_scale=True, disable=hidden, leave=False)


def _mark_of(response: requests.Response) -> str | None:
    """Return what tells versions of a file apart byte for byte: a strong ETag, else the date of change."""
    etag = response.headers.get("ETag", "")
    return etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")


def _retry_after(value: str | None) -> float | None:
    """Read seconds to wait from a Retry-After header, which holds seconds or a date; None if it holds neither."""
    if value is None:
        return None
    if re.fullmatch(r"\s*\d+\s*", value, re.ASCII):
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
