"""What squeue prints: running and waiting jobs by hand, and lines that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from swftools.errors import UnknownLogError, UnreadableLogError
from swftools.formats import read_squeue

HEAD = "JOBID|STATE|CPUS|TIME_LIMIT|TIME|SUBMIT_TIME|NAME"


def written(folder: Path, *lines: str, head: str = HEAD) -> Path:
    """Return a file of lines below a head."""
    path = folder / "now.txt"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return path


def test_what_runs_and_what_waits(tmp_path: Path) -> None:
    """Short and long names of states; waiting jobs in order of submission; the youngest came just now."""
    path = written(
        tmp_path,
        "11|RUNNING|64|4:00:00|1:00:00|2026-11-24T08:00:00|a",
        "14|PD|8|30:00|0:00|2026-11-24T09:40:00|d",
        "12_3|CG|32|1-02:03:04|30|2026-11-24T09:00:00|b",
        "",
        "13|PENDING|96|2-0|0:00|2026-11-24T09:30:00|c",
        "15|COMPLETED|8|30:00|12:00|2026-11-24T07:40:00|e",
    )
    queue = read_squeue(path)
    assert queue.running.values.tolist() == [["11", 64, 14400.0, 3600.0], ["12_3", 32, 93784.0, 1800.0]]
    assert queue.waiting.values.tolist() == [["13", 96, 172800.0, 600.0], ["14", 8, 1800.0, 0.0]]
    assert queue.others == 1


def test_other_names_and_another_order(tmp_path: Path) -> None:
    """Without the times of submission jobs wait in the order of the lines."""
    path = written(tmp_path, "5|7|PD|1:00", "5|3|PD|2:00", head="NUM_CPUS|jobid|ST|timelimit")
    queue = read_squeue(path)
    assert queue.waiting["name"].tolist() == ["7", "3"]
    assert queue.waiting["requested_time"].tolist() == [60.0, 120.0]
    assert queue.waiting["waited"].tolist() == [0.0, 0.0]


def test_jobs_without_a_limit(tmp_path: Path) -> None:
    """They take what is said, and nothing is guessed."""
    path = written(tmp_path, "1|PD|1|UNLIMITED|0:00|N/A|a")
    assert read_squeue(path, longest=900).waiting["requested_time"].tolist() == [900.0]
    with pytest.raises(UnreadableLogError, match=r"now.txt, line 2: the job has no time limit; say .*--longest 7d"):
        read_squeue(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1|PD|1|1:00", "line 2: 4 values for 7 columns"),
        ("1_[1-9]|PD|1|1:00|0:00|N/A|a", r"line 2: 1_\[1-9\] stands for several jobs; ask for each by squeue --array"),
        ("1|PD|0|1:00|0:00|N/A|a", "line 2: CPUS '0' is no number of processors"),
        ("1|PD|x|1:00|0:00|N/A|a", "line 2: CPUS 'x' is no number of processors"),
        ("1|PD|1|soon|0:00|N/A|a", "line 2: TIME_LIMIT 'soon' is no time"),
        ("1|PD|1|1:2:3:4|0:00|N/A|a", "line 2: TIME_LIMIT '1:2:3:4' is no time"),
        ("1|PD|1|1:00|0:00|yesterday|a", "line 2: SUBMIT_TIME 'yesterday' is no date"),
    ],
)
def test_lines_that_are_none(line: str, message: str, tmp_path: Path) -> None:
    """One error, with file, line and what to do."""
    with pytest.raises(UnreadableLogError, match=f"now.txt, {message}"):
        read_squeue(written(tmp_path, line))


def test_files_that_are_none(tmp_path: Path) -> None:
    """Not there, empty, a folder, and of another command."""
    with pytest.raises(UnknownLogError, match="no such file; check the path"):
        read_squeue(tmp_path / "none.txt")
    (tmp_path / "empty.txt").touch()
    with pytest.raises(UnreadableLogError, match="it is empty; make it by squeue --array"):
        read_squeue(tmp_path / "empty.txt")
    with pytest.raises(UnreadableLogError, match="Is a directory"):
        read_squeue(tmp_path)
    with pytest.raises(UnreadableLogError, match="line 1: no column STATE, TIME_LIMIT; make it by"):
        read_squeue(written(tmp_path, head="JOBID|CPUS"))
