# SPDX-License-Identifier: BSD-3-Clause
"""How commands read a log: with its card's machine and rules, from standard input, and what they print of it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.logs.find import SHIPPED_LOG
from swftools import Trace, read_log, simulate
from swftools.errors import ParameterError
from swftools.formats.parquet import read_parquet
from swftools.header import SwfHeader
from swftools.tables import empty_frame
from tests.folders import ROOT
from tests.pipelines.luigi_runs import SWFTOOLS, run

LOG = """\
; MaxProcs: 8
1 0 5 60 4 -1 -1 4 50 -1 1 7 -1 -1 3 -1 -1 -1
2 10 5 60 6 -1 -1 6 90 -1 0 7 -1 -1 3 -1 -1 -1
3 20 5 60 2 -1 -1 2 90 -1 1 8 -1 -1 3 -1 -1 -1
"""
"""The first job ran longer than requested; the second is too wide for a machine of 4."""

RULES = """
    cleaning:
      - rule: run-over-request
        action: cut-run
      - wider-than-machine
"""


def catalog(text: str, rules: str = RULES, processors: int = 4) -> str:
    """Return a catalogue with the card of a text."""
    return f"""
logs:
  MINE:
    title: A log
    producer: A site
    acknowledgement: Somebody
    citation: A paper
    licence: none stated
    sha256: {hashlib.sha256(text.encode()).hexdigest()}
    bytes: {len(text)}
    jobs: 3
    format: swf
    machine:
      name: A machine
      processors: {processors}
      processors_per_node: 1
      time_zone: Europe/Stockholm
{rules}"""


@pytest.fixture
def carded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A log with a card of its own, whose machine is smaller than the header's and whose rules are not the default."""
    (tmp_path / "cards.yaml").write_text(catalog(LOG))
    monkeypatch.setenv("SWFTOOLS_CATALOG", str(tmp_path / "cards.yaml"))
    log = tmp_path / "any-name.swf"
    log.write_text(LOG)
    yield log
    logging.getLogger("pipelines").setLevel(logging.NOTSET)


def call(*arguments: object, data: bytes | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=data)


def test_describe_takes_the_cards_rules_and_machine(carded: Path) -> None:
    """And --raw the log as it is, but for the machine: that is a fact, not a rule."""
    cleaned = json.loads(call("describe", carded, "--json").stdout)
    raw = json.loads(call("describe", carded, "--json", "--raw").stdout)
    assert ("MINE", 4, 2, 1, 0) == tuple(
        cleaned[name] for name in ("name", "processors", "jobs", "quarantined_lines", "over_request")
    )
    assert ("MINE", 4, 3, 0, 1) == tuple(
        raw[name] for name in ("name", "processors", "jobs", "quarantined_lines", "over_request")
    )


def test_validate_takes_them(carded: Path) -> None:
    """The wide job is a fault by the card's rules; raw, no line is."""
    cleaned, raw = call("validate", carded), call("validate", carded, "--raw")
    assert (1, True, True) == (
        cleaned.exit_code,
        "wider-than-machine: 1 quarantined" in cleaned.stdout,
        "run-over-request: 1 repaired" in cleaned.stdout,
    )
    assert (0, f"{carded}: 3 jobs, 0 lines to quarantine\n") == (raw.exit_code, raw.stdout)
    assert 0 == call("validate", carded, "--rules", "duplicates").exit_code


def test_convert_takes_them(carded: Path, tmp_path: Path) -> None:
    """The run is cut, unless the log is asked for as it is."""
    for flags, run_times in (((), [50.0, 60.0]), (("--raw",), [60.0, 60.0, 60.0])):
        assert 0 == call("convert", carded, tmp_path / "out.parquet", *flags).exit_code
        assert run_times == read_parquet(tmp_path / "out.parquet").jobs["run_time"].tolist()


def test_check_schedule_takes_them(carded: Path, tmp_path: Path) -> None:
    """A schedule of the cleaned log is valid for it, and lacks a job of the raw one's machine of 8."""
    schedule = tmp_path / "schedule.csv"
    schedule.write_text("job_number,start_time\n1,0\n3,50\n")
    assert 0 == call("check-schedule", schedule, "--log", carded).exit_code
    raw = call("check-schedule", schedule, "--log", carded, "--raw", "--processors", "8")
    assert (1, True) == (raw.exit_code, "on 8 processors" in raw.stdout)


def test_every_command_that_reads_a_log_cleans_it_by_default() -> None:
    """The option is the same everywhere."""
    for command in ("describe", "validate", "convert", "simulate", "check-schedule"):
        text = " ".join(call(command, "--help").stdout.split())
        assert "--clean / --raw Clean the log, or take it as it is. [default: clean]" in text


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_a_log(carded: Path, name: str, pack: Callable[[bytes], bytes]) -> None:
    """Compressed or not; what it is is known by its hash, so that its card holds."""
    command = [*SWFTOOLS, "describe", name, "--json"]
    done = run(command, carded.parent, pack(LOG.encode()), SWFTOOLS_CATALOG=str(carded.parent / "cards.yaml"))
    assert 0 == done.returncode, done.stderr
    assert ("MINE", 4, 2) == tuple(json.loads(done.stdout)[key] for key in ("name", "processors", "jobs"))


def test_other_commands_take_standard_input_too(tmp_path: Path) -> None:
    """A pipe into validate, convert and simulate."""
    data = LOG.encode()
    assert (0, True) == ((valid := call("validate", "-", data=data)).exit_code, "-: 3 jobs" in valid.stdout)
    assert 0 == call("convert", "-", tmp_path / "out.swf", "--raw", data=data).exit_code
    written = (tmp_path / "out.swf").read_text().splitlines()[-3:]
    assert [line.split() for line in LOG.splitlines()[1:]] == [line.split() for line in written]
    simulated = call("simulate", "-", data=data)
    assert (0, True) == (simulated.exit_code, "standard input, easy on 8 processors: 3 jobs" in simulated.stdout)


@pytest.mark.parametrize("text", ["", "; Version: 2.2\n\n", "no job\n"], ids=["empty", "comments", "no job"])
@pytest.mark.parametrize("command", [["describe"], ["convert", "out.swf"], ["simulate"], ["augment", "--log"]])
def test_a_log_without_jobs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], text: str
) -> None:
    """Nothing is written of it by any command."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(text)
    name, *rest = command
    root = ["--data-root", "data"] if name == "augment" else []
    result = call(name, *rest[:1] if name == "augment" else (), "log.swf", *(rest if name == "convert" else ()), *root)
    assert 30 == result.exit_code, result.output
    assert not (tmp_path / "out.swf").exists()
    assert not (tmp_path / "data/log").exists()
    if name != "augment":
        assert re.fullmatch(r"error: log.swf: [^\n]+; is this a log in SWF\?\n", result.stderr)


def test_describe_says_units_and_statuses_in_words(carded: Path) -> None:
    """Every figure tells what it counts."""
    output = call("describe", carded, "--raw").stdout
    for line in (
        r"median_run_time +60 s",
        r"mean_width +4\.0 processors",
        r"offered_load +[\d.]+ of capacity",
        r"jobs_by_status \(jobs\):",
        r"  0 failed +1",
        r"  1 completed +2",
    ):
        assert re.search(f"^{line}$", output, re.MULTILINE), line


def test_output_fits_80_columns(carded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a long faulty line, and help."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("SWFTOOLS_CATALOG")
    monkeypatch.chdir(carded.parent)
    carded.write_text(LOG + "this is no job, and it is a long line that says nothing at all " * 3 + "\n")
    outputs = [
        call("validate", carded.name),
        call("simulate", SHIPPED_LOG),
        call("describe", SHIPPED_LOG),
        call("--help"),
    ]
    outputs += [call(command, "--help") for command in main.commands]
    outputs.append(call("run", "SimulatePolicy", "--help"))
    for result in outputs:
        assert not [line for line in result.output.splitlines() if len(line) > 80]


def test_quiet_and_verbose(carded: Path) -> None:
    """Verbose says every step on standard error; the answer is the same."""
    plain, quiet, verbose = (call("describe", carded, *flags) for flags in ((), ("--quiet",), ("--verbose",)))
    assert plain.stdout == quiet.stdout == verbose.stdout
    assert ("", "") == (plain.stderr, quiet.stderr)
    assert re.fullmatch(r"MINE read: 3 jobs, [\d.]+ s\nMINE cleaned: 2 jobs kept, [\d.]+ s\n", verbose.stderr)


def test_a_slurm_log_without_a_header_by_the_errors_own_advice(tmp_path: Path) -> None:
    """What the error says to give makes the log readable, on the console and in Python."""
    rows = "7|u1|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T00:11:00|4\n"
    (tmp_path / "sacct.txt").write_text(rows)
    refused = call("describe", tmp_path / "sacct.txt", "--format", "slurm:time_zone=UTC")
    assert refused.exit_code != 0
    advice = re.search(r"--format (slurm:columns=JobID\+User\+State\+)\.\.\.", refused.output.replace("\n", " "))
    assert advice, refused.output
    columns = advice[1] + "Submit+Start+End+NCPUS"
    found = call("describe", tmp_path / "sacct.txt", "--format", f"{columns},time_zone=UTC")
    assert found.exit_code == 0, found.output
    assert len(read_log(tmp_path / "sacct.txt", f"{columns},time_zone=UTC")) == 1
    assert len(read_log(tmp_path / "sacct.txt", "slurm", columns=columns.partition("=")[2], time_zone="UTC")) == 1


def test_processors_that_nothing_says() -> None:
    """The message has the name in Python and the option of the console, and the option helps."""
    trace = Trace(SwfHeader(), read_log(io.BytesIO(LOG.encode())).jobs.iloc[:0], empty_frame("quarantine"))
    with pytest.raises(ParameterError, match=r"give processors= \(--processors\)"):
        simulate(trace, "fcfs")
    assert len(simulate(trace, "fcfs", processors=4).jobs) == 0


@pytest.mark.parametrize("command", ["describe", "validate"])
def test_what_is_odd_is_said_once(command: str, tmp_path: Path) -> None:
    """By the command itself; other commands say it while they read."""
    text = yaml.safe_load((ROOT / "tests/corpus/pbs/rerun_written_twice.yaml").read_text())["text"]
    (tmp_path / "log.txt").write_text(text)
    odd = "started more than once"
    done = run([*SWFTOOLS, command, "log.txt", "--format", "pbs:time_zone=UTC"], tmp_path)
    assert (done.stdout.count(odd), done.stderr.count(odd)) == (1, 0)
    converted = run([*SWFTOOLS, "convert", "log.txt", "log.csv", "--format", "pbs:time_zone=UTC"], tmp_path)
    assert (converted.stdout.count(odd), converted.stderr.count(odd)) == (0, 1)


def test_nothing_stands_above_an_empty_list(tmp_path: Path) -> None:
    """A log without queues and statuses has no heading for them."""
    (tmp_path / "log.swf").write_text(
        "; MaxProcs: 8\n" + "".join(f"{n} {n} 5 60 4" + " -1" * 13 + "\n" for n in (1, 2))
    )
    lines = run([*SWFTOOLS, "describe", "log.swf"], tmp_path).stdout.splitlines()
    headings = [place for place, line in enumerate(lines) if line.endswith(":")]
    assert headings
    assert all(lines[place + 1].startswith("  ") for place in headings)
    assert any(re.fullmatch(r"median_run_time +60 s", line) for line in lines)
