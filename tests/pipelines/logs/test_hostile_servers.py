# SPDX-License-Identifier: BSD-3-Clause
"""Servers that lie, never end, send bombs or pages, or lead away from https."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from swftools.errors import AcquireError
from swftools.formats import download as module
from swftools.formats.download import download
from tests.pipelines.logs.scripted_server import HALF, LOG, SUM, TEXT, Answer, Server, names


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Run a server that answers every request with the log; nobody waits between attempts."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(module, "BACKOFF", 0)
    running = Server()
    yield running
    running.close()


@pytest.mark.parametrize("bomb", [gzip.compress(bytes(50_000_000)), gzip.compress(TEXT + b"\n")], ids=["zeros", "one"])
def test_bomb(server: Server, tmp_path: Path, bomb: bytes) -> None:
    """A text that grows beyond what the card says is read no further than that, and kept aside."""
    server.answers = [Answer(body=bomb)]
    with pytest.raises(AcquireError, match=f"more than {len(TEXT):,} bytes once decompressed.*kept as .*bad"):
        download(server.url, tmp_path / "x", sha256=SUM, max_bytes=len(TEXT))
    assert names(tmp_path) == ["x.bad"]


def test_as_long_as_the_card_says(server: Server, tmp_path: Path) -> None:
    """The limits leave room for the log itself, plain or compressed, and also where compression makes it longer."""
    noise = hashlib.shake_256(b"noise").digest(100_000)
    for number, body in enumerate((noise, gzip.compress(noise))):
        server.answers = [Answer(body=body)]
        download(server.url, tmp_path / str(number), sha256=hashlib.sha256(noise).hexdigest(), max_bytes=len(noise))
        assert (tmp_path / str(number)).read_bytes() == body
    assert len(gzip.compress(noise)) > len(noise)


@pytest.mark.parametrize("length", [True, False])
def test_endless(server: Server, tmp_path: Path, length: bool) -> None:
    """A body without an end is given up at the limit, whatever length the server tells, and nothing is kept of it."""
    server.answers = [Answer(endless=True, length=length, headers={"Content-Length": str(1 << 40)})]
    with pytest.raises(AcquireError, match="more than the limit of 1,011,173"):
        download(server.url, tmp_path / "x", sha256=SUM, max_bytes=1_000_148)
    assert names(tmp_path) == []
    assert len(server.requests) == 1


@pytest.mark.parametrize("length", [True, False])
def test_trickle(server: Server, tmp_path: Path, length: bool) -> None:
    """A byte now and then, so that no wait for the next is long: it is broken off, and what came is kept."""
    server.answers = [Answer(trickles=True, length=length)]
    with pytest.raises(AcquireError, match=r"too slow: \d+ bytes in 0\.\d+ s, and at least 1,024 are expected"):
        download(server.url, tmp_path / "x", sha256=SUM, retries=0, timeout=0.2)
    assert names(tmp_path) == ["x.part"]


def test_announced_length_is_enough(server: Server, tmp_path: Path) -> None:
    """A server that tells a length beyond the limit is left at once, not when so much has come."""
    released = threading.Event()
    server.answers = [Answer(cut=20_000, hold=released, headers={"Content-Length": str(1 << 40)})]
    try:
        with pytest.raises(AcquireError, match="1,099,511,627,776 bytes, more than the limit"):
            download(server.url, tmp_path / "x", sha256=SUM, max_bytes=len(TEXT), timeout=0.3, retries=0)
    finally:
        released.set()


def test_limit_is_exact(server: Server, tmp_path: Path) -> None:
    """As many bytes as the limit are fetched, and not one more."""
    for length in (2034, 2035):
        server.answers = [Answer(body=b"a" * length)]
        with pytest.raises(
            AcquireError, match="sha256" if length == 2034 else "2,035 bytes, more than the limit of 2,034"
        ):
            download(server.url, tmp_path / "x", sha256=SUM, max_bytes=1000)


def test_endless_after_a_resume(server: Server, tmp_path: Path) -> None:
    """What came before counts towards the limit."""
    (tmp_path / "x.part").write_bytes(LOG[:HALF])
    limit = len(LOG) - 10
    server.answers = [Answer()]
    with pytest.raises(AcquireError, match="more than the limit"):
        download(server.url, tmp_path / "x", sha256=SUM, max_bytes=(limit - 1024) * 100 // 101)
    assert names(tmp_path) == []


def test_length_too_long(server: Server, tmp_path: Path) -> None:
    """A server that promises more than it has is asked for the rest, and then believed by the checksum."""
    server.answers = [Answer(headers={"Content-Length": str(len(LOG) + 5)}), Answer()]
    download(server.url, tmp_path / "x", sha256=SUM)
    assert (tmp_path / "x").read_bytes() == LOG
    assert names(tmp_path) == ["x"]


def test_length_too_short(server: Server, tmp_path: Path) -> None:
    """A server that promises less than it has gives a log that is not taken."""
    server.answers = [Answer(headers={"Content-Length": str(HALF)})]
    with pytest.raises(AcquireError, match=r"no readable log.*truncated"):
        download(server.url, tmp_path / "x", sha256=SUM)
    assert names(tmp_path) == ["x.bad"]


def test_web_page(server: Server, tmp_path: Path) -> None:
    """A page in place of the log, as public networks send it, is called that, and both checksums are named."""
    page = b"\n <!DOCTYPE html><html>Please log in</html>"
    server.answers = [Answer(body=page, headers={"Content-Type": "text/html"})]
    with pytest.raises(AcquireError, match="looks like a web page") as caught:
        download(server.url, tmp_path / "x", sha256=SUM)
    assert SUM in str(caught.value)
    assert hashlib.sha256(page).hexdigest() in str(caught.value)
    assert (tmp_path / "x.bad").read_bytes() == page
    server.answers = [Answer(body=b"; another log\n")]
    with pytest.raises(AcquireError, match="sha256") as caught:
        download(server.url, tmp_path / "x", sha256=SUM)
    assert "web page" not in str(caught.value)


def test_redirect_to_nonsense(server: Server, tmp_path: Path) -> None:
    """A redirect to what is no address is an error of the server's, not a traceback."""
    server.answers = [Answer(status=302, body=b"", headers={"Location": "http://[::1/x"})]
    with pytest.raises(AcquireError, match="not a web address"):
        download(server.url, tmp_path / "x", sha256=SUM)


def test_https(server: Server, secure: Server, tmp_path: Path) -> None:
    """A log comes over https, and a redirect to https is followed."""
    server.answers = [Answer(status=302, body=b"", headers={"Location": secure.url})]
    for number, url in enumerate((secure.url, server.url)):
        download(url, tmp_path / str(number), sha256=SUM)
        assert (tmp_path / str(number)).read_bytes() == LOG


def test_https_is_not_left(server: Server, secure: Server, tmp_path: Path) -> None:
    """A redirect from https to http is refused, and the other server is never asked."""
    secure.answers = [Answer(status=302, body=b"", headers={"Location": server.url})]
    with pytest.raises(AcquireError, match="not https"):
        download(secure.url, tmp_path / "x", sha256=SUM)
    assert server.requests == []
    assert names(tmp_path) == []


def test_untrusted_certificate(secure: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate that nobody vouches for is refused at once."""
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    with pytest.raises(AcquireError, match=r"certificate cannot be trusted .*self-signed"):
        download(secure.url, tmp_path / "x", sha256=SUM)
    assert secure.requests == []
