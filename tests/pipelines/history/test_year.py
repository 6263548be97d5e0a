# SPDX-License-Identifier: BSD-3-Clause
"""A real log that comes day by day, some of its nights disturbed: at the end the bytes are those of one run."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipelines.logs.find import SHIPPED_LOG, find_log
from pipelines.store.data_root import DataRoot
from swftools.errors import StorageError
from tests.pipelines.history.nights import DAY, Site
from tests.pipelines.history.test_faults import killed_night, night_until
from tests.pipelines.killed import PROCESSES, Full

SETTINGS = """
log: {card: CARD}
waits: {methods: [binomial, lognormal]}
drift: {reference_days: 60}
"""


def days_of(path: Path, count: int = 1) -> Iterator[bytes]:
    """Yield a log as files of a day each, or of several, with its header."""
    header: list[bytes] = []
    by_day: dict[int, list[bytes]] = {}
    with gzip.open(path) as lines:
        for line in lines:
            if line.startswith(b";"):
                header.append(line)
            else:
                by_day.setdefault(int(line.split()[1]) // (count * DAY), []).append(line)
    for _, jobs in sorted(by_day.items()):
        yield b"".join(header + jobs)


def killed(site: Site, chance: random.Random) -> None:
    """Kill the night at some moment."""
    assert killed_night(chance.randrange(1, 900), site.folder) in (0, -signal.SIGKILL)


def twice_at_once(site: Site, chance: random.Random) -> None:
    """Run the night twice at once."""
    runs = [PROCESSES.Process(target=night_until, args=(0, site.folder)) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert [run.exitcode for run in runs] == [0, 0], chance


def on_a_full_disk(site: Site, chance: random.Random) -> None:
    """Let the disk be full in the middle of the night."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", Full("fsync", chance.randrange(1, 30)))
        with pytest.raises(StorageError):
            site.night()


def with_damaged_states(site: Site, chance: random.Random) -> None:
    """Cut off what is known of waits, in a copy: other versions have the same file."""
    for state in site.version().glob("wait-state.*") if site.store.latest(site.name) else ():
        content = state.read_bytes()
        state.unlink()
        state.write_bytes(content[: chance.randrange(len(content))])


def with_a_file_half_there(site: Site, chance: random.Random) -> None:
    """Let the newest file be cut off in the middle of its last line, and then be whole."""
    path = max(site.inbox.glob("[0-9d]*.swf"))
    whole = path.read_bytes()
    path.write_bytes(whole[: -chance.randrange(2, 40)])
    site.night()
    path.write_bytes(whole)


def with_files_renamed(site: Site, chance: random.Random) -> None:
    """Call the files otherwise, and set their times back."""
    *old, _ = sorted(site.inbox.glob("day-*"))
    for path in old:
        if chance.random() < 0.5:
            renamed = path.with_name(f"old-{path.name}")
            path.rename(renamed)
            os.utime(renamed, (0, 0))


DISTURBANCES: tuple[Callable[[Site, random.Random], None], ...] = (
    killed,
    twice_at_once,
    on_a_full_disk,
    with_damaged_states,
    with_files_renamed,
    killed,
)


def assert_year_is_one_run(folder: Path, log: Path, card: str, nights: int, disturbed: int, days: int = 1) -> None:
    """Run nights, some of them disturbed, and all at once; compare every file of the last versions."""
    chance = random.Random(20)
    settings = SETTINGS.replace("CARD", card)
    site, at_once = Site(folder / "nights", settings), Site(folder / "at-once", settings)
    texts = list(days_of(log, days))[:nights]
    bad = dict(zip(chance.sample(range(1, len(texts)), disturbed), DISTURBANCES * disturbed, strict=False))
    for number, text in enumerate(texts):
        site.put(f"day-{number:04d}.swf", text)
        at_once.put(f"day-{number:04d}.swf", text)
        if number in bad:
            bad[number](site, chance)
        site.night()
        # As much as a site would keep.
        for version in DataRoot.open(site.root).versions(site.name)[3:]:
            shutil.rmtree(Path(site.root) / site.name / version.version)
    at_once.night()
    assert site.hashes() == at_once.hashes()
    assert site.store.verify(site.name) == []


SOME, EACH = 1, len(DISTURBANCES)


@pytest.mark.parametrize(
    ("days", "nights", "disturbed"),
    [
        (2, 2, SOME),
        pytest.param(10, 2, SOME, marks=pytest.mark.slow),
        pytest.param(3, 7, EACH, marks=pytest.mark.slow),
        pytest.param(1, 21, EACH, marks=pytest.mark.slow),
    ],
)
def test_days_of_the_shipped_log(tmp_path: Path, days: int, nights: int, disturbed: int) -> None:
    """Some or all of its 21 days, in files of some days each, with a night that is killed, or one of each kind."""
    log = find_log(SHIPPED_LOG).path
    assert log is not None
    assert_year_is_one_run(tmp_path, log, SHIPPED_LOG, nights, disturbed, days)


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.timeout(3600)
def test_year(shared: Path, tmp_path: Path) -> None:
    """A year of SDSC-BLUE, with twenty disturbances."""
    card = "SDSC-BLUE-2000-4.2-cln"
    assert_year_is_one_run(tmp_path, shared / "traces" / f"{card}.swf.gz", card, 365, 20)


@pytest.mark.slow
def test_half_a_line_is_told_and_taken(tmp_path: Path) -> None:
    """A file that was cut in its last line leaves other rows in the table of files, and the same jobs."""
    log = find_log(SHIPPED_LOG).path
    assert log is not None
    settings = SETTINGS.replace("CARD", SHIPPED_LOG)
    site, other = Site(tmp_path / "a", settings), Site(tmp_path / "b", settings)
    for number, text in enumerate(list(days_of(log))[:3]):
        for each in (site, other):
            each.put(f"{number}.swf", text)
    with_a_file_half_there(site, random.Random(3))
    site.night()
    other.night()
    assert site.store.read_table("site", "ingested").num_rows == 4
    here, there = site.hashes(), other.hashes()
    assert {n: h for n, h in here.items() if n.startswith(("jobs/", "wait-state", "wait_predictions/"))} == {
        n: h for n, h in there.items() if n.startswith(("jobs/", "wait-state", "wait_predictions/"))
    }
