# SPDX-License-Identifier: BSD-3-Clause
"""A client of a prediction service: how long a job would wait, asked from a program.

Of other packages it needs ``lazy_loader`` alone, so scripts of users and portals can have it without the rest.

Examples
--------
>>> from swftools.client import Client
>>> client = Client("http://127.0.0.1:8017")
>>> client.wait(queue="normal", time="4h", within="2h")["in_words"]  # doctest: +SKIP
'9 of 10 such jobs start within 20 h 26 min; usually within 32 min; ...'
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import time as clock
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from typing import Any

from swftools._version import __version__
from swftools.errors import ParameterError, RefusedQuestionError, ServiceError
from swftools.output.shown_text import shown

LARGEST = 16 * 1024 * 1024
"""Bytes of an answer that are read."""

_PIECE = 64 * 1024
_SHOWN = 500
"""Characters of what a service says that an error repeats."""


class Client:
    """A client of a service.

    Parameters
    ----------
    url : str
        Where it is: ``http://127.0.0.1:8017``, or ``https://example.org/waits`` behind a proxy. A proxy that the
        environment names (``https_proxy``) is used, but not for this machine.
    timeout : float
        Seconds for which nothing may come, while it connects and while it reads. After so many in all, no more of an
        answer's body is awaited. To look up the name of the host takes as long as it takes.

    Raises
    ------
    ParameterError
        The address is none, or the time-out is not above 0.
    """

    def __init__(self, url: str, *, timeout: float = 10.0) -> None:
        try:
            parts = urllib.parse.urlsplit(url)
            is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address or parts.query or parts.fragment or parts.username is not None or not _is_plain(url):
            raise ParameterError(f"{shown(url)!r:.200} is no address of a service; write such as http://127.0.0.1:8017")
        if not url.isascii():
            raise ParameterError(
                f"{shown(url)!r:.200} has characters beyond ASCII; write the host as xn--..., others as %C3%A9"
            )
        if not 0 < timeout < float("inf"):
            raise ParameterError(f"timeout={timeout} is no number of seconds above 0")
        self.url = url.rstrip("/").removesuffix("/api/v1")
        self.timeout = timeout
        proxies: dict[str, str] | None = {} if _is_here(str(parts.hostname)) else None
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _Redirects())

    def __repr__(self) -> str:
        return f"Client({shown(self.url)!r})"

    def clusters(self) -> list[dict[str, Any]]:
        """Return the clusters: what each is, and what can be asked of it; for errors see ``get``."""
        found = self.get("clusters")
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise ServiceError(
                f"{self._address('clusters')}: what came is no list of clusters; is it a service of waits?"
            )
        return found

    def queues(self, cluster: str | None = None) -> dict[str, Any]:
        """Return the queues of a cluster as they are now: who waits, and how often what was told was kept."""
        return self._mapping("queues", cluster=cluster)

    def accuracy(self, cluster: str | None = None) -> dict[str, Any]:
        """Return what came of what jobs of a cluster were told."""
        return self._mapping("accuracy", cluster=cluster)

    def wait(
        self,
        *,
        queue: str | None = None,
        time: float | str | None = None,
        processors: int | None = None,
        within: float | str | None = None,
        quantile: float | Sequence[float] = (),
        cluster: str | None = None,
        **others: Any,
    ) -> dict[str, Any]:
        """Return how long a job would wait that is submitted now.

        Parameters
        ----------
        queue : str, optional
            That it is submitted to.
        time : float or str, optional
            Its requested time, s, or as ``4h``; a service refuses what makes no difference to its answers, and
            ``clusters`` says what does (``told_apart_by``).
        processors : int, optional
            That it requests.
        within : float or str, optional
            It is also told which share of such jobs starts within this time, s.
        quantile : float or sequence of float
            Shares of jobs whose waits are bounded; default: those of the service.
        cluster : str, optional
            Which is asked, where there are several.
        **others
            Other parameters of the service.

        Returns
        -------
        dict
            As JSON has it: ``bounds``, a mapping each with ``quantile``, ``confidence`` and ``seconds`` (None where
            there is none), ``no_prediction`` (why there is none, or None), ``in_words`` and others.

        Raises
        ------
        RefusedQuestionError, ServiceError
            As for ``get``.
        """
        about = {"cluster": cluster, "queue": queue, "time": time, "processors": processors, "within": within}
        return self._mapping("wait", **about, quantile=quantile, **others)

    def get(self, path: str, **parameters: Any) -> Any:
        """Return what the service has at an address, as JSON has it.

        Parameters
        ----------
        path : str
            Below ``/api/v1/``, such as ``start``, ``reserve``, ``plan`` or ``jobs/1234``.
        **parameters
            Of the question; those that are None are left out, and a sequence is a parameter that comes several times.

        Raises
        ------
        RefusedQuestionError
            The service refuses the question: the message is what it says, ``status`` is 400 to 499; or it knows nothing
            now (503).
        ServiceError
            It is away, does not answer in time, takes no more questions for now (429), or what comes is no JSON.
        """
        address = self._address(path, parameters)
        end = clock.monotonic() + self.timeout
        headers = {"Accept": "application/json", "User-Agent": f"swftools/{__version__}"}
        request = urllib.request.Request(address, headers=headers)  # noqa: S310 (http or https: see above)
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                data = _read(response, end)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error, end) from error
        except ServiceError:  # of an answer that sends on
            raise
        except _TooLargeError as error:
            raise ServiceError(f"{self.url}: {error}; is it the address of a service of waits?") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ServiceError(f"{self.url}: {self._why(error)}; is the address right, and does it run?") from error
        return self._parsed(data)

    def _mapping(self, path: str, **parameters: Any) -> dict[str, Any]:
        found = self.get(path, **parameters)
        if not isinstance(found, dict):
            raise ServiceError(f"{self._address(path)}: what came is no JSON object; is it a service of waits?")
        return found

    def _address(self, path: str, parameters: dict[str, Any] | None = None) -> str:
        """Return the address of a question."""
        said = [
            (name, _text(each))
            for name, value in (parameters or {}).items()
            for each in (value if isinstance(value, list | tuple) else [value])
            if each is not None
        ]
        query = f"?{urllib.parse.urlencode(said)}" if said else ""
        return f"{self.url}/api/v1/{urllib.parse.quote(path.strip('/'))}{query}"

    def _refusal(self, error: urllib.error.HTTPError, end: float) -> ServiceError | RefusedQuestionError:
        """Return what the service says is wrong: of a problem document (RFC 9457) its detail."""
        if error.code == http.HTTPStatus.TOO_MANY_REQUESTS:
            return ServiceError(f"{self.url}: it takes no more questions for now; ask again in a while, and less often")
        try:
            said = json.loads(_read(error, end))
        except (OSError, http.client.HTTPException, ValueError, RecursionError, _TooLargeError):
            said = None
        detail = said.get("detail") if isinstance(said, dict) else None
        if isinstance(detail, str) and (error.code < 500 or error.code == 503):
            return RefusedQuestionError(shown(detail[:_SHOWN]), error.code)
        said = shown(error.reason)[:_SHOWN]
        return ServiceError(f"{self.url}: it answers with status {error.code} ({said}); is it a service of waits?")

    def _why(self, error: Exception) -> str:
        """Say why nothing came."""
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, TimeoutError):
            return f"no answer within {self.timeout:g} s"
        return f"the service is away ({shown(getattr(reason, 'strerror', None) or reason)[:_SHOWN]})"

    def _parsed(self, data: bytes) -> Any:
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ServiceError(f"{self.url}: what came is no JSON; is it the address of a service of waits?") from error


class _TooLargeError(Exception):
    """An answer has more bytes than are read."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows an answer that names another address, of the web alone."""

    def redirect_request(
        self, request: urllib.request.Request, file: Any, code: int, message: str, headers: Any, address: str
    ) -> urllib.request.Request | None:
        """Return what is asked instead."""
        if urllib.parse.urlsplit(address).scheme not in ("http", "https"):
            where = shown(address)[:_SHOWN]
            raise ServiceError(f"{shown(request.full_url)}: it sends on to {where}, which is no address of a service")
        return super().redirect_request(request, file, code, message, headers, address)


def _read(response: Any, end: float) -> bytes:
    """Return all that comes until an end, s of the monotonic clock."""
    pieces: list[bytes] = []
    size = 0
    while piece := response.read1(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST:
            raise _TooLargeError(f"the answer is larger than {LARGEST} bytes")
        if clock.monotonic() > end:
            raise TimeoutError
    return b"".join(pieces)


def _text(value: Any) -> str:
    """Return a value as an address has it; whole numbers without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_plain(url: str) -> bool:
    """Whether an address has neither spaces nor controls."""
    return all(character.isprintable() and not character.isspace() for character in url)


def _is_here(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
