# SPDX-License-Identifier: BSD-3-Clause
"""Logs by their web address: fetched once into the cache, by every door, with a hash, a limit, and offline."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import swftools
from pipelines.cli.main import main
from pipelines.logs.find import find_log
from swftools import iter_log, read_log
from swftools.errors import AcquireError, ParameterError
from swftools.formats import download as module
from swftools.formats.fetch import cache_folder, fetch_log
from tests.pipelines.logs.scripted_server import Answer, Server

TEXT = b"; MaxProcs: 8\n" + b"".join(
    b"%d %d 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n" % (n, 9 * n) for n in range(1, 5)
)
SUM = hashlib.sha256(TEXT).hexdigest()


@pytest.fixture
def site(secure: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    """A server that gives a log of four jobs, and a cache and a folder of one's own."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("SWFTOOLS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "BACKOFF", 0)
    monkeypatch.chdir(tmp_path)
    secure.answers = [Answer(body=TEXT)]
    return secure


def test_every_door_reads_what_was_fetched_once(site: Server) -> None:
    """By Python, as a log of ``simulate``, by the console and the tasks; afterwards nobody is asked."""
    url = f"{site.base}/logs/site%20A.swf?part=1"
    assert 4 == len(read_log(url))
    assert 4 == len(swftools.simulate(url, "easy").jobs)
    assert 4 == sum(map(len, iter_log(url)))
    said = CliRunner().invoke(main, ["describe", url])
    assert (0, True) == (said.exit_code, "read from the cache; to fetch it again remove" in said.stderr), said.output
    assert ("site-A", SUM, None) == ((found := find_log(url)).name, found.sha256, found.damage)
    assert ["/logs/site%20A.swf?part=1"] == [each["path"] for each in site.requests]
    other = CliRunner().invoke(main, ["validate", f"{site.base}/other.swf"])
    assert (0, 2) == (other.exit_code, len(site.requests)), other.output


def test_offline_without_a_cache(site: Server) -> None:
    """What was never fetched is an error with the remedy, of the command and of a task."""
    url = f"{site.base}/mine.swf"
    site.close()
    said = CliRunner().invoke(main, ["describe", url])
    assert 30 == said.exit_code
    assert "the server refuses the connection" in said.stderr
    assert "give the path of the file" in said.stderr
    assert "refuses" in str(find_log(url).damage)


@pytest.mark.parametrize("of", ["file", "text"])
def test_hashes(site: Server, of: str) -> None:
    """Of the file or of its text, behind the address or beside it; another one is refused, and nothing is kept."""
    body = zipped("a.swf")
    expected = hashlib.sha256(body).hexdigest() if of == "file" else SUM
    site.answers = [Answer(body=body)]
    url = f"{site.base}/a.zip"
    assert 4 == len(read_log(url, sha256=expected.upper()))
    assert 4 == len(read_log(f"{url}#sha256={expected}"))
    assert 1 == len(site.requests)
    Path(fetch_log(url)).write_bytes(b"1 0 0\n")  # which has another hash, so it is fetched afresh
    assert 4 == len(read_log(url, sha256=expected))
    with pytest.raises(AcquireError, match=r"sha256 is .*, expected 0000.*give the hash of what is there now"):
        read_log(f"{site.base}/b.zip", sha256="0" * 64)
    assert not list(cache_folder().rglob("b.zip"))


def test_a_file_of_an_archive(site: Server) -> None:
    """Named behind the address, also behind its hash."""
    body = zipped("a.swf", "b.swf")
    site.answers = [Answer(body=body)]
    url, expected = f"{site.base}/two.zip", hashlib.sha256(body).hexdigest()
    assert 4 == len(read_log(f"{url}#b.swf"))
    assert 4 == len(read_log(f"{url}#sha256={expected}&a.swf"))


def test_what_is_no_log(site: Server) -> None:
    """A web page in its place, and more bytes than the limit, are not kept."""
    site.answers = [Answer(body=b"\n <html>sign in</html>")]
    with pytest.raises(AcquireError, match="looks like a web page"):
        read_log(f"{site.base}/page.swf")
    site.answers = [Answer(body=bytes(5_000))]
    with pytest.raises(AcquireError, match=r"5,000 bytes, more than the limit of 2,034"):
        read_log(f"{site.base}/large.swf", max_bytes=1_000)
    kept = [path.name for path in cache_folder().rglob("*") if path.is_file() and not path.name.endswith(".lock")]
    assert kept == ["page.swf.bad"]


def test_without_a_hash_nothing_is_resumed(site: Server) -> None:
    """What broke off is fetched from the beginning: parts of two files would be taken for one."""
    part = Path(f"{fetch_log(f'{site.base}/a.swf')}.part")
    part.with_name("a.swf").unlink()
    part.write_bytes(b"; another log\n")
    site.answers = [Answer(body=TEXT, cut=10), Answer(body=TEXT)]
    assert TEXT == Path(fetch_log(f"{site.base}/a.swf")).read_bytes()
    assert [each for each in site.requests if "range" in each] == []


@pytest.mark.parametrize(
    ("url", "sha256", "told"),
    [
        ("http://127.0.0.1/a.swf", None, "may be changed on the way; use https, or add its hash"),
        ("https:///a.swf", None, "an address without a server"),
        ("https://a.example/a.swf#sha256=12", None, "sha256=12 is no hash"),
        ("https://a.example/a.swf#sha256=" + "0" * 64, "1" * 64, "two hashes"),
        ("a.swf", "1" * 64, "sha256 goes with the web address"),
    ],
)
def test_mistakes(url: str, sha256: str | None, told: str) -> None:
    """Nobody is asked; the console ends with 2."""
    with pytest.raises(ParameterError, match=told):
        read_log(url, sha256=sha256)
    if sha256 is None:
        assert 2 == CliRunner().invoke(main, ["describe", url]).exit_code


def zipped(*names: str) -> bytes:
    """Return a zip archive that holds the log under some names."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, TEXT)
    return file.getvalue()
