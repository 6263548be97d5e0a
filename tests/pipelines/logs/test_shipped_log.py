# SPDX-License-Identifier: BSD-3-Clause
"""The shipped log is a true excerpt of the archive's, and the cards say what the logs hold.

What needs the full logs looks for them in ``$SWFTOOLS_SHARED/traces``.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import re
import zlib
from collections.abc import Callable
from functools import cache
from itertools import takewhile
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest

from pipelines.catalog.cards import RESOURCES
from pipelines.catalog.reader import read_catalog
from swftools.errors import ParameterError, UnreadableLogError
from swftools.formats.text_hash import text_sha256
from tests.folders import ROOT

BLUE = "SDSC-BLUE-2000-4.2-cln"
EXCERPT = f"{BLUE}-5000-9999"
FULL_LOGS = [name for name, card in read_catalog().logs.items() if name != EXCERPT and card.format == "swf"]
BY_DAY = [name if name[:3] == "KTH" else pytest.param(name, marks=pytest.mark.slow) for name in FULL_LOGS]
"""The full logs, of which the shortest is looked at by day; of all of them by day their headers."""
SHIPPED = Path(str(RESOURCES / "logs" / f"{EXCERPT}.swf.gz"))

SHARED = os.environ.get("SWFTOOLS_SHARED", "")
needs_full_logs = [
    pytest.mark.full,
    pytest.mark.skipif(not SHARED, reason="SWFTOOLS_SHARED does not name a directory with the full logs"),
]
SUBMIT, WAIT, RUN, ALLOCATED, CPU, REQUESTED, REQUESTED_TIME, STATUS, QUEUE = 1, 2, 3, 4, 5, 7, 8, 10, 14

Jobs = npt.NDArray[np.float64]


@cache
def text_of(name: str) -> bytes:
    """Return the text of a log: the shipped one, or a full one."""
    path = SHIPPED if name == EXCERPT else Path(SHARED) / "traces" / f"{name}.swf.gz"
    return gzip.decompress(path.read_bytes())


def parts_of(name: str) -> tuple[list[bytes], list[bytes]]:
    """Return the header lines and the job lines of a log."""
    lines = text_of(name).splitlines()
    return [line for line in lines if line.startswith(b";")], [line for line in lines if line[:1] not in (b";", b"")]


@cache
def jobs_of(name: str) -> Jobs:
    """Return the 18 fields of a log's job lines."""
    return np.array([line.split() for line in parts_of(name)[1]], dtype=np.float64)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """Import the script that cut the shipped log."""
    spec = importlib.util.spec_from_file_location("cut_excerpt", ROOT / "examples" / "cut_excerpt.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_card_of_the_shipped_log() -> None:
    """The shipped log has the checksum, length and number of jobs that its card says."""
    card = read_catalog().log(EXCERPT)
    assert text_sha256(SHIPPED) == card.sha256
    assert len(text_of(EXCERPT)) == card.bytes
    assert len(parts_of(EXCERPT)[1]) == card.jobs == 5000


def test_shipped_file_has_no_clock_time() -> None:
    """The shipped file carries no time and no file name, so that it can be made again byte for byte."""
    magic, flags, time = SHIPPED.read_bytes()[:2], SHIPPED.read_bytes()[3], SHIPPED.read_bytes()[4:8]
    assert (magic, flags, time) == (b"\x1f\x8b", 0, b"\0\0\0\0")


def test_shipped_header() -> None:
    """The shipped log thanks whom the archive thanks, and says that it is an excerpt and which."""
    header = b"\n".join(parts_of(EXCERPT)[0]).decode()
    assert "; Acknowledge: Travis Earheart and Nancy Wilkins-Diehr\n" in header
    assert "; Conversion: Dror Feitelson (feit@cs.huji.ac.il) 01 Jan 2012\n" in header
    assert "; MaxJobs: 250440\n" in header
    assert "user=269 and (job>=200425 and job<=217010) (5181 jobs removed)" in header
    note = header[header.index("; Note: EXCERPT") :]
    assert "index 5000 to 9999 (the first is 0) of the 243306" in note
    assert read_catalog().log(BLUE).sha256 in note
    assert "MaxJobs" in note


def test_shipped_window() -> None:
    """The shipped jobs are the window of Lee 2009: cancelled jobs are part of it."""
    jobs = jobs_of(EXCERPT)
    assert jobs.shape == (5000, 18)
    assert jobs[[0, -1], 0].tolist() == [5486, 10485]
    assert int((jobs[:, RUN] == -1).sum()) == 216
    assert bool((np.diff(jobs[:, SUBMIT]) >= 0).all())


def test_cut_small_log(script: ModuleType, tmp_path: Path) -> None:
    """An excerpt has the whole header, a note and just the lines asked for, ends of lines included."""
    source, output = tmp_path / "small.swf", tmp_path / "part.swf.gz"
    source.write_bytes(b"; A: 1\r\n;\r\n1 x\r\n; amid\r\n2 x\r\n\r\n3 x\r\n4 x")
    assert script.main([str(source), "1", "3", str(output)]) == 0
    lines = gzip.decompress(output.read_bytes()).split(b"\r\n")
    assert lines[:2] == [b"; A: 1", b";"]
    assert lines[2].startswith(b"; Note: EXCERPT")
    assert lines[-3:] == [b"2 x", b"3 x", b"4 x"]
    assert all(line.startswith(b";") for line in lines[:-3])


@pytest.mark.parametrize(("first", "last"), [(0, 4), (-1, 2), (3, 2), (4, 4)])
def test_cut_lines_that_are_not_there(script: ModuleType, tmp_path: Path, first: int, last: int) -> None:
    """Lines that the log does not have are refused with those that it has, and nothing is written."""
    source, output = tmp_path / "small.swf", tmp_path / "part.swf"
    source.write_bytes(b"1\n2\n3\n4\n")
    with pytest.raises(ParameterError, match=f"no data lines {first} to {last} among its 4"):
        script.cut(source, first, last, output)
    assert not output.exists()


def test_cut_damaged_log(script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the command line a damaged log is a message and an exit status, not a traceback."""
    source = tmp_path / "small.swf.gz"
    source.write_bytes(gzip.compress(b"1\n2\n")[:-4])
    assert script.main([str(source), "0", "1", str(tmp_path / "part.swf")]) == 1
    assert "small.swf.gz" in capsys.readouterr().err
    with pytest.raises(UnreadableLogError):
        script.cut(source, 0, 1, tmp_path / "part.swf")


class TestFullLogs:
    """What holds for the full logs, where they are at hand."""

    pytestmark = needs_full_logs

    @pytest.mark.slow
    def test_excerpt_is_of_the_log(self) -> None:
        """The shipped job lines and header lines are the log's own, byte for byte."""
        header, jobs = parts_of(BLUE)
        excerpt_header, excerpt_jobs = parts_of(EXCERPT)
        assert excerpt_jobs == jobs[5000:10000]
        assert excerpt_header[: len(header)] == header
        assert all(re.match(rb"; Note: EXCERPT|;       ", line) for line in excerpt_header[len(header) :])
        assert text_of(EXCERPT).startswith(text_of(BLUE)[: text_of(BLUE).index(b"\n    9 ")])

    @pytest.mark.slow
    def test_cut_again(self, script: ModuleType, tmp_path: Path) -> None:
        """The script makes the shipped text again, and where zlib compresses alike the same file."""
        output = tmp_path / f"{EXCERPT}.swf.gz"
        source = Path(SHARED) / "traces" / f"{BLUE}.swf.gz"
        assert script.main([str(source), "5000", "9999", str(output)]) == 0
        assert gzip.decompress(output.read_bytes()) == text_of(EXCERPT)
        # Replacements of zlib, such as zlib-ng, choose other matches; they say so in their version.
        if re.fullmatch(r"1\.[\d.]+", zlib.ZLIB_RUNTIME_VERSION):
            assert output.read_bytes() == SHIPPED.read_bytes()

    @pytest.mark.parametrize("name", BY_DAY)
    def test_cards(self, name: str) -> None:
        """Each log has the checksum, length and number of jobs that its card says."""
        card = read_catalog().log(name)
        assert hashlib.sha256(text_of(name)).hexdigest() == card.sha256
        assert len(text_of(name)) == card.bytes
        assert len(parts_of(name)[1]) == card.jobs

    @pytest.mark.parametrize("name", FULL_LOGS)
    def test_cards_and_headers(self, name: str) -> None:
        """A card agrees with the log's header: thanks, machine, queues and filters."""
        card = read_catalog().log(name)
        with gzip.open(Path(SHARED) / "traces" / f"{name}.swf.gz") as lines:
            header = b"".join(takewhile(lambda line: line.startswith(b";"), lines)).decode()
        labels = dict(re.findall(r"^; (\w+): +(.*?) *$", header, re.MULTILINE))
        assert labels["Acknowledge"] in card.acknowledgement
        assert ("Copyright" in labels) is (card.licence != "none stated")
        if name != "CTC-SP2-1996-3.1-cln":
            assert int(labels["MaxProcs"].split()[0]) == card.machine.processors
        queues = {int(number): queue for number, queue in re.findall(r"^; Queue: +(\d+) +(\S+)", header, re.MULTILINE)}
        assert {number: queue.name for number, queue in card.queues.items()} == queues
        filters = {
            (int(user) if user else None, int(first or 1), int(last), int(removed))
            for user, first, last, removed in re.findall(
                r"(?:user=(\d+) and \(job>=(\d+) and )?job<=(\d+)\)? \((\d+) jobs removed\)", header
            )
        }
        assert {(f.user, f.first_job, f.last_job, f.jobs_removed) for f in card.published_filters} == filters
        assert int(labels["MaxJobs"]) - sum(f.jobs_removed for f in card.published_filters) == card.jobs

    @pytest.mark.parametrize("name", BY_DAY)
    def test_every_queue_has_a_rank(self, name: str) -> None:
        """Every queue number of a log is on its card, unless the log has none at all."""
        numbers = set(jobs_of(name)[:, QUEUE].astype(int).tolist())
        assert numbers <= set(read_catalog().log(name).queue_ranks) or numbers == {-1}

    @pytest.mark.parametrize("name", [*BY_DAY, EXCERPT])
    @pytest.mark.parametrize("sentence", ["missing run", "missing processors", "over request", "cpu", "capacity"])
    def test_anomalies(self, name: str, sentence: str) -> None:
        """The counts in a card's anomalies are those of its job lines."""
        said = " ".join(read_catalog().log(name).anomalies)
        pattern, count = ANOMALIES[sentence]
        found = re.search(pattern, said)
        counts = count(name)
        if found is None:
            assert counts[0] == 0 or name == EXCERPT
        else:
            said_counts = [float(group.replace(",", "")) for group in found.groups() if group]
            assert said_counts == counts[: len(said_counts)]


def _missing(name: str, field: int) -> int:
    return int((jobs_of(name)[:, field] == -1).sum())


def _cpu(name: str) -> list[float]:
    """Count average CPU times that are missing, not whole as written, and longer than the run."""
    jobs = jobs_of(name)
    written = [line.split()[CPU] for line in parts_of(name)[1]]
    odd = sum(not re.fullmatch(rb"-?\d+", value) for value in written)
    return [_missing(name, CPU), odd, int(((jobs[:, CPU] > jobs[:, RUN]) & (jobs[:, RUN] > 0)).sum())]


def _capacity(name: str) -> list[float]:
    """Return hours in which the jobs of the log hold more processors than there are, and their most."""
    jobs = jobs_of(name)
    ran = jobs[(jobs[:, RUN] > 0) & (jobs[:, ALLOCATED] > 0) & (jobs[:, WAIT] >= 0)]
    start = ran[:, SUBMIT] + ran[:, WAIT]
    times = np.concatenate([start, start + ran[:, RUN]])
    changes = np.concatenate([ran[:, ALLOCATED], -ran[:, ALLOCATED]])
    order = np.lexsort((changes, times))
    busy = np.cumsum(changes[order])
    above = busy[:-1] > read_catalog().log(name).machine.processors
    hours = float(np.diff(times[order])[above].sum() / 3600)
    return [round(hours, 1) if hours < 100 else round(hours), float(busy.max())]


ANOMALIES: dict[str, tuple[str, Callable[[str], list[float]]]] = {
    "missing run": (
        r"run time is missing in ([\d,]+) jobs(?:; ([\d,]+) of them are cancelled)?",
        lambda name: [
            _missing(name, RUN),
            int(((jobs_of(name)[:, RUN] == -1) & (jobs_of(name)[:, STATUS] == 5)).sum()),
        ],
    ),
    "missing processors": (
        r"allocated (?:processors are missing in|processors in|and the requested processors are missing in) ([\d,]+)",
        lambda name: [_missing(name, ALLOCATED)],
    ),
    "over request": (
        r"([\d,]+) jobs ran longer than they requested",
        lambda name: [
            int(
                (
                    (jobs_of(name)[:, RUN] > jobs_of(name)[:, REQUESTED_TIME]) & (jobs_of(name)[:, REQUESTED_TIME] > 0)
                ).sum()
            )
        ],
    ),
    "cpu": (
        r"average CPU time is missing in (?:all )?([\d,]+) jobs(?:, is not a whole number in ([\d,]+)"
        r"(?: and exceeds the run time in ([\d,]+))?| and is not a whole number in ([\d,]+))?",
        _cpu,
    ),
    "capacity": (r"exceed the machine's [\d,]+ for ([\d.]+) hours in all.*?the peak is ([\d,]+)", _capacity),
}
