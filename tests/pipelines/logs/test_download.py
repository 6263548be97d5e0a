# SPDX-License-Identifier: BSD-3-Clause
"""Downloading: whole and verified or not at all, and resumed after failures."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import urllib3.util.retry

from swftools.errors import AcquireError, StorageError
from swftools.formats import download as module
from swftools.formats.download import LONGEST_WAIT, download
from tests.pipelines.logs.scripted_server import HALF, LOG, SUM, TEXT, Answer, Server, names


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Run a server that answers every request with the log."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    running = Server()
    yield running
    running.close()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Give the list of the seconds that were waited between attempts, without waiting."""
    seconds: list[float] = []
    monkeypatch.setattr(urllib3.util.retry, "time", SimpleNamespace(sleep=seconds.append, time=time.time))
    return seconds


@pytest.fixture
def fetch(tmp_path: Path, waits: list[float]) -> Callable[..., Path]:
    """Download to ``tmp_path``, noting waits in place of waiting."""

    def run(url: str, sha256: str = SUM, **options: Any) -> Path:
        destination = tmp_path / "KTH.swf.gz"
        download(url, destination, sha256=sha256, **options)
        return destination

    return run


def test_arrives_whole(server: Server, fetch: Callable[..., Path], tmp_path: Path) -> None:
    """A log arrives byte for byte, and nothing else is left beside it."""
    assert fetch(server.url).read_bytes() == LOG
    assert names(tmp_path) == ["KTH.swf.gz"]


def test_directories_are_made(server: Server, tmp_path: Path) -> None:
    """The directories above the destination are made."""
    download(server.url, tmp_path / "deep" / "er" / "x", sha256=SUM)
    assert (tmp_path / "deep" / "er" / "x").read_bytes() == LOG


def test_checksum_in_capitals(server: Server, fetch: Callable[..., Path]) -> None:
    """An expected checksum may be written in capitals."""
    assert fetch(server.url, SUM.upper()).read_bytes() == LOG


def test_present_is_not_fetched(server: Server, fetch: Callable[..., Path], tmp_path: Path) -> None:
    """A log that is in place with the right checksum is not fetched, whatever its compression."""
    (tmp_path / "KTH.swf.gz").write_bytes(bz2.compress(TEXT))
    fetch(server.url)
    assert server.requests == []
    assert names(tmp_path) == ["KTH.swf.gz"]


@pytest.mark.parametrize("present", [b"; another log\n", LOG[:HALF]], ids=["other", "damaged"])
def test_wrong_one_is_replaced(server: Server, fetch: Callable[..., Path], tmp_path: Path, present: bytes) -> None:
    """A file in place with another checksum, or damaged, is replaced."""
    (tmp_path / "KTH.swf.gz").write_bytes(present)
    assert fetch(server.url).read_bytes() == LOG


def test_stored_bytes_are_kept(server: Server, fetch: Callable[..., Path]) -> None:
    """A server that calls the log's own compression a transfer coding does not get it decompressed on the way."""
    server.answers = [Answer(headers={"Content-Encoding": "gzip"})]
    assert fetch(server.url).read_bytes() == LOG
    assert server.requests[0]["accept-encoding"] == "identity"


@pytest.mark.parametrize("cut", [0, 1, HALF, len(LOG) - 1])
def test_truncation_is_resumed(server: Server, fetch: Callable[..., Path], waits: list[float], cut: int) -> None:
    """A transfer that breaks off is gone on with where it stopped."""
    server.answers = [Answer(cut=cut), Answer()]
    assert fetch(server.url).read_bytes() == LOG
    assert [request.get("range") for request in server.requests] == [None, f"bytes={cut}-" if cut else None]
    assert waits == []


def test_resumed_by_a_later_run(server: Server, fetch: Callable[..., Path], tmp_path: Path) -> None:
    """What a failed run got is kept, and the next run asks only for the rest."""
    server.answers = [Answer(cut=HALF)]
    with pytest.raises(AcquireError, match="broke"):
        fetch(server.url, retries=0)
    assert names(tmp_path) == ["KTH.swf.gz.part"]
    server.answers = [Answer()]
    assert fetch(server.url, retries=0).read_bytes() == LOG
    assert server.requests[-1]["range"] == f"bytes={HALF}-"
    assert names(tmp_path) == ["KTH.swf.gz"]


def test_complete_part(server: Server, fetch: Callable[..., Path], tmp_path: Path) -> None:
    """A run that was killed between the last byte and the renaming costs no second transfer."""
    (tmp_path / "KTH.swf.gz.part").write_bytes(LOG)
    assert fetch(server.url, retries=0).read_bytes() == LOG
    assert [request["range"] for request in server.requests] == [f"bytes={len(LOG)}-"]


@pytest.mark.parametrize("status", ["ignores ranges", "new version", "new version, ignores If-Range", "shorter now"])
def test_no_mixture_of_versions(server: Server, fetch: Callable[..., Path], status: str) -> None:
    """Half of one version is never joined to half of another, however the server answers."""
    text = TEXT[600_000::-1]
    other = gzip.compress(text, mtime=0)
    expected = hashlib.sha256(text).hexdigest()
    then = {
        "ignores ranges": Answer(body=other, ranges=False),
        "new version": Answer(body=other, etag='"two"'),
        "new version, ignores If-Range": Answer(body=other, etag='"two"', if_range=False),
        "shorter now": Answer(body=other, if_range=False),
    }[status]
    cut = len(LOG) - 10 if status == "shorter now" else HALF
    server.answers = [Answer(cut=cut), then]
    assert fetch(server.url, expected).read_bytes() == other


def test_mixture_of_plain_texts(server: Server, fetch: Callable[..., Path]) -> None:
    """Parts of two plain texts, which no decompression tells apart, are not joined either."""
    server.answers = [Answer(body=b"a" * len(TEXT), cut=HALF), Answer(body=TEXT)]
    assert fetch(server.url).read_bytes() == TEXT


def test_wrong_part(server: Server, fetch: Callable[..., Path]) -> None:
    """A part from another place than asked for is not kept."""
    wrong = Answer(status=206, headers={"Content-Range": f"bytes 0-{len(LOG) - 1}/{len(LOG)}"})
    server.answers = [Answer(cut=HALF), wrong, Answer()]
    assert fetch(server.url).read_bytes() == LOG


@pytest.mark.parametrize("length", [10, 2 * len(LOG)])
def test_part_of_something_else(server: Server, fetch: Callable[..., Path], tmp_path: Path, length: int) -> None:
    """A part file of something else costs a second request, not the log."""
    (tmp_path / "KTH.swf.gz.part").write_bytes(b"x" * length)
    assert fetch(server.url).read_bytes() == LOG
    assert [request.get("range") for request in server.requests] == [f"bytes={length}-", None]
    assert names(tmp_path) == ["KTH.swf.gz"]


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429, 408])
def test_busy_server_is_asked_again(
    server: Server, fetch: Callable[..., Path], waits: list[float], status: int
) -> None:
    """A failing or busy server is asked again, after longer and longer waits."""
    server.answers = [Answer(status=status, body=b"busy")] * 3 + [Answer()]
    assert fetch(server.url).read_bytes() == LOG
    assert waits == [1.0, 2.0]


def test_gives_up(server: Server, fetch: Callable[..., Path], waits: list[float], tmp_path: Path) -> None:
    """After the last attempt the error names the address, the answer and the remedy, and nothing is left."""
    server.answers = [Answer(status=503)]
    with pytest.raises(AcquireError, match=r"HTTP status 503 Service Unavailable.*--log PATH") as caught:
        fetch(server.url, retries=2)
    assert server.url in str(caught.value)
    assert len(server.requests) == 3
    assert waits == [1.0]
    assert names(tmp_path) == []


def test_gives_up_on_a_body_that_breaks(
    server: Server, fetch: Callable[..., Path], waits: list[float], tmp_path: Path
) -> None:
    """Attempts whose body breaks off are counted too, and wait longer and longer; what came is kept."""
    server.answers = [Answer(cut=100)]
    with pytest.raises(AcquireError, match="the connection broke"):
        fetch(server.url, retries=3)
    assert len(server.requests) == 4
    assert waits == [1.0, 2.0]
    assert (tmp_path / "KTH.swf.gz.part").read_bytes() == LOG[:400]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 204])
def test_refusal_is_final(
    server: Server, fetch: Callable[..., Path], waits: list[float], tmp_path: Path, status: int
) -> None:
    """A refusal is not asked again; the error says to download by hand."""
    server.answers = [Answer(status=status, body=b"")]
    with pytest.raises(AcquireError, match=rf"KTH\.swf\.gz: .*HTTP status {status} .*by hand: .*--log PATH"):
        fetch(server.url)
    assert len(server.requests) == 1
    assert waits == []
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        ("7", [7.0]),
        ("0", []),
        ("99999", [LONGEST_WAIT]),
        ("9" * 400, [LONGEST_WAIT]),
        ("9" * 5000, []),
        ("soon", []),
        ("-5", []),
    ],
    ids=lambda value: str(value)[:8],
)
def test_retry_after(
    server: Server, fetch: Callable[..., Path], waits: list[float], header: str, wait: list[float]
) -> None:
    """The server's wish how long to wait is honoured within a bound, and passed over where it makes no sense."""
    server.answers = [Answer(status=429, headers={"Retry-After": header}), Answer()]
    assert fetch(server.url).read_bytes() == LOG
    assert waits == wait


def test_retry_after_a_date(server: Server, fetch: Callable[..., Path], waits: list[float]) -> None:
    """The server's wish may be a date, also one that is past."""
    now = datetime.now(UTC)
    dates = [format_datetime(now + timedelta(seconds=shift), usegmt=True) for shift in (60, -60)]
    server.answers = [*(Answer(status=503, headers={"Retry-After": date}) for date in dates), Answer()]
    fetch(server.url)
    assert 50 < waits[0] <= 60
    assert waits[1:] == [1.0]


def test_no_connection(fetch: Callable[..., Path], waits: list[float]) -> None:
    """A server that is not there is tried again, then named with the reason."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(AcquireError, match=f"127.0.0.1:{port}/.* refuses the connection"):
            fetch(f"http://127.0.0.1:{port}/KTH.swf.gz", retries=2)
    assert waits == [1.0]


@pytest.mark.parametrize("cut", [0, HALF])
def test_silence(server: Server, fetch: Callable[..., Path], waits: list[float], cut: int) -> None:
    """A server that falls silent is given up after the timeout, and asked again."""
    released = threading.Event()
    server.answers = [Answer(cut=cut, hold=released), Answer()]
    try:
        assert fetch(server.url, timeout=0.1).read_bytes() == LOG
    finally:
        released.set()
    assert len(server.requests) == 2


def test_silence_for_good(server: Server, fetch: Callable[..., Path]) -> None:
    """A server that stays silent is reported as that."""
    released = threading.Event()
    server.answers = [Answer(cut=0, hold=released)]
    start = time.monotonic()
    try:
        with pytest.raises(AcquireError, match="does not answer in time"):
            fetch(server.url, timeout=0.1, retries=0)
    finally:
        released.set()
    assert time.monotonic() - start < 4


def test_redirect(server: Server, fetch: Callable[..., Path]) -> None:
    """A redirect is followed."""
    server.answers = [Answer(status=302, body=b"", headers={"Location": "/elsewhere"}), Answer()]
    assert fetch(server.url).read_bytes() == LOG
    assert [request["path"] for request in server.requests] == ["/KTH.swf.gz", "/elsewhere"]


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/KTH.swf.gz", "gopher://x/"])
def test_redirect_off_the_web(
    server: Server, fetch: Callable[..., Path], waits: list[float], tmp_path: Path, target: str
) -> None:
    """A redirect to anything but http and https is refused at once."""
    server.answers = [Answer(status=302, body=b"", headers={"Location": target})]
    with pytest.raises(AcquireError, match="not https"):
        fetch(server.url)
    assert waits == []
    assert names(tmp_path) == []


def test_redirect_in_circles(server: Server, fetch: Callable[..., Path], waits: list[float]) -> None:
    """A circle of redirects ends with an error."""
    server.answers = [Answer(status=302, body=b"", headers={"Location": "/KTH.swf.gz"})]
    with pytest.raises(AcquireError, match="in circles"):
        fetch(server.url)
    assert waits == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "http://", "KTH.swf.gz", "http://[::1/x"])
def test_no_web_address(fetch: Callable[..., Path], waits: list[float], url: str) -> None:
    """What is no address of the web is refused at once."""
    with pytest.raises(AcquireError, match=r"not https|not a web address"):
        fetch(url)
    assert waits == []


def test_wrong_checksum(server: Server, fetch: Callable[..., Path], tmp_path: Path) -> None:
    """A wrong log is kept aside, both checksums are named, and the next run starts afresh."""
    wrong = gzip.compress(b"; a page that says sorry\n", mtime=0)
    server.answers = [Answer(body=wrong), Answer()]
    with pytest.raises(AcquireError, match="run again") as caught:
        fetch(server.url)
    assert SUM in str(caught.value)
    assert hashlib.sha256(b"; a page that says sorry\n").hexdigest() in str(caught.value)
    assert (tmp_path / "KTH.swf.gz.bad").read_bytes() == wrong
    assert names(tmp_path) == ["KTH.swf.gz.bad"]
    assert fetch(server.url).read_bytes() == LOG
    assert "range" not in server.requests[1]


def test_wrong_checksum_keeps_the_old_one(server: Server, fetch: Callable[..., Path], tmp_path: Path) -> None:
    """A failed download leaves what was in place."""
    (tmp_path / "KTH.swf.gz").write_bytes(b"; old\n")
    server.answers = [Answer(body=b"; wrong\n")]
    with pytest.raises(AcquireError):
        fetch(server.url)
    assert (tmp_path / "KTH.swf.gz").read_bytes() == b"; old\n"


def test_unreadable_log(server: Server, fetch: Callable[..., Path], tmp_path: Path) -> None:
    """A log that the server itself has only in part is not taken."""
    server.answers = [Answer(body=LOG[:HALF])]
    with pytest.raises(AcquireError, match="no readable log"):
        fetch(server.url)
    assert names(tmp_path) == ["KTH.swf.gz.bad"]


def test_unknown_length(server: Server, fetch: Callable[..., Path]) -> None:
    """A server that does not tell the length is believed as far as the checksum goes."""
    server.answers = [Answer(length=False)]
    assert fetch(server.url).read_bytes() == LOG


@pytest.mark.parametrize("length", [True, False])
def test_too_long(server: Server, fetch: Callable[..., Path], tmp_path: Path, length: bool) -> None:
    """More bytes than the log can have are not fetched, whether or not the server tells how many there are."""
    server.answers = [Answer(body=TEXT, length=length)]
    told = f"{len(TEXT):,} bytes" if length else "a file of unknown length"
    with pytest.raises(AcquireError, match=f"{told}, more than the limit"):
        fetch(server.url, max_bytes=len(TEXT) * 9 // 10)
    assert names(tmp_path) == []
    assert fetch(server.url, max_bytes=len(TEXT)).read_bytes() == TEXT


def test_part_file_cannot_be_opened(server: Server, fetch: Callable[..., Path], tmp_path: Path) -> None:
    """Something else in the place of the part file is reported."""
    (tmp_path / "KTH.swf.gz.part").mkdir()
    with pytest.raises(StorageError, match="Is a directory"):
        fetch(server.url)


def test_disk_full(server: Server, fetch: Callable[..., Path], waits: list[float], monkeypatch: Any) -> None:
    """A full disk is reported at once, not tried again."""

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    with pytest.raises(StorageError, match="No space left on device"):
        fetch(server.url)
    assert waits == []


def test_missing_certificates(fetch: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file of certificates that is not there is reported as that."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "absent.pem"))
    with pytest.raises(AcquireError, match=r"absent\.pem"):
        fetch("https://127.0.0.1:9/KTH.swf.gz", retries=0)


def test_no_certificate(server: Server, fetch: Callable[..., Path], waits: list[float]) -> None:
    """A server whose certificate cannot be trusted, here for having none, is not asked again."""
    with pytest.raises(AcquireError, match="certificate cannot be trusted"):
        fetch(server.url.replace("http:", "https:"))
    assert waits == []
