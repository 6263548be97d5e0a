# SPDX-License-Identifier: BSD-3-Clause
"""Asks a slurmrestd over HTTP or a Unix socket, in a version of its interface that both know."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from pipelines.service.sensors.commands import ends_with_the_service
from pipelines.service.sensors.sensor import Cost, SensorError
from swftools.output.shown_text import shown

VERSIONS = ("v0.0.45", "v0.0.44", "v0.0.43", "v0.0.42", "v0.0.41", "v0.0.40", "v0.0.39", "v0.0.38")
"""Versions of the interface that are understood, newest first."""

NOTHING_FOUND = 9003
"""The number of an error that is none: there is no such job."""

MOST_BYTES = 1 << 30
"""Of an answer, which is held in memory."""


class RestClient:
    """Asks a slurmrestd.

    Parameters
    ----------
    url : str
        As http://HOST:6820, https://HOST, or unix:///PATH.
    user : str
        Whose token it is; default: the token says it.
    token : str
        A file with the token, which is read at each call, since tokens are renewed; default: none is sent.
    seconds : float
        An answer that takes longer, as a whole, is not waited for.
    costs : dict of str to Cost
        Gets what the calls cost.
    ticks : callable, optional
        Seconds that rise.
    """

    def __init__(
        self,
        url: str,
        *,
        user: str,
        token: str,
        seconds: float,
        costs: dict[str, Cost],
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url, self._user, self._token, self._seconds = urlsplit(url), user, token, seconds
        self._costs, self._ticks = costs, ticks
        self._version: str | None = None

    def ask(self, path: str, **query: str) -> dict[str, Any]:
        """Return what is answered.

        Parameters
        ----------
        path : str
            As slurm/{}/jobs; the version is put in.
        **query
            Parameters.

        Raises
        ------
        SensorError
            It does not answer, or with an error.
        """
        cost = self._costs.setdefault(re.sub(r"/\d+$", "", path.replace("/{}", "")), Cost())
        cost.calls += 1
        begin = self._ticks()
        try:
            asked = "&".join(f"{key}={quote(value)}" for key, value in query.items())
            return self._get(f"/{path.format(self._agreed())}" + (f"?{asked}" if asked else ""))
        except SensorError:
            cost.failures += 1
            raise
        finally:
            cost.seconds += self._ticks() - begin

    def _agreed(self) -> str:
        """Return the newest version that both know: as /openapi lists them, else as an attempt tells."""
        if self._version is None:
            there = self._listed()
            both = [each for each in VERSIONS if each in there] if there else [*self._tried()]
            if not both:
                offers = f": it offers {', '.join(sorted(there))}" if there else ""
                raise SensorError(f"slurmrestd knows none of the versions {VERSIONS[-1]} to {VERSIONS[0]}{offers}")
            self._version = both[0]
        return self._version

    def _listed(self) -> set[str]:
        """Return the versions that it lists."""
        for path in ("/openapi", "/openapi/v3"):
            status, text = self._answer(path)
            if status == 200 and (found := re.findall(r'"\\?/slurm\\?/(v\d+\.\d+\.\d+)\\?/jobs', text)):
                return set(found)
        return set()

    def _tried(self) -> list[str]:
        """Return the newest version to which something is answered."""
        for each in VERSIONS:
            if self._answer(f"/slurm/{each}/ping")[0] == 200:
                return [each]
        return []

    def _get(self, path: str) -> dict[str, Any]:
        """Return a document."""
        status, text = self._answer(path)
        if status == 404:
            self._version = None  # it is another Slurm now
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = None
        told = document if isinstance(document, dict) else {}
        errors = told.get("errors")
        said = [
            " ".join(str(each[key]) for key in ("error", "description") if each.get(key))
            for each in (errors if isinstance(errors, list) else ())
            if isinstance(each, dict) and each.get("error_number") != NOTHING_FOUND
        ]
        if status != 200 or said or document is None:
            remedy = "; look at the token and its user" if status in (401, 403) else ""
            what = "; ".join(said) or ("no JSON" if status == 200 else text.strip()[:100])
            raise SensorError(f"slurmrestd answers {path} with {status}: {shown(what[:300])}{remedy}")
        return told

    def _answer(self, path: str) -> tuple[int, str]:
        """Return the status and the text of an answer."""
        headers = {"Accept": "application/json", "Connection": "close"}
        if self._user:
            headers["X-SLURM-USER-NAME"] = self._user
        if self._token:
            headers["X-SLURM-USER-TOKEN"] = self._read_token()
        connection, due = self._connection(), self._ticks() + self._seconds
        try:
            connection.connect()
            prefix = "" if self._url.scheme == "unix" else self._url.path.rstrip("/")
            with (
                ends_with_the_service(lambda: connection.sock, _shut) as sock,
                _shut_after(sock, due - self._ticks()),
            ):
                connection.request("GET", f"{prefix}{path}", headers=headers)
                with connection.getresponse() as answer:
                    return answer.status, answer.read(MOST_BYTES).decode(errors="replace")
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise SensorError(
                f"slurmrestd at {shown(self._url.geturl())} does not answer: {shown(str(error))}"
            ) from error
        finally:
            connection.close()

    def _read_token(self) -> str:
        """Return the token, of which nothing stands in a message."""
        try:
            token = Path(self._token).read_text(encoding="ascii", errors="replace").strip()
        except OSError as error:
            raise SensorError(f"{shown(self._token)}: the token cannot be read: {error.strerror}") from error
        if not re.fullmatch(r"[!-~]+", token):
            raise SensorError(f"{shown(self._token)}: is no token, which is one word: write it anew (scontrol token)")
        return token

    def _connection(self) -> http.client.HTTPConnection:
        """Return a connection that is not open yet."""
        if self._url.scheme == "unix":
            return _UnixConnection(self._url.path, self._seconds)
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        return kind(self._url.hostname or "", self._url.port, timeout=self._seconds)


def _shut(sock: socket.socket) -> None:
    """Shut a socket; one of TLS still is one for who reads from it."""
    socket.socket.shutdown(sock, socket.SHUT_RDWR)


@contextlib.contextmanager
def _shut_after(sock: socket.socket, seconds: float) -> Iterator[None]:
    """Shut a socket after some seconds: its own limit is one of each piece, and an answer may come in many.

    Raises
    ------
    TimeoutError
        It was shut.
    """
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        with contextlib.suppress(OSError):
            _shut(sock)

    timer = threading.Timer(max(seconds, 0.0), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException, ValueError) as error:
        if is_late.is_set():
            raise TimeoutError("timed out") from error
        raise
    finally:
        timer.cancel()
    if is_late.is_set():  # what was read may be a part
        raise TimeoutError("timed out")


class _UnixConnection(http.client.HTTPConnection):
    """A connection to a Unix socket.

    Parameters
    ----------
    path : str
        Of the socket.
    seconds : float
        An answer that takes longer is not waited for.
    """

    def __init__(self, path: str, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        """Open it."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
