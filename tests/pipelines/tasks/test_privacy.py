# SPDX-License-Identifier: BSD-3-Clause
"""What is withheld is nowhere below the data root: after a run, one that failed, and one that was killed."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipelines.store.data_root import DataRoot
from pipelines.tasks.acquire import AcquireLog
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.parse import ParseLog
from pipelines.tasks.publishing import PublishingTask
from tests.folders import VERSION
from tests.pipelines.accounting_logs import FORMAT, SECRETS, bytes_below, listing, step
from tests.pipelines.killed import PROCESSES
from tests.pipelines.small_logs import build

WITHHELD = pytest.mark.parametrize("how", ["hash", pytest.param("numbers", marks=pytest.mark.slow)])


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the hashes a key."""
    monkeypatch.setenv("SWFTOOLS_ANONYMISE_KEY", "my secret")


def found_below(folder: Path) -> list[str]:
    """Return the secret words that are found below a folder."""
    told = bytes_below(folder)
    return [word for word in (*SECRETS, "my secret") if word.encode() in told]


def task_of(folder: Path, how: str, log: str = "log.txt") -> BuildAugmentedTrace:
    """Return the task for a log in a folder, which is written if it is not there."""
    path = folder / log
    if not path.exists():
        path.write_text(listing())
    root = str(folder / "data")
    return BuildAugmentedTrace(log=str(path), format=FORMAT, anonymise=how, augment="utility", data_root=root)


def test_a_plain_run_keeps_the_words(tmp_path: Path) -> None:
    """Which the tests below would see."""
    assert build(task_of(tmp_path, "no"))
    assert [*SECRETS] == found_below(tmp_path / "data")
    assert (tmp_path / "data" / ".work" / "logs").is_dir()


SACCT = """\
JobID|State|Submit|Start|End|NCPUS|Flags|Priority|Reason|Constraints|NodeList|SubmitLine
1|COMPLETED|2024-03-01T09:00:00|2024-03-01T09:10:00|2024-03-01T10:10:00|4|SchedMain|17|secret-a|gpu|secret-b|secret-1
2|COMPLETED|2024-03-01T09:00:01|2024-03-01T09:10:00|2024-03-01T10:10:00|0|SchedMain|9|None||n1|sbatch secret-2
3|CANCELLED|2024-03-01T09:00:02|None|2024-03-01T10:10:00||SchedMain|9|None||n1|sbatch secret-3
4.0|COMPLETED|2024-03-01T09:00:02|2024-03-01T09:10:00|2024-03-01T10:10:00|4||||||srun secret-4
"""
"""One job, a line that reading puts aside, a job that cleaning does, and a step without its job."""


@pytest.mark.parametrize("publish", ["no", "yes"])
def test_what_may_be_a_secret_is_published_where_that_is_asked_for(tmp_path: Path, publish: str) -> None:
    """The command of a job, its hosts and its reason, and the text of lines that hold these; the rest is there."""
    (tmp_path / "sacct.txt").write_text(SACCT)
    form = f"slurm:time_zone=UTC,publish={publish}"
    root = str(tmp_path / "data")
    assert build(BuildAugmentedTrace(log=str(tmp_path / "sacct.txt"), format=form, augment="none", data_root=root))
    jobs, quarantine = (
        pd.concat(
            [pd.read_parquet(path) for path in (tmp_path / "data" / "sacct").glob(f"{VERSION}/{table}/*.parquet")]
        )
        for table in ("jobs", "quarantine")
    )
    assert (["SchedMain"], [17], ["gpu"]) == tuple(
        jobs[name].tolist() for name in ("scheduler_flags", "priority", "constraints")
    )
    assert [3, 4, 5] == sorted(quarantine["line_number"])
    told = b"".join(path.read_bytes() for path in (tmp_path / "data" / "sacct").rglob("*") if path.is_file())
    assert (b"secret" in told) == (publish == "yes")
    assert ("submit_line" in jobs) == ("host_list" in jobs) == ("wait_reason" in jobs) == (publish == "yes")
    assert quarantine["text"].notna().all() == (publish == "yes")


@WITHHELD
def test_nothing_withheld_is_kept_of_a_run(tmp_path: Path, how: str) -> None:
    """Neither in what is published nor in what stages keep; of a file, and of a folder of files."""
    assert build(task_of(tmp_path, how))
    (tmp_path / "days").mkdir()
    for day in range(2):
        (tmp_path / "days" / f"{day}.gz").write_bytes(gzip.compress(step(day, 86_400 * day).encode()))
    assert build(task_of(tmp_path, how, "days"))
    assert [] == found_below(tmp_path / "data")
    assert not (tmp_path / "data" / ".work" / "logs").exists()
    assert 2 == len(DataRoot.open(tmp_path / "data").data_sets())


@pytest.mark.parametrize(
    ("how", "stage"),
    [
        ("numbers", ParseLog),
        ("hash", PublishingTask),
        *(
            pytest.param(how, stage, marks=pytest.mark.slow)
            for how, stage in (
                *(("hash", ParseLog), ("numbers", PublishingTask)),
                *(("numbers", CleanTrace), ("hash", CleanTrace)),
            )
        ),
    ],
)
def test_nothing_withheld_is_kept_of_a_failure(
    tmp_path: Path, how: str, stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever stage it was that failed once it had done its work."""
    with monkeypatch.context() as patch:
        patch.setattr(stage, "run", failing(stage.run))
        assert not build(task_of(tmp_path, how))
    assert b"parsed" in bytes_below(tmp_path / "data"), "it came that far"
    assert [] == found_below(tmp_path / "data")


def failing(run: Any) -> Any:
    """Return what does its work and fails."""

    def fail(task: Any) -> None:
        run(task)
        raise RuntimeError("as planned")

    return fail


@pytest.mark.parametrize("moment", ["saving", pytest.param("reading", marks=pytest.mark.slow)])
def test_nothing_withheld_is_left_by_a_kill(tmp_path: Path, moment: str) -> None:
    """While the log is read, and while what was read of it is written."""
    (tmp_path / "log.txt").write_text(listing())
    process = PROCESSES.Process(target=be_killed, args=(tmp_path, moment))
    process.start()
    process.join()
    assert -signal.SIGKILL == process.exitcode
    assert b".staging" in bytes_below(tmp_path / "data") or moment == "reading"
    assert [] == found_below(tmp_path / "data")


def be_killed(folder: Path, moment: str) -> None:
    """Build, and be killed."""
    import pipelines.tasks.parse as stage  # noqa: PLC0415 (in the other process)

    os.environ["SWFTOOLS_ANONYMISE_KEY"] = "my secret"
    name = {"reading": "as_its_log", "saving": "save_trace"}[moment]
    done = getattr(stage, name)

    def kill(*given: Any) -> None:
        done(*given)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(stage, name, kill)
    build(task_of(folder, "hash"))


@contextmanager
def card_with_a_url(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Give a catalogue whose card FAR has a url, from which is downloaded; note the modes of folders downloaded to."""
    text = listing().encode()
    card = {
        **dict.fromkeys(("title", "producer", "acknowledgement", "citation", "licence"), "A site"),
        "sha256": hashlib.sha256(text).hexdigest(),
        "bytes": len(text),
        "jobs": 10,
        "format": "loadleveler",
        "url": "https://example.org/far.txt.gz",
        "machine": {"name": "Big", "processors": 64, "processors_per_node": 8, "time_zone": "UTC"},
    }
    (folder / "catalog.yaml").write_text(json.dumps({"logs": {"FAR": card}}))
    monkeypatch.setenv("SWFTOOLS_CATALOG", str(folder / "catalog.yaml"))
    modes: list[int] = []

    def download(url: str, part: Path, **_: Any) -> None:
        assert card["url"] == url
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(gzip.compress(text))
        modes.append(part.parent.stat().st_mode & 0o777)

    monkeypatch.setattr("swftools.formats.download.download", download)
    yield modes


def test_a_download_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in a folder that nobody else may look into, and goes when it was read."""
    with card_with_a_url(tmp_path, monkeypatch) as modes:
        task = BuildAugmentedTrace(log="FAR", anonymise="hash", augment="none", data_root=str(tmp_path / "data"))
        assert build(task)
        assert [0o700] == modes
        assert [] == found_below(tmp_path / "data")
        plain = BuildAugmentedTrace(log="FAR", augment="none", data_root=str(tmp_path / "data"))
        assert build(plain)
    assert [*SECRETS] == found_below(tmp_path / "data"), "without it the download stays"


def test_a_log_that_changes_while_it_is_read_in_place_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no copy that would stay as it was."""
    task = task_of(tmp_path, "hash")
    parse = task.clone(ParseLog)
    found = parse.found
    monkeypatch.setattr(ParseLog, "found", found)
    (tmp_path / "log.txt").write_text(listing(jobs=5))
    with pytest.raises(OSError, match="sha256 of the text is"):
        parse.run()
    assert not parse.complete()


def test_a_copy_of_such_a_log_is_refused(tmp_path: Path) -> None:
    """Also to whom asks for it by name."""
    task = task_of(tmp_path, "hash").clone(AcquireLog)
    with pytest.raises(ValueError, match="no copy is kept of a log with anonymise=hash"):
        task.run()


@pytest.mark.parametrize("how", ["no", "hash"])
def test_nothing_published_tells_a_path_of_the_machine(tmp_path: Path, how: str) -> None:
    """Neither of the log nor of the data root, as a home directory has its owner's name."""
    assert build(task_of(tmp_path, how))
    (version,) = (tmp_path / "data" / "log").glob(VERSION)
    assert tmp_path.name.encode() not in bytes_below(version)
    assert tmp_path.name not in (tmp_path / "data" / "catalog.yaml").read_text()
