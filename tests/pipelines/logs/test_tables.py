# SPDX-License-Identifier: BSD-3-Clause
"""Tables that are no log of jobs: where their files are, how others are had, and that they are what the card says."""

from __future__ import annotations

import errno
import gzip
import hashlib
import socket
from pathlib import Path
from typing import Any

import pytest

from pipelines.catalog.cards import TablesCard
from pipelines.logs import tables
from pipelines.logs.find import find_log
from pipelines.logs.load import load_log
from pipelines.logs.tables import files_of, hash_of_tables, read_tables
from swftools.errors import AcquireError, CatalogError, UnknownLogError
from swftools.formats import download

TEXTS = {f"{name}.csv": f"true_start_time,estimate_start_time\n{name},{name}\n" for name in ("a", "b", "c")}
HASHES = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in TEXTS.items()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder of log_path."""
    folder = tmp_path / "logs"
    folder.mkdir()
    monkeypatch.setenv("SWFTOOLS_LOG_PATH", str(folder))
    return folder


def card_of(tmp_path: Path, known: str = "abc", **given: Any) -> TablesCard:
    """Return a card of three files, of which these hashes are known."""
    lines = [f"{name},{sha256 if name[0] in known else ''}\n" for name, sha256 in HASHES.items()]
    (tmp_path / "list.csv").write_text("file,sha256\n" + "".join(lines))
    words = dict.fromkeys(("title", "producer", "acknowledgement", "citation", "licence"), "x")
    return TablesCard(name="mine", format="start-estimates", files=str(tmp_path / "list.csv"), **words, **given)


def put(folder: Path, *names: str, text: str | None = None) -> None:
    """Put files into a folder."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(TEXTS[name] if text is None else text)


def test_files_that_are_here(folder: Path, tmp_path: Path) -> None:
    """In a folder of log_path, or in one there that has the card's name; also compressed; in the order of the list."""
    put(folder, "c.csv")
    put(folder / "mine", "a.csv")
    (folder / "b.csv.gz").write_bytes(gzip.compress(TEXTS["b.csv"].encode()))
    read = read_tables(card_of(tmp_path))
    assert read.files == read.found == list(TEXTS)
    assert read.table["true_start_time"].tolist() == ["a", "b", "c"]
    assert read.table["file"].tolist() == list(TEXTS)
    assert read.name == "mine"


def test_files_that_are_missing(folder: Path, tmp_path: Path) -> None:
    """Are left out where they cannot be fetched; the hash of the whole is that of what is read."""
    put(folder, "a.csv")
    card = card_of(tmp_path, known="a")
    assert read_tables(card).found == ["a.csv"]
    first = hash_of_tables(card)
    assert first == hash_of_tables(card_of(tmp_path, known=""))
    put(folder, "b.csv")
    assert read_tables(card).found == ["a.csv", "b.csv"]
    assert hash_of_tables(card) != first
    put(folder, "b.csv", text="true_start_time,estimate_start_time\nother,other\n")
    assert read_tables(card).table["true_start_time"].tolist() == ["a", "other"]  # its hash is not known


def test_files_that_are_fetched(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose hash is known, from the card's folder on the web."""
    asked: list[tuple[str, str]] = []

    def fetch(url: str, *, sha256: str, **told: object) -> str:
        asked.append((url, sha256))
        path = tmp_path / "fetched.csv"
        path.write_text(TEXTS["b.csv"])
        return str(path)

    monkeypatch.setattr(tables, "fetch_log", fetch)
    put(folder, "a.csv")
    card = card_of(tmp_path, known="ab", url="https://x.org/folder/")
    before = hash_of_tables(card)
    assert not asked
    read = read_tables(card)
    assert asked == [("https://x.org/folder/b.csv", HASHES["b.csv"])]
    assert (read.found, read.table["true_start_time"].tolist()) == (["a.csv", "b.csv"], ["a", "b"])
    put(folder, "b.csv")
    assert hash_of_tables(card) == before


def test_offline(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told which files are to be put where."""

    def refuse(*arguments: object, **options: object) -> None:
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")

    monkeypatch.setenv("SWFTOOLS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(download, "BACKOFF", 0)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    put(folder, "a.csv")
    told = (
        r"^https://192\.0\.2\.1/folder/b\.csv: the server refuses the connection .*; run again later, or download it "
        r"by hand: put it, and the other files of https://192\.0\.2\.1/folder/, into a directory of SWFTOOLS_LOG_PATH$"
    )
    with pytest.raises(AcquireError, match=told):
        read_tables(card_of(tmp_path, url="https://192.0.2.1/folder/"))


def test_a_file_that_is_another(folder: Path, tmp_path: Path) -> None:
    """Is refused."""
    put(folder, "a.csv", text="x\n")
    with pytest.raises(
        AcquireError, match=r"a\.csv: its text has the sha256 .*, not .* as in card mine; fetch it again"
    ):
        read_tables(card_of(tmp_path))


def test_no_file(folder: Path, tmp_path: Path) -> None:
    """Says what to do; so does a list that cannot be read."""
    assert folder.is_dir()
    with pytest.raises(
        UnknownLogError, match="no file of mine is on this machine; put them into a folder, and name it"
    ):
        read_tables(card_of(tmp_path))
    (tmp_path / "list.csv").write_text("name\nx\n")
    card = TablesCard(**{**vars(card_of(tmp_path)), "files": str(tmp_path / "none.csv")})
    with pytest.raises(CatalogError, match=r"none\.csv: no list of files with the columns file and sha256"):
        files_of(card)


def test_tables_are_no_log() -> None:
    """They are found by name, and refused where a log of jobs is needed."""
    found = find_log("mila-excerpt")
    assert (found.name, found.card, found.path) == ("mila-excerpt", None, None)
    assert found.tables is not None
    with pytest.raises(
        UnknownLogError, match="mila-excerpt is a set of tables, not a log of jobs; papers are made of it"
    ):
        load_log("mila-excerpt")
