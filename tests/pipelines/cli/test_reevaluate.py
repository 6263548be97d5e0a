# SPDX-License-Identifier: BSD-3-Clause
"""The command reevaluate, as a timer runs it: what it says, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.history.known_state import find_state
from pipelines.history.task import ReevaluateLogs
from tests.pipelines.history.nights import Site, days, job
from tests.pipelines.luigi_runs import LUIGI, SWFTOOLS, run


def call(site: Site, *words: str) -> Result:
    """Run a night by the console."""
    ReevaluateLogs.clear_instance_cache()
    chosen = ["--inbox", str(site.inbox), "--history", site.name, "--data-root", site.root]
    return CliRunner().invoke(main, ["reevaluate", "--quiet", *chosen, "--settings", str(site.settings), *words])


def test_a_night_without_findings_is_0(tmp_path: Path) -> None:
    """What came is said on standard output; nothing on standard error; the second run is complete."""
    site = Site(tmp_path)
    site.put("a.swf", "".join(days(3)))
    result = call(site)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "1 file taken: 36 new jobs, 0 merged, 0 lines quarantined" in result.stdout
    assert f"{site.version()}/summary.md" in result.stdout
    again = call(site)
    assert (again.exit_code, again.stderr) == (0, "")
    assert "already complete: the inbox has nothing new" in again.stdout


@pytest.mark.slow
def test_unreadable_file_is_4(tmp_path: Path) -> None:
    """The others are published; the file is named until it goes."""
    site = Site(tmp_path)
    site.put("a.swf", "".join(days(3)))
    site.put("b.txt", b"nothing\n")
    for _ in range(2):
        result = call(site)
        assert result.exit_code == 4
        assert result.stderr.startswith("unreadable: b.txt: it looks like none of the known formats")
        assert len(result.stderr.splitlines()) == 1
    assert len(pd.read_parquet(site.version() / "jobs")) == 36
    (site.inbox / "b.txt").unlink()
    assert call(site).exit_code == 0


@pytest.mark.slow
def test_finding_is_3_until_it_is_gone(tmp_path: Path) -> None:
    """A line of junk among few jobs leaves the tolerance of cleaning; a wider one does not."""
    site = Site(tmp_path)
    site.put("a.swf", days(1)[0] + "junk\n" * 6)
    for _ in range(2):
        result = call(site)
        assert result.exit_code == 3
        assert result.stderr == "finding: file: a.swf: 33.3 % of 18 lines are no records, more than 5.0 %\n"
    site.settings.write_text("cleaning: {most_quarantined: 0.4}\n")
    assert call(site).exit_code == 0


def test_what_cleaning_removed_is_told_beside_what_reading_did(tmp_path: Path) -> None:
    """A night that quarantined no line may yet have lost jobs to the rules."""
    site = Site(tmp_path)
    text = days(1)[0]
    wide = "".join(job(number, 86_000).replace(" 4 -1 -1 4 ", " 99 -1 -1 99 ") for number in (90, 91))
    site.put("a.swf", text + wide)
    said = call(site).stdout
    assert (
        "14 new jobs, 0 merged, 0 lines quarantined by reading; of all jobs of the history cleaning removed 2" in said
    )
    site.put("b.swf", days(1, first=1)[0])
    assert "12 new jobs, 0 merged, 0 lines quarantined by reading; of all jobs" in (said := call(site).stdout)
    assert "cleaning removed 2\n" in said


def test_the_page_says_what_its_table_of_waits_means(tmp_path: Path) -> None:
    """What coverage is to be compared with, what tightness is; of a log without waits, that there are none."""
    site = Site(tmp_path)
    site.put("a.swf", "".join(days(20)))
    call(site)
    page = (site.version() / "summary.md").read_text()
    assert "A bound that is right covers 0.95 of the waits" in page
    assert "Tightness is how many times the wait the bounds were" in page
    (tmp_path / "none").mkdir()
    none = Site(tmp_path / "none")
    none.put("a.swf", "".join(job(n, n * 600, wait=-1) for n in range(1, 40)))
    call(none)
    page = (none.version() / "summary.md").read_text()
    assert "## Waits: how often bounds were right\n\nNothing to compare: no job" in page
    assert "| method |" not in page


def test_unreadable_comes_before_findings_and_json(tmp_path: Path) -> None:
    """Both are told; the status is that of what could not be read. Everything is in one document, for machines."""
    site = Site(tmp_path)
    site.put("a.swf", days(1)[0] + "junk\n" * 6)
    site.put("b.swf", b"")
    result = call(site, "--json")
    assert result.exit_code == 4
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["empty", "finding"]
    told = json.loads(result.stdout)
    assert told["exit_status"] == 4
    assert told["is_new"] is True
    assert told["path"] == str(site.version())
    assert [(row["file"], row["new"], row["quarantined"]) for row in told["ingested"]] == [("a.swf", 12, 6)]
    assert told["waiting"] == [
        {"file": "b.swf", "sha256": told["waiting"][0]["sha256"], "outcome": "empty", "reason": "it is empty"}
    ]
    assert [(each["kind"], each["limit"]) for each in told["findings"]] == [("file", 0.05)]
    again = json.loads(call(site, "--json").stdout)
    assert (again["is_new"], again["ingested"], again["exit_status"]) == (False, [], 4)


@pytest.mark.slow
def test_command_on_finding(tmp_path: Path) -> None:
    """It gets the findings once, when they are new; its failure is told."""
    site = Site(tmp_path)
    site.settings.write_text(f"on_finding: cat >> {tmp_path}/told.json\n")
    site.put("a.swf", days(1)[0] + "junk\n" * 6)
    assert call(site).exit_code == 3
    assert call(site).exit_code == 3
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["findings"][0]["kind"] == "file"
    site.settings.write_text("on_finding: exit 7\n")
    site.put("b.swf", days(1, first=1)[0])
    result = call(site)
    assert result.exit_code == 30
    assert "error: on_finding ended with status 7: exit 7" in result.stderr


def test_nothing_has_come(tmp_path: Path) -> None:
    """An inbox without jobs makes no version; it is no mistake."""
    site = Site(tmp_path)
    result = call(site)
    assert result.exit_code == 0
    assert "no job has come yet; nothing was published" in result.stdout
    assert site.store.data_sets() == []


WRONG = [
    ("history: [1]\n", "line 1: history: should be a valid string, not [1]"),
    ("waits:\n  method: [binomial]\n", "line 2: waits > method: unknown key; did you mean methods?"),
    ("waits:\n  methods: [binomal]\n", "line 2: waits > methods: no method 'binomal'"),
    ("waits:\n  options: {quantile: 2}\n", "line 2: waits > options: "),
    ("waits:\n  by: qeue\n", "line 2: waits > by: by='qeue': 'qeue' is not a group of jobs"),
    ("keep: -1\n", "line 1: keep: should be greater than or equal to 0, not -1"),
    ("policies:\n  days: 30\n  names: [esay]\n", "line 3: policies > names: no policy 'esay'"),
    ("cleaning: {rules: [tidy]}\n", "line 1: cleaning > rules: no cleaning rule 'tidy'"),
    ("log: {card: SDSC}\n", "line 1: log > card: no log 'SDSC' in the catalogue"),
    ("log:\n  format: slrm\n", "line 2: log > format: no log format 'slrm'"),
    ("augment: {tea: {}}\n", "no augmentation 'tea'"),
    ("augment: {utility: {globmax: -1}}\n", "globmax"),
    ("augment: {arrivals: {}}\n", "Old jobs of a history must not change when new ones come"),
    ("log: {anonymise: numbers}\n", "use hash, with a key in SWFTOOLS_ANONYMISE_KEY"),
    ("a: 1\nb: [\n", "line 3: not readable as YAML"),
    ("- 1\n", "it must be a mapping"),
]
"""Settings that are wrong, and what is said."""


@pytest.mark.parametrize(("settings", "said"), WRONG, ids=[text.replace("\n", " ") for text, _ in WRONG])
def test_wrong_settings(tmp_path: Path, settings: str, said: str) -> None:
    """One line with the place, before anything is done."""
    site = Site(tmp_path, settings)
    site.put("a.swf", days(1)[0])
    result = call(site)
    assert said in result.stderr, result.stderr
    assert result.exit_code in (2, 30)
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "data").exists() or site.store.data_sets() == []


def test_several_problems_are_told_at_once(tmp_path: Path) -> None:
    """Each with its line."""
    site = Site(tmp_path, "keep: -1\nwaits:\n  chance: 2\n")
    result = call(site)
    assert "2 problems\n  line 1: keep: " in result.stderr
    assert "\n  line 3: waits > chance: " in result.stderr


def test_check(tmp_path: Path) -> None:
    """Settings are shown whole, with defaults, and nothing is done."""
    site = Site(tmp_path)
    result = call(site, "--check")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["waits"]["methods"] == ["binomial"]
    assert not (tmp_path / "data").exists()


def test_data_set_of_another_kind(tmp_path: Path) -> None:
    """A data set that is no history is not touched."""
    site = Site(tmp_path, name="site")
    path = site.put("a.swf", days(2)[0])
    done = run([*SWFTOOLS, "augment", "--log", str(path), "--data-set", "site", "--data-root", site.root], tmp_path)
    assert done.returncode == 0, done.stderr
    result = call(site)
    assert "is not a history: it was made by BuildAugmentedTrace" in result.stderr
    assert result.exit_code == 30


@pytest.mark.slow
def test_luigis_own_command(tmp_path: Path) -> None:
    """It publishes the same version, and knows nothing of findings."""
    site = Site(tmp_path)
    site.put("a.swf", "".join(days(3)) + "junk\n" * 9)
    chosen = [
        "--inbox",
        str(site.inbox),
        "--history",
        "site",
        "--settings",
        str(site.settings),
        "--data-root",
        site.root,
    ]
    done = run([*LUIGI, "ReevaluateLogs", *chosen], tmp_path)
    assert done.returncode == 0, done.stderr
    before = site.hashes()
    assert call(site).exit_code == 3
    assert site.hashes() == before


def test_a_history_is_asked_of_waits(tmp_path: Path) -> None:
    """By its name, and by the names of its queues; and who is not there is told."""
    site = Site(tmp_path, "log: {processors: 64, format: 'slurm:time_zone=UTC'}\nwaits: {options: {training: 5}}\n")
    head = "JobID|User|Partition|State|Submit|Start|End|NCPUS|TimelimitRaw\n"
    lines = [
        f"{n}|u{n % 3}|normal|COMPLETED|2024-01-{1 + n // 24:02d}T{n % 24:02d}:00:00|"
        f"2024-01-{1 + n // 24:02d}T{n % 24:02d}:10:00|2024-01-{1 + n // 24:02d}T{n % 24:02d}:30:00|4|60\n"
        for n in range(200)
    ]
    site.put("a.txt", (head + "".join(lines)).encode())
    assert call(site).exit_code in (0, 3)
    asked = ["predict", "--history", "site", "--data-root", site.root, "--requested-time", "1h"]
    result = CliRunner().invoke(main, [*asked, "--queue", "normal", "--deadline", "10m", "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert {bound["seconds"] for bound in told["bounds"]} == {600.0}
    assert find_state(str(site.root), "site")[1] == {"queue": {1: "normal"}}
    failed = CliRunner().invoke(main, [*asked, "--queue", "nrmal"])
    assert (2, True) == (failed.exit_code, "there are: normal; did you mean normal?" in failed.stderr), failed.stderr
    root = ["--data-root", str(site.root)]
    by_name = CliRunner().invoke(main, ["predict", *root, "--queue", "normal", "--requested-time", "4:00"])
    by_number = CliRunner().invoke(main, ["predict", *root, "--queue", "1", "--requested-time", "4m"])
    assert by_name.stdout == by_number.stdout
    assert by_name.stdout.startswith("understood: history site, requested 4 min\njobs of queue normal")
    summary = (Path(site.root) / "site" / "current" / "summary.md").read_text()
    assert "| binomial | normal |" in " ".join(summary.split())
    assert CliRunner().invoke(main, [*asked[:2], "sit", *asked[3:], "--queue", "1"]).exit_code == 20
    assert CliRunner().invoke(main, [*asked, "--queue", "1", "--method", "weibull"]).exit_code == 2
    nowhere = ["--data-root", str(tmp_path / "nowhere")]
    assert CliRunner().invoke(main, ["predict", *nowhere, "--queue", "1"]).exit_code == 20


def test_versions_are_kept_and_tagged(tmp_path: Path) -> None:
    """`keep` leaves the newest, and those with a tag."""
    site = Site(tmp_path)
    site.settings.write_text("keep: 1\n")
    made = []
    for number, text in enumerate(days(3)):
        site.put(f"{number}.swf", text)
        assert call(site).exit_code in (0, 3)
        made.append(str(site.store.latest("site")))
        if number == 0:
            site.store.tag("site", made[0], "paper")
    assert {version.version for version in site.store.versions("site")} == {made[0], made[2]}
    assert site.store.verify("site") == []


def test_missing_inbox_is_20(tmp_path: Path) -> None:
    """With the remedy."""
    site = Site(tmp_path)
    site.inbox.rmdir()
    result = call(site)
    assert result.exit_code == 20
    assert "is not a folder; make it, or give another by --inbox" in result.stderr
