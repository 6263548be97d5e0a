# SPDX-License-Identifier: BSD-3-Clause
"""A history with ``anonymise: hash`` keeps none of the words that its files had, whatever becomes of them."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from pipelines.history.task import ReevaluateLogs
from tests.pipelines.accounting_logs import FORMAT, SECRETS, bytes_below, listing, step
from tests.pipelines.history.nights import Site
from tests.pipelines.killed import PROCESSES

SETTINGS = "log: {format: 'FORMAT', anonymise: HOW}\nwaits: {options: {training: 2}, least_jobs: 2}\n"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the hashes a key."""
    monkeypatch.setenv("SWFTOOLS_ANONYMISE_KEY", "my secret")


def site_of(folder: Path, how: str = "hash") -> Site:
    """Return a site with a file of steps, one of which is cut; one that is no log, and one that is damaged."""
    site = Site(folder, SETTINGS.replace("FORMAT", FORMAT).replace("HOW", how))
    site.put("1.txt", listing().encode())
    site.put("2.txt", (step(20, 5000) + step(21, 6000)[:-30]).encode())
    site.put("3.txt", f"a letter of {SECRETS[0]}\nto {SECRETS[1]}\n".encode())
    site.put("4.txt.gz", f"of {SECRETS[2]}\n".encode())
    site.put("5.txt", b"42 1 1 600 4 -1 -1 4 %s -1 1 1 1 1 1 -1 -1 -1\n" % SECRETS[3].encode())
    return site


def found_below(folder: Path) -> list[str]:
    """Return the secret words that are found below a folder."""
    told = bytes_below(folder)
    return [word for word in (*SECRETS, "my secret") if word.encode() in told]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Return a history of which no name is withheld."""
    site = site_of(tmp_path_factory.mktemp("on-this-machine"), "no")
    site.night()
    return site


def test_a_plain_history_keeps_the_words(plain: Site) -> None:
    """Which the tests below would see."""
    assert [*SECRETS] == found_below(plain.folder / "data")


def test_nothing_withheld_is_kept_of_a_history(tmp_path: Path) -> None:
    """Neither of what was taken nor of what was left; in the first night, and in the next."""
    site = site_of(tmp_path)
    assert site.night().version
    assert [] == found_below(tmp_path / "data")
    site.put("2.txt", (step(20, 5000) + step(21, 6000) + step(22, 7000)).encode())
    outcome = site.night()
    assert outcome.taken
    assert [] == found_below(tmp_path / "data")
    told = str(outcome)
    assert [] == [word for word in SECRETS if word in told]


def test_nothing_withheld_is_kept_of_a_night_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After all was read and made."""
    site = site_of(tmp_path)

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("as planned")

    monkeypatch.setattr("pipelines.history.publication.summary_text", fail)
    with pytest.raises(RuntimeError, match="as planned"):
        site.night()
    assert [] == found_below(tmp_path / "data")


def test_nothing_withheld_is_left_by_a_kill(tmp_path: Path) -> None:
    """When files have been read and tables written; what is left is for nobody else to look at."""
    site = site_of(tmp_path)
    process = PROCESSES.Process(target=be_killed, args=(site.folder,))
    process.start()
    process.join()
    assert -signal.SIGKILL == process.exitcode
    (left,) = (tmp_path / "data" / ".work" / ".staging").glob("night-*")
    assert 0o700 == left.stat().st_mode & 0o777
    assert [] == found_below(tmp_path / "data")


def be_killed(folder: Path) -> None:
    """Run a night, and be killed."""
    from pipelines.history import publication  # noqa: PLC0415 (in the other process)

    os.environ["SWFTOOLS_ANONYMISE_KEY"] = "my secret"

    def kill(*_: Any) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    publication.summary_text = kill
    ReevaluateLogs.clear_instance_cache()
    Site(folder).night()


def test_no_path_of_the_machine_is_published(plain: Site) -> None:
    """Neither of the inbox nor of the data root."""
    assert "on-this-machine" in str(plain.folder)
    assert b"on-this-machine" not in bytes_below(plain.folder / "data" / plain.name)
