# SPDX-License-Identifier: BSD-3-Clause
"""The command that tells two versions apart: its words, its JSON, its exit statuses."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.store.comparison import compare_versions
from pipelines.store.data_root import DataRoot
from pipelines.store.difference_text import difference_lines
from tests.pipelines.luigi_runs import SWFTOOLS, environment, run
from tests.pipelines.store.samples import date, jobs, quarantine
from tests.pipelines.store.test_comparing import RECORD, Row, comparison, publish, waits


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    """Open a data root without anything in it."""
    return DataRoot.open(tmp_path / "data")


def call(root: DataRoot, *arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ["diff", *arguments, "--data-root", root.location])


def told(root: DataRoot, *arguments: str) -> list[str]:
    """Return the lines that the command prints about sdsc; none is longer than the terminal is wide."""
    done = call(root, "sdsc", *arguments)
    assert (0, "") == (done.exit_code, done.stderr)
    lines = done.stdout.splitlines()
    assert [] == [line for line in lines if len(line) > 80 or line != line.rstrip()]
    return lines


def test_what_a_person_sees(root: DataRoot, tmp_path: Path) -> None:
    """How it was made, results with their spread, tables, files: in this order, all of it."""
    a = [*waits("easy", [8.0, 9.0, 10.0]), *waits("fcfs", [20.0] * 3), *waits("sjf", [5.0, 6.0])]
    b = [*waits("easy", [9.0, 9.5, 10.0]), *waits("fcfs", [2500.0] * 3), *waits("lxf", [5.0, 6.0])]
    publish(root, "v1", {"comparison": comparison(a), "jobs": jobs(3)})
    log = {**RECORD["log"], "sha256": "b" * 64, "key": "b" * 64, "bytes": 120_000}
    tables = {"comparison": comparison(b), "jobs": jobs(4), "quarantine": quarantine()}
    long = "acknowledge " * 9
    publish(root, "v2", tables, log=log, seed=7, seeds=[0, 1, 2], licence=long, parameters={"options": {"load": 1.0}})
    date(tmp_path / "data", "v1", "v2")
    root.tag("sdsc", "v1", "paper")
    expected = """\
sdsc
  A  v1  2026-01-01 00:00:00Z  paper
  B  v2  2026-01-02 00:00:00Z  latest
inputs
  log.bytes: 100 -> 120,000
  log.sha256: aaaaaaaaaaaa -> bbbbbbbbbbbb
parameters
  options.load: 0.9 -> 1
  - options.semantics: instant
  - rules: [{"rule": "x"}, {"rule": "y"}]
seeds
  seed: 0 -> 7
  + seeds: [0, 1, 2]
terms
  licence:
    - none stated
    + acknowledge acknowledge acknowledge acknowledge acknowledge acknowledge...
comparison: 2 values differ, 0 do not; ± standard deviation over seeds; * by
    more than chance (p < .05)
  fcfs wait mean                               20 -> 2,500              +2,480 *
  easy wait mean                            9 ± 1 -> 9.5 ± 0.5            +0.5
  only in A, by policy: sjf (1)
  only in B, by policy: lxf (1)
tables
  comparison: 8 rows in both
  jobs: 3 -> 4 rows
    run_time: max 2.5 -> 5; mean 1.25 -> 2.5
    allocated_processors: max 4 -> 8; mean 2.333 -> 3.75
    job_number: max 3 -> 4; mean 2 -> 2.5
    submit_time: max 20 -> 30; mean 10 -> 15"""
    lines = told(root)
    expected_lines = expected.splitlines()
    assert expected_lines == lines[: len(expected_lines)]
    # Columns of nulls alone have moved least; which of them are shown does not matter.
    *moved, rest, added = lines[len(expected_lines) :]
    assert [True, True] == [line.endswith(": nulls 3 -> 4") for line in moved]
    assert ("    ... and 12 columns more moved; --json has all", "  + quarantine: 1 rows") == (rest, added)
    assert lines == told(root, "paper") == told(root, "paper", "v2")


def test_the_defaults_are_the_latest_and_the_one_before(root: DataRoot, tmp_path: Path) -> None:
    """One version is compared with the latest; the order of two is as given."""
    for seed, version in enumerate(("v1", "v2", "v3")):
        publish(root, version, seed=seed)
    date(tmp_path / "data", "v1", "v2", "v3")
    assert "  seed: 1 -> 2" in told(root)
    assert "  seed: 0 -> 2" in told(root, "v1")
    assert "  seed: 2 -> 0" in told(root, "latest", "v1")
    root.promote("sdsc", "v2")
    assert "  seed: 0 -> 1" in told(root)


def test_no_difference_is_one_line(root: DataRoot) -> None:
    """Of a version with itself, and of two that say the same."""
    publish(root, "v1")
    publish(root, "v2")
    assert ["sdsc: no difference, both are v2"] == told(root, "v2")
    assert ["sdsc: no difference but the names: v1 and v2"] == told(root)


def test_one_seed_is_said_to_be_one(root: DataRoot) -> None:
    """There is no spread then; nothing is marked."""
    publish(root, "v1", {"comparison": comparison(waits("easy", [8.0, 9.0]))})
    publish(root, "v2", {"comparison": comparison(waits("easy", [900.0]))})
    text = " ".join(" ".join(told(root)).split())
    assert "1 values differ, 0 do not; ± standard deviation over seeds; one run on a side, so there is no" in text
    assert "easy wait mean 8.5 ± 0.71 -> 900 +891.5 tables" in text


def test_large_spreads_are_whole_numbers_until_they_are_too_long(root: DataRoot) -> None:
    """As means are: up to ten millions, and from there on as powers of ten; below a hundred two digits."""
    a = [*waits("p", [0.0, 14_142_134.0]), *waits("q", [0.0, 14_142_136.0]), *waits("r", [0.0, 141.5])]
    b = [*waits("p", [1.0, 1.0]), *waits("q", [1.0, 1.0]), *waits("r", [1.0, 1.0])]
    publish(root, "v1", {"comparison": comparison(a)})
    publish(root, "v2", {"comparison": comparison(b)})
    text = "\n".join(told(root))
    assert "± 9,999,999 ->" in " ".join(text.split())
    assert "± 1e+07 ->" in " ".join(text.split())
    assert "± 100 ->" in " ".join(text.split())


def test_what_cannot_be_judged_beside_what_can_is_marked(root: DataRoot) -> None:
    """A question mark is not the blank of what is within the spread."""
    publish(root, "v1", {"comparison": comparison([*waits("easy", [8.0, 9.0]), *waits("sjf", [1.0, None])])})
    publish(root, "v2", {"comparison": comparison([*waits("easy", [8.0, 9.5]), *waits("sjf", [2.0, 3.0])])})
    lines = told(root)
    assert any(line.endswith("(p < .05), ? not known") for line in lines)
    (sjf,) = (line for line in lines if line.startswith("  sjf"))
    (easy,) = (line for line in lines if line.startswith("  easy"))
    assert (" ?", "+0.25") == (sjf[-2:], easy[-5:])


def test_many_differences_are_counted_and_the_most_telling_stand_first(root: DataRoot) -> None:
    """The usual measures of all jobs, then what is more than chance; what is not shown is counted."""

    def rows(factor: float) -> list[Row]:
        classes = [
            (f"policy-with-a-rather-long-name-{policy}", str(name), "wait", "mean", seed, factor * name + 0.01 * seed)
            for policy in range(2)
            for name in range(1, 31)
            for seed in range(3)
        ]
        return [*classes, *waits("usual", [5.0 + factor, 6.0 + factor])]

    publish(root, "v1", {"comparison": comparison(rows(1.0))})
    publish(root, "v2", {"comparison": comparison(rows(1.001))}, seeds=list(range(20)), parameters={})
    lines = told(root)
    first = next(number for number, line in enumerate(lines) if line.startswith("comparison"))
    assert lines[first + 2].startswith("  usual wait mean")
    assert "  ... and 41 more, 41 of them by more than chance; --json has all" not in lines
    (rest,) = (line for line in lines if line.startswith("  ... and 41 more, "))
    beyond = int(rest.split()[4])
    found = compare_versions(root, "sdsc", "v1", "v2")["metrics"]["comparison"]["rows"]
    shown = sum(line.endswith(" *") for line in lines)
    assert (61, beyond + shown) == (len(found), sum(row["is_beyond_spread"] is True for row in found))
    assert 0 < beyond + shown < 61


def test_json_is_what_the_store_finds(root: DataRoot) -> None:
    """All of it, and nothing else on standard output."""
    publish(root, "v1", {"comparison": comparison(waits("easy", [8.0, 9.0]))})
    publish(root, "v2", {"comparison": comparison(waits("easy", [8.0, 9.5]))}, citation="Zoë 2026")
    done = call(root, "sdsc", "--json")
    assert (0, "") == (done.exit_code, done.stderr)
    assert compare_versions(root, "sdsc", "v1", "v2") == json.loads(done.stdout)
    assert "Zoë" in done.stdout
    assert {"data_set", "a", "b", "is_different", "facts", "metrics", "tables", "files"} == json.loads(
        done.stdout
    ).keys()
    assert not json.loads(call(root, "sdsc", "v1", "v1", "--json").stdout)["is_different"]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["ctc"], 20, "no data set 'ctc'"),
        (["sdsc"], 20, "no version before 'v1'"),
        (["sdsc", "v9"], 20, "no version 'v9'"),
        (["sdsc", "v1", "paper"], 20, "no version 'paper'"),
        (["sdsc", "../v1"], 2, "version '../v1'"),
        (["sdsc", "v1", "v1", "v1"], 2, "unexpected extra argument"),
        ([], 2, "Missing argument"),
    ],
)
def test_mistakes(root: DataRoot, arguments: list[str], status: int, words: str) -> None:
    """What is not there is 20, and lists what is."""
    publish(root, "v1")
    done = call(root, *arguments)
    assert (status, "", True) == (done.exit_code, done.stdout, words in done.stderr)


def test_damage_is_no_answer(root: DataRoot) -> None:
    """A manifest that cannot be read is 30, also where the version was not named."""
    publish(root, "v1")
    publish(root, "v2")
    Path(root.path("sdsc", "v2"), "manifest.json").write_text("{")
    done = call(root, "sdsc", "v1")
    assert (30, True) == (done.exit_code, "v2/manifest.json: damaged manifest" in done.stderr)


def test_no_luigi_is_loaded(root: DataRoot, tmp_path: Path) -> None:
    """Reading starts no pipeline, nor what only tests of hypotheses need."""
    publish(root, "v1", {"comparison": comparison(waits("easy", [8.0, 9.0]))})
    publish(root, "v2", {"comparison": comparison(waits("easy", [8.0, 9.5]))})
    code = f"""
import sys
from pipelines.cli.main import main
try:
    main(["diff", "sdsc", "--data-root", {root.location!r}])
except SystemExit as end:
    assert not end.code
print([name for name in ("luigi", "numba", "boto3", "scipy.stats") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True
    )
    assert "[]" == done.stdout.splitlines()[-1]


def scrambled(value: Any, dice: random.Random) -> Any:
    """Return facts in which much was changed, removed and added."""
    if isinstance(value, Mapping):
        kept = {name: scrambled(part, dice) for name, part in value.items() if dice.random() < 0.8}
        return kept | ({f"new {'x' * dice.randrange(90)}": dice.random()} if dice.random() < 0.3 else {})
    if isinstance(value, list):
        return [scrambled(part, dice) for part in value if dice.random() < 0.8]
    return dice.choice([value, None, True, 10 ** dice.randrange(30), -1e-300, "wörd " * dice.randrange(40), "a" * 200])


def test_whatever_differs_is_told_within_80_columns(root: DataRoot) -> None:
    """Long names, long texts, large numbers and nothing at all: a line for each, none too long."""
    facts = {name: value for name, value in RECORD.items() if name != "licence"}
    dice = random.Random(1)
    for round_ in range(10):
        a, b = f"a{round_}", f"b{round_}" + "x" * dice.randrange(100)
        for version in (a, b):
            record = {"nested": scrambled(facts, dice), **{f"key{n}": scrambled(facts, dice) for n in range(3)}}
            values = [dice.choice([None, 0.0, 1e30, -1e-30, 1234567.891]) for _ in range(3)]
            name = "p" * dice.randrange(1, 90)
            rows = [*waits(name, values), *waits("same", values), *waits("same", values, name="long class " * 9)]
            tables = {"comparison": comparison(rows), "jobs": jobs(dice.randrange(1, 9))}
            root.publish("sdsc", version, tables, manifest=record)
        lines = list(difference_lines(compare_versions(root, "sdsc", a, b)))
        assert [] == [line for line in lines if len(line) > 80]
        assert len(lines) > 5


def test_real_versions_in_a_process_of_its_own(tmp_path: Path) -> None:
    """What augment published twice, with another seed: the parameters, the columns that moved, the files."""
    (tmp_path / "mine.swf").write_text(
        "; MaxProcs: 8\n" + "".join(f"{n} {60 * n} 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n" for n in range(1, 6))
    )
    for seed in ("1", "2"):
        flags = ["--log", "mine.swf", "--augment", "utility", "--seed", seed, "--quiet"]
        done = run([*SWFTOOLS, "augment", *flags], tmp_path)
        assert (0, "") == (done.returncode, done.stderr)
    done = run([*SWFTOOLS, "diff", "mine"], tmp_path)
    assert (0, "") == (done.returncode, done.stderr)
    lines = done.stdout.splitlines()
    assert ["  utility.seed: 1 -> 2", "seeds", "  seed: 1 -> 2", "tables"] == lines[4:8]
    assert "  jobs: 5 rows in both" in lines
    assert "files: 1 changed (mine.swf.gz)" == lines[-1]
