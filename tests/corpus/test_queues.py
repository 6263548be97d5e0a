# SPDX-License-Identifier: BSD-3-Clause
"""Every queue of the corpus through every door: read in Python, and asked about on the console."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from swftools.errors import SwfToolsError
from swftools.formats import read_squeue
from tests.corpus.queue_situation import queues

QUEUES = queues()
ASKED = ["--processors", "1024", "--job", "processors=64,time=4h", "--policies", "easy"]


@pytest.mark.parametrize("name", QUEUES)
def test_it_is_read_as_it_is_meant(name: str, tmp_path: Path) -> None:
    """Who runs, who waits in which order, who is left out and why, and when it was; or one clear refusal."""
    case = QUEUES[name]
    path = tmp_path / "now"
    path.write_text(case.text, encoding="utf-8")
    if case.refused:
        with pytest.raises(SwfToolsError) as refusal:
            read_squeue(path)
        assert [words for words in case.refused if words not in str(refusal.value)] == [], str(refusal.value)
        return
    queue = read_squeue(path)
    assert queue.running.to_numpy().tolist() == case.running
    waiting = queue.waiting.astype(object).where(queue.waiting.notna(), None)
    assert waiting.to_numpy().tolist() == case.waiting
    assert (queue.held, queue.later) == (case.held, case.later)
    assert (queue.suspended, queue.others, queue.present) == (case.suspended, case.others, case.seconds)


@pytest.mark.parametrize("name", QUEUES)
def test_on_the_console(name: str, tmp_path: Path) -> None:
    """As many run and wait; a refusal is one line and the status of unreadable input."""
    case = QUEUES[name]
    path = tmp_path / "now"
    path.write_text(case.text, encoding="utf-8")
    done = CliRunner().invoke(main, ["whatif", "--running", str(path), *ASKED, "--json"])
    if case.refused:
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (30, "", 1), done.output
        assert [words for words in case.refused if words not in done.stderr] == []
        return
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["running"], told["waiting"]) == (len(case.running), len(case.waiting))
    assert {name: told[name] for name in ("held", "later", "suspended", "others")} == {
        "held": case.held,
        "later": case.later,
        "suspended": case.suspended,
        "others": case.others,
    }
