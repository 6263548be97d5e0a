# SPDX-License-Identifier: BSD-3-Clause
"""The front door: formats are recognised, several files are one log, and what is none says what is missing."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swftools import iter_log, read_log, read_swf
from swftools.errors import LogFormatError, ParameterError, UnreadableLogError
from swftools.formats import registry
from swftools.formats.detect import detect
from swftools.formats.registry import LogFormat, find_format, list_formats, register_format
from tests.formats.accounting.plain import Plain
from tests.formats.accounting.test_ledger import job

SWF = b"; Version: 2.2\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"
SAMPLES = Path(__file__).parent / "loadleveler" / "samples"


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the format of the tests, for one of them."""
    monkeypatch.setattr(registry.FORMATS, "known", dict(registry.FORMATS.known))
    monkeypatch.setattr(registry.FORMATS, "_sources", dict(registry.FORMATS._sources))
    register_format(Plain)


def test_swf_is_read_as_read_swf_does() -> None:
    """Options of the format too."""
    trace, again = read_log(io.BytesIO(SWF)), read_swf(io.BytesIO(SWF))
    assert trace.equals(again)
    assert trace.provenance == again.provenance
    assert len(list(iter_log(io.BytesIO(SWF * 20), chunk_bytes=100))) > 1


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.txt*")), ids=lambda path: path.name)
def test_listings_are_recognised(path: Path) -> None:
    """Each sample is, the refused ones too, and by one format alone."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    assert detect(text[: 1 << 16], path.name)[0] == "loadleveler"


@pytest.mark.parametrize("text", [SWF, b"\n; a\n\n" + SWF, b"; MaxProcs: 8\n", b" 1 0 " + b"-1 " * 16 + b"\n"])
def test_swf_is_recognised(text: bytes) -> None:
    """By a job, or by a comment of a header."""
    assert detect(text, "x")[0] == "swf"


def test_none_of_the_formats() -> None:
    """The formats that were tried are named, and what was missing for each."""
    with pytest.raises(LogFormatError) as caught:
        read_log(io.BytesIO(b"hello\nworld\n"))
    message = str(caught.value)
    assert message.startswith("<stream>: it looks like none of the known formats")
    for name, kind in list_formats().items():
        assert f"\n  {name}: {kind.recognise(b'hello').why}" in message


def test_an_empty_log() -> None:
    """There is nothing to recognise; as what it is said to be, it is a log without jobs."""
    with pytest.raises(LogFormatError, match="it is empty"):
        read_log(io.BytesIO(b""))
    with pytest.raises(ParameterError, match=r"mapping=FILE\.yaml"):
        read_log(io.BytesIO(b""), "table")  # which has no columns until they are told
    for name in sorted(set(list_formats()) - {"table"}):
        assert not len(read_log(io.BytesIO(b""), name))
        assert [len(piece) for piece in iter_log(io.BytesIO(b""), name)] == [0]


@pytest.mark.usefixtures("plain")
def test_two_formats_that_both_fit() -> None:
    """They are named, and the option that decides."""
    both = b"=== Job Step a.1.0 ===\nsubmit=1\n"
    with pytest.raises(
        LogFormatError, match=r"looks like several formats: loadleveler \(.*\), plain \(submit=\); choose one"
    ):
        read_log(io.BytesIO(both))
    assert len(read_log(io.BytesIO(both), "plain").quarantine) == 1


def test_a_name_decides_where_the_text_does_not(tmp_path: Path) -> None:
    """A damaged file called .swf is read as SWF, and all of it put aside."""
    path = tmp_path / "bad.swf"
    path.write_text("no job\n")
    assert read_log(path).quarantine["reason"].tolist() == ["2 fields instead of 18"]


@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("slrm", {}, "no log format 'slrm'"),
        ("loadleveler:zone=UTC", {}, "unknown parameters"),
        ("loadleveler", {"zone": "UTC"}, "unknown parameters"),
        ("loadleveler:time_zone=Mars", {}, "not a zone of the tz database"),
        ("loadleveler:requested_time=mild", {}, "one of soft, hard"),
        ("loadleveler:processors_per_node=0", {}, "processors"),
        ("swf", {"time_zone": "UTC"}, "unknown parameters"),
        ("no_such_module:x", {}, "cannot be imported"),
    ],
)
def test_wrong_options(name: str, options: dict[str, Any], error: str) -> None:
    """They are refused before anything is read."""
    with pytest.raises(ParameterError, match=error):
        read_log(io.BytesIO(SWF), name, **options)


@pytest.mark.parametrize("anonymise", [{"anonymise": "hash"}, {"anonymise": "yes"}, {"key": "x"}])
def test_wrong_privacy(anonymise: dict[str, str]) -> None:
    """Hashes need a key, and nothing else takes one."""
    with pytest.raises(ParameterError):
        read_log(io.BytesIO(SWF), **anonymise)


class Unseekable(io.RawIOBase):
    """A pipe."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.inner = io.BytesIO(data)

    def readable(self) -> bool:
        """Say that it is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Give a few bytes."""
        data = self.inner.read(min(len(buffer), 7))
        buffer[: len(data)] = data
        return len(data)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_streams(pack: Any) -> None:
    """A pipe is recognised and then read whole; in pieces, twice, it cannot be."""
    text = (SAMPLES / "llsummary-l_dst_zone.txt").read_bytes()
    whole = read_log(io.BytesIO(text), processors_per_node=8)
    piped = read_log(io.BufferedReader(Unseekable(pack(text))), processors_per_node=8)
    assert piped.equals(whole)
    assert piped.provenance["sha256"] == whole.provenance["sha256"]
    half = io.BytesIO(b"xx" + pack(text))
    half.seek(2)
    assert read_log(half, processors_per_node=8).equals(whole), "from where it stands"
    with pytest.raises(LogFormatError, match="save it as a file"):
        next(iter_log(io.BufferedReader(Unseekable(pack(text))), processors_per_node=8))
    half.seek(2)
    assert sum(len(piece) for piece in iter_log(half, processors_per_node=8)) == len(whole)


def day(number: int) -> str:
    """Return the accounting of a day: three jobs, and a line that is none."""
    first = number * 86_400
    return "".join(job(first + each * 60, log_id=f"{number}.{each}", user=f"u{number}") for each in range(3)) + "bad\n"


@pytest.mark.usefixtures("plain")
def test_a_folder_of_days_is_one_log(tmp_path: Path) -> None:
    """In the order of their records, whatever their names and compression; the line is told of the file it is in."""
    folder = tmp_path / "acct"
    folder.mkdir()
    (folder / ".hidden").write_text("nothing")
    (folder / "log.2").write_text(day(1))
    (folder / "log.10.gz").write_bytes(gzip.compress(day(0).encode().rstrip(b"\n")))
    (folder / "log.1").write_text(day(2) + job(0, log_id="0.0", user="u0"))
    (folder / "nothing").write_text("")
    trace = read_log(folder)
    assert trace.jobs["log_id"].tolist() == [f"{number}.{each}" for number in range(3) for each in range(3)]
    assert trace.names["name"].tolist() == ["u0", "u1", "u2"]
    assert trace.quarantine[["line_number", "reason"]].to_numpy().tolist() == [
        [4, "log.10.gz, line 4: no words"],
        [8, "log.2, line 4: no words"],
        [12, "log.1, line 4: no words"],
    ]
    assert trace.merged[["line_number", "into_line_number"]].to_numpy().tolist() == [[13, 1]]
    assert trace.provenance["files"] == ["log.10.gz", "log.2", "log.1", "nothing"]
    for source in (f"{folder}/*[0-9z]", sorted(folder.glob("log*"))):
        again = read_log(source)
        assert again.equals(trace)
        assert again.provenance["sha256"] == trace.provenance["sha256"]
    for chunk_bytes in (1, 50, 10_000):
        pieces = list(iter_log(folder, chunk_bytes=chunk_bytes))
        assert pd.concat([piece.quarantine for piece in pieces], ignore_index=True).equals(trace.quarantine)


@pytest.mark.usefixtures("plain")
def test_a_log_that_grows_by_a_day_goes_on(tmp_path: Path) -> None:
    """The text of the days so far is the beginning of the new text."""
    for number in range(3):
        (tmp_path / f"day{number}").write_text(day(number).rstrip("\n"))
    texts = [read_log([tmp_path / f"day{each}" for each in range(count)]).provenance["bytes"] for count in (1, 2, 3)]
    assert texts == [len(day(0)) - 1, len(day(0) + day(1)) - 1, len(day(0) + day(1) + day(2)) - 1]


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    """Of several formats, of none, in SWF; and no files at all."""
    (tmp_path / "a.txt").write_bytes((SAMPLES / "llsummary-l_dst_zone.txt").read_bytes())
    (tmp_path / "b").write_bytes(SWF)
    with pytest.raises(LogFormatError, match=r"its files are of several formats \(loadleveler, swf\)"):
        read_log(tmp_path)
    (tmp_path / "a.txt").write_bytes(SWF)
    with pytest.raises(LogFormatError, match="2 files in SWF are as many logs"):
        read_log(tmp_path)
    (tmp_path / "b").write_text("README")
    with pytest.raises(LogFormatError, match=r"b: it looks like none"):
        read_log(tmp_path)
    with pytest.raises(UnreadableLogError, match="no file has such a name"):
        read_log(tmp_path / "*.swf")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableLogError, match="a folder without files"):
        read_log(tmp_path / "empty")
    with pytest.raises(ParameterError, match="no files"):
        read_log([])
    (tmp_path / "c[1].swf").write_bytes(SWF)
    assert len(read_log(tmp_path / "c[1].swf")) == 1, "a file of that very name is that file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    """It is named."""
    (tmp_path / "x.swf").write_bytes(SWF)
    (tmp_path / "x.swf").chmod(0)
    with pytest.raises(UnreadableLogError, match=r"x.swf"):
        read_log(tmp_path / "x.swf")


def test_each_format_says_what_it_is() -> None:
    """A title, the command to get it, a docstring, options with defaults that are right."""
    for name, kind in list_formats().items():
        assert issubclass(kind, LogFormat)
        assert find_format(name) == (kind, {})
        assert kind.TITLE
        assert kind.COMMAND
        assert kind.__doc__
        assert kind().to_mapping() == kind.from_mapping({}).to_mapping()
        fit = kind.recognise(b"hello")
        assert not fit.fits
        assert fit.why.startswith("no ")
