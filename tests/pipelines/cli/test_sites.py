# SPDX-License-Identifier: BSD-3-Clause
"""The command sites: what it prints and writes, its file, and what is refused with the line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.cli.sites_file import PartSettings, read_sites, requests_of, sites_of
from swftools.errors import ParameterError
from swftools.reservations import Site, simulate_sites
from tests.folders import ROOT
from tests.reservations.test_varq import busy_log

FILE = """\
sites:
  a: {log: "lublin-feitelson:jobs=500,processors=64,load=0.7,seed=1", by: all, training: 60}
  b:
    log: "lublin-feitelson:jobs=500,processors=32,load=0.5,seed=2"
    policy: easy:reservations=2
    by: all
    training: 60
probability: 0.4
requests:
  first: 2d
  every: 5h
  ahead: 6h
  parts:
    - {processors: 8, requested_time: 1h, run_time: 30m}
    - {processors: 4, requested_time: 7200}
"""


def asked(folder: Path, text: str, *arguments: str) -> Result:
    """Return what the command says of a file."""
    (folder / "sites.yaml").write_text(text, encoding="utf-8")
    return CliRunner().invoke(main, ["sites", str(folder / "sites.yaml"), *arguments])


def said(result: Result) -> str:
    """Return all that was said."""
    return " ".join((result.stderr + result.stdout + str(result.exception or "")).split())


def test_as_the_function(tmp_path: Path) -> None:
    """The same outcome; tables are written, and lines fit."""
    paths = [str(tmp_path / name) for name in ("asked.csv", "copies.parquet")]
    result = asked(tmp_path, FILE, "--json", "-o", paths[0], "--copies", paths[1])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    settings = read_sites(str(tmp_path / "sites.yaml"))
    from pipelines.logs import load_log  # noqa: PLC0415 (as the command does)

    sites = sites_of(settings, lambda log, _: load_log(log).trace)
    assert [(site.name, site.policy, site.options) for site in sites] == [
        ("a", "easy", {}),
        ("b", "easy", {"reservations": 2}),
    ]
    requests = requests_of(settings, sites)
    end = min(site.trace.jobs["submit_time"].max() for site in sites)
    asked_at = [time for time in (172_800 + 18_000 * number for number in range(settings.requests.most)) if time <= end]
    assert requests["ask_time"].tolist() == [time for time in asked_at for _part in range(2)]
    assert requests["request"].tolist() == [number for number in range(len(asked_at)) for _part in range(2)]
    assert (requests["start_by"] - requests["ask_time"]).unique().tolist() == [21_600]
    assert requests[["processors", "requested_time", "run_time"]].drop_duplicates().to_numpy().tolist() == [
        [8, 3600, 1800],
        [4, 7200, 7200],
    ]
    found = simulate_sites(sites, requests, probability=0.4)
    assert told["measures"] == pytest.approx(found.measures())
    assert told["measures"]["accepted"] > 5
    assert told["written"] == paths
    assert told["sites"]["b"]["processors"] == 32
    kept = found.copies[found.copies["is_kept"]]["site"].value_counts().to_dict()
    assert {name: site["kept"] for name, site in told["sites"].items()} == kept
    assert len(pd.read_csv(paths[0])) == told["measures"]["asked"]
    assert len(pd.read_parquet(paths[1])) == told["measures"]["copies"]
    text = asked(tmp_path, FILE, "--seed", "0")
    assert all(len(line) <= 80 for line in text.stdout.splitlines())
    assert "b: 32 processors" in text.stdout
    assert f"{'accepted':<38}" in text.stdout


def test_the_requests_of_a_file(tmp_path: Path) -> None:
    """Every so long from the first on, until the shortest log ends; what is not said of run times is what is asked."""
    (tmp_path / "sites.yaml").write_text(FILE, encoding="utf-8")
    settings = read_sites(str(tmp_path / "sites.yaml"))
    log = busy_log(300)

    sites = [Site("long", busy_log(500)), Site("short", log)]
    table = requests_of(settings, sites)
    asks = table["ask_time"].unique()
    assert asks[:3].tolist() == [172_800.0, 190_800.0, 208_800.0]
    end = log.jobs["submit_time"].max()
    assert end - 18_000 < asks[-1] <= end
    assert (table["start_by"] - table["ask_time"] == 21_600).all()
    assert table[["processors", "requested_time", "run_time"]].values.tolist()[:2] == [
        [8.0, 3600.0, 1800.0],
        [4.0, 7200.0, 7200.0],
    ]
    assert settings.requests.parts[0] == PartSettings(processors=8, requested_time=3600, run_time=1800)


def test_requests_of_a_table(tmp_path: Path) -> None:
    """CSV beside the file; races need no start."""
    table = "request,ask_time,processors,requested_time,run_time\nx,200000,8,3600,60\ny,300000,8,3600,60\n"
    (tmp_path / "mine.csv").write_text(table, encoding="utf-8")
    text = FILE[: FILE.index("probability")] + "mode: race\nrequests: {file: mine.csv}\n"
    told = json.loads(asked(tmp_path, text, "--json").stdout)
    assert (told["mode"], told["measures"]["asked"], told["measures"]["copies"]) == ("race", 2, 4)
    (tmp_path / "mine.csv").write_text(table.replace("300000", "soon"), encoding="utf-8")
    assert "mine.csv: requests, row 1: ask_time=soon is outside its domain" in said(asked(tmp_path, text))
    reserving = text.replace("mode: race", "mode: reserve")
    assert "mine.csv: requests lack the columns start_by" in said(asked(tmp_path, reserving))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("every: 5h", "evry: 5h", "line 11: requests > evry: unknown key; did you mean every?"),
        ("every: 5h", "every: 5 hours", "line 11: requests > every: '5 hours' is no time such as 90"),
        ("every: 5h", "every: true", "line 11: requests > every"),
        ("every: 5h", "every: 0", "line 11: requests > every"),
        ("processors: 8,", "processors: 0,", "requests > parts > 0 > processors"),
        ("processors: 8,", "processors: 8.5,", "requests > parts > 0 > processors"),
        ("probability: 0.4", "probability: 1", "line 8: probability"),
        ("probability: 0.4", "probability: 0", "line 8: probability"),
        ("probability: 0.4", "mode: raise", "line 8: mode"),
        ("probability: 0.4", "clock: date", "its log does not say when it begins"),
        ("first: 2d", "first: 9000d", "asked at 777,600,000 s (9,000 d), and the shortest log ends at"),
        ("  parts:", "  most: 5\nmore:", "unknown key"),
        ("first: 2d", "file: mine.csv", "give either a file, or the parts"),
        ("run_time: 30m", "run_time: 2h", "runs longer than it requests"),
        ("policy: ", "polisy: ", "unknown key; did you mean policy?"),
        ("easy:reservations", "eazy:reservations", "eazy"),
        ("training: 60}", "waits: gradient-boosting}", "cannot be asked about any percentile"),
        ("  b:", "  a:", "line 3: not readable as YAML: found duplicate key"),
        ("seed=1", "seed=one", "seed"),
    ],
)
def test_what_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    """Status 2, with the line where there is one; a name twice too."""
    assert old in FILE
    result = asked(tmp_path, FILE.replace(old, new, 1))
    assert result.exit_code == 2
    assert words in said(result)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it must be a mapping with sites and requests"),
        ("- a", "it must be a mapping"),
        ("sites: {}\nrequests: {file: a.csv}", "name at least one"),
        ("sites: [", "sites.yaml"),
        (FILE[: FILE.index("requests")] + "requests: {every: 5h}", "give either a file, or the parts"),
        ("requests: {file: a.csv}", "sites"),
        ("sites: {a: {log: nothing.swf}}\nrequests: {file: a.csv}", "nothing.swf"),
        (FILE[: FILE.index("requests")] + "requests: {file: none.csv}", "none.csv: not readable as a table"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, words: str) -> None:
    """One clear error each."""
    result = asked(tmp_path, text)
    assert result.exit_code != 0
    assert words in said(result)


def test_no_file_and_no_place_to_write(tmp_path: Path) -> None:
    """Before any work."""
    with pytest.raises(ParameterError, match="give the path of a YAML file"):
        read_sites(str(tmp_path / "none.yaml"))
    result = asked(tmp_path, FILE, "--output", str(tmp_path / "asked.txt"))
    assert result.exit_code == 2
    assert "the suffix names no format" in said(result)


def test_no_site_fits(tmp_path: Path) -> None:
    """It is told how many requests fit nowhere."""
    result: Any = asked(tmp_path, FILE.replace("processors: 8,", "processors: 65,"))
    assert result.exit_code == 0
    assert "denied: no-site-fits" in result.stdout


def test_the_example_is_read() -> None:
    """That of the documentation."""
    settings = read_sites(str(ROOT / "examples/sites/two.yaml"))
    assert list(settings.sites) == ["blue", "model"]
