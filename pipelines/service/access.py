# SPDX-License-Identifier: BSD-3-Clause
"""Who asks, as far as a proxy says so, and what is told to them of jobs.

The name stands in a header that anybody could send. So it counts only where it comes from a peer that is listed,
and is there once.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from starlette.requests import Request

from swftools.errors import ParameterError


class Access:
    """What is told to whom.

    Parameters
    ----------
    user_header : str, optional
        Header in which a proxy says who asks, such as X-Remote-User. Without it nobody is known.
    trusted_peers : iterable of str
        Addresses or networks of proxies: 127.0.0.1, 10.0.0.0/8.
    jobs_are_private : bool
        Whether a job is told to its user alone; only where there is a header.
    shows_users : bool
        Whether users are named.

    Raises
    ------
    ParameterError
        A peer is no address; or peers are listed and no header.
    """

    def __init__(
        self,
        user_header: str | None = None,
        trusted_peers: Iterable[str] = (),
        *,
        jobs_are_private: bool = True,
        shows_users: bool = False,
    ) -> None:
        self.user_header, self.shows_users = user_header, shows_users
        self.jobs_are_private = jobs_are_private and user_header is not None
        try:
            self._peers = [ipaddress.ip_network(peer) for peer in trusted_peers]
        except ValueError as error:
            raise ParameterError(f"trusted_peers: {error}; give an address, or a network such as 10.0.0.0/8") from error
        if self._peers and user_header is None:
            raise ParameterError("trusted_peers without user_header: say in which header they name the user")

    def user_of(self, request: Request) -> str | None:
        """Return who asks; None where nobody says so who may."""
        if self.user_header is None or not self._is_trusted(request):
            return None
        given = request.headers.getlist(self.user_header)
        return given[0].strip() or None if len(given) == 1 else None

    def may_see(self, owner: str | None, user: str | None) -> bool:
        """Return whether somebody may know of a job of somebody."""
        return not self.jobs_are_private or (user is not None and user == owner)

    def may_name(self, owner: str | None, user: str | None) -> bool:
        """Return whether somebody is told whose job it is."""
        return self.shows_users or (user is not None and user == owner)

    def _is_trusted(self, request: Request) -> bool:
        """Return whether a request comes from a proxy that may say who asks."""
        if request.client is None:
            return False
        try:
            peer = ipaddress.ip_address(request.client.host)
        except ValueError:
            return False
        peer = getattr(peer, "ipv4_mapped", None) or peer
        return any(peer in network for network in self._peers)
