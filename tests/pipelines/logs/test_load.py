# SPDX-License-Identifier: BSD-3-Clause
"""load_log: one way from a log's name to its trace."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import swftools
from pipelines.logs.find import SHIPPED_LOG
from pipelines.logs.load import load_log
from swftools.errors import SwfFormatError, UnknownLogError, UnreadableLogError
from tests.pipelines.cli.test_reading_logs import LOG, catalog


def test_the_shipped_log_by_its_card(shipped_log: Path) -> None:
    """Cleaned by default, with the card's machine; raw on request, without a report."""
    loaded, raw = load_log(SHIPPED_LOG), load_log(str(shipped_log), clean=False)
    assert (SHIPPED_LOG, 1152, 5000) == (loaded.trace.provenance["name"], loaded.trace.processors, len(loaded.trace))
    assert loaded.report is not None
    assert loaded.report.balance["kept"] == 5000
    assert raw.report is None
    assert raw.trace.jobs.equals(swftools.read_swf(shipped_log).jobs)
    assert raw.log.card is not None


def test_the_machine_asked_for_is_told_after_cleaning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules judge by the log's own machine, as in the tasks; so a job too wide for another one is still there."""
    (tmp_path / "cards.yaml").write_text(catalog(LOG, processors=8))
    monkeypatch.setenv("SWFTOOLS_CATALOG", str(tmp_path / "cards.yaml"))
    (tmp_path / "log.swf").write_text(LOG)
    loaded = load_log(str(tmp_path / "log.swf"), processors=4)
    assert (4, 3) == (loaded.trace.processors, len(loaded.trace))


def test_rules_given_go_before_the_cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And without a card or rules the default ones hold."""
    (tmp_path / "log.swf").write_text(LOG)
    (tmp_path / "cards.yaml").write_text(catalog(LOG))
    steps = [load_log(str(tmp_path / "log.swf")).report]
    monkeypatch.setenv("SWFTOOLS_CATALOG", str(tmp_path / "cards.yaml"))
    steps += [load_log(str(tmp_path / "log.swf"), rules=rules).report for rules in (None, ["duplicates"])]
    rules = [report.steps["rule"].tolist() for report in steps if report]
    assert list(swftools.cleaning.DEFAULT_RULES) == [
        rule for rule in rules[0] if rule in swftools.cleaning.DEFAULT_RULES
    ]
    assert [["run-over-request", "wider-than-machine"], ["duplicates"]] == [
        [rule for rule in names if rule in ("run-over-request", "wider-than-machine", "duplicates")]
        for names in rules[1:]
    ]


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    """As the shell's <(...) gives one."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(LOG,))
    writer.start()
    assert 3 == len(load_log(str(pipe), clean=False).trace)
    writer.join()


def test_what_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    """Missing, damaged, and without jobs are three errors."""
    (tmp_path / "damaged.gz").write_bytes(b"\x1f\x8b\x08\x00abc")
    (tmp_path / "empty.swf").touch()
    with pytest.raises(UnknownLogError, match="neither a file nor a card"):
        load_log("nowhere.swf")
    with pytest.raises(UnknownLogError, match="neither a file nor a card"):
        load_log("nowhere.parquet")
    with pytest.raises(UnreadableLogError, match=r"damaged\.gz"):
        load_log(str(tmp_path / "damaged.gz"))
    with pytest.raises(SwfFormatError, match="it is empty"):
        load_log(str(tmp_path / "empty.swf"))
    (tmp_path / "log.swf").write_text(LOG + "no job\n")
    with pytest.raises(SwfFormatError, match="line 5"):
        load_log(str(tmp_path / "log.swf"), strict=True)
