# SPDX-License-Identifier: BSD-3-Clause
"""Who asks: a name in a header counts only where a proxy that is listed sent it."""

from __future__ import annotations

import pytest
import uvicorn
from starlette.requests import Request

from pipelines.service import web_server
from pipelines.service.access import Access
from pipelines.service.web_server import run
from swftools.errors import ParameterError


def request(peer: tuple[str, int] | None, *users: str) -> Request:
    """Return a request from a peer, with headers that name users."""
    headers = [(b"x-user", user.encode()) for user in users]
    return Request({"type": "http", "client": peer, "headers": headers, "method": "GET", "path": "/"})


@pytest.mark.parametrize(
    ("peer", "users", "found"),
    [
        (("127.0.0.1", 5), ("ann",), "ann"),
        (("10.1.2.3", 5), (" ann ",), "ann"),
        (("::ffff:10.1.2.3", 5), ("ann",), "ann"),
        (("::1", 5), ("ann",), None),
        (("11.1.2.3", 5), ("ann",), None),
        (("no address", 5), ("ann",), None),
        (None, ("ann",), None),
        (("", 0), ("ann",), None),
        (("127.0.0.1", 5), (), None),
        (("127.0.0.1", 5), ("",), None),
        (("127.0.0.1", 5), ("ann", "ann"), None),
    ],
)
def test_the_header_counts_from_a_listed_peer(
    peer: tuple[str, int] | None, users: tuple[str, ...], found: str | None
) -> None:
    """From nobody else, and where it is there once."""
    access = Access("X-User", ["127.0.0.1", "10.0.0.0/8"])
    assert access.user_of(request(peer, *users)) == found


def test_without_a_header_nobody_is_known() -> None:
    """And a job is told to everybody: its user is not."""
    access = Access()
    assert access.user_of(request(None, "ann")) is None
    assert access.may_see("ann", None)
    assert not access.jobs_are_private
    assert not access.may_name("ann", None)
    assert Access(shows_users=True).may_name("ann", None)


@pytest.mark.parametrize(
    ("is_private", "user", "sees"),
    [(True, "ann", True), (True, "bob", False), (True, None, False), (False, None, True)],
)
def test_a_job_is_told_to_its_user(is_private: bool, user: str | None, sees: bool) -> None:
    """Or to all, where that is configured; a job of nobody is told to nobody. Who asks knows their own name."""
    access = Access("X-User", jobs_are_private=is_private)
    assert access.may_see("ann", user) is sees
    assert access.may_see(None, user) is not is_private
    assert access.may_name("ann", user) is (user == "ann")


def test_what_is_wrong_is_said() -> None:
    """A peer that is none; peers that name nobody."""
    with pytest.raises(ParameterError, match="'nginx' does not appear to be an IPv4 or IPv6 network; give an address"):
        Access("X-User", ["nginx"])
    with pytest.raises(ParameterError, match="trusted_peers without user_header"):
        Access(None, ["127.0.0.1"])


def test_the_peer_is_that_of_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not what a header says it is: anybody could send that."""
    configured: list[uvicorn.Config] = []

    class Stopped:
        """A server that ends at once."""

        def __init__(self, config: uvicorn.Config, *_: object) -> None:
            configured.append(config)

        def run(self, sockets: object) -> None:
            """End."""

    monkeypatch.setattr(web_server, "_Server", Stopped)
    run(object(), "127.0.0.1", 0, lambda _: None)
    assert [config.proxy_headers for config in configured] == [False]
