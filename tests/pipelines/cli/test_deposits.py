# SPDX-License-Identifier: BSD-3-Clause
"""Commands for what leaves the house: cite and export; their words, JSON and statuses."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import FAILED, MISSING_INPUT, WRONG_COMMAND
from pipelines.papers.paper import PAPERS
from pipelines.store.data_root import DataRoot
from tests.pipelines.store.samples import contents, publish

EXCERPT = "SDSC-BLUE-2000-4.2-cln-5000-9999"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A data root with two versions of a small data set, the latter the latest."""
    root = DataRoot.open(tmp_path / "data")
    publish(root, "v1111")
    publish(root, "v2222", rows=4)
    return tmp_path / "data"


def call(*arguments: object, root: Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [*map(str, arguments), "--data-root", str(root)])


def test_a_log_is_cited_with_the_papers_that_use_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also an excerpt, by papers that name the whole log; where nothing is published yet. Of these five, by name."""
    five = {"barsanti2006", "chiang2008", "lee2009", "nurmi2009", "yuan2010"}
    known = {name: paper for name, paper in PAPERS.known.items() if name.partition("-")[0] in five}
    monkeypatch.setattr(PAPERS, "known", known)
    cited = call("cite", EXCERPT, root=tmp_path / "none")
    assert (0, "") == (cited.exit_code, cited.stderr)
    papers = ["@phdthesis{lee2009,", "@phdthesis{nurmi2009,", "@inproceedings{yuan2010,"]
    assert [f"@misc{{{EXCERPT},", "@article{feitelson2014,", *papers] == [
        line for line in cited.stdout.splitlines() if line.startswith("@")
    ]
    assert f"% Licence of {EXCERPT}: none stated\n" in cited.stdout
    assert "  author = {{San Diego Supercomputer Center (SDSC)}},\n" in cited.stdout
    assert 80 >= max(map(len, cited.stdout.splitlines()))
    found = json.loads(call("cite", EXCERPT, "--format", "json", root=tmp_path / "none").stdout)
    assert ("log", None, ["lee2009", "lee2009-beyond", "nurmi2009", "nurmi2009-beyond", "yuan2010"]) == (
        found["kind"],
        found["version"],
        [*found["papers"]],
    )
    assert ["misc", "article"] == [reference["kind"] for reference in found["references"]]
    assert "2967--2982" == found["references"][1]["fields"]["pages"]


def test_a_paper_is_cited_with_its_logs(tmp_path: Path) -> None:
    """In words, within 80 columns."""
    said = call("cite", "yuan2010", "--format", "text", root=tmp_path).stdout
    lines = said.splitlines()
    assert ["paper yuan2010", "to cite"] == lines[:2]
    assert lines[2].startswith("  Y. Yuan, G. Yang, Y. Wu, W. Zheng: PV-EASY")
    assert "Parallel Workloads Archive" in said
    assert "  Licence of SDSC-BLUE-2000-4.2-cln: none stated" in lines
    assert 80 >= max(map(len, lines))


def test_a_version_is_cited(root: Path) -> None:
    """The latest, or the one that is asked for by its beginning."""
    for words, version in ((["sdsc"], "v2222"), (["sdsc", "--version", "v111"], "v1111")):
        found = json.loads(call("cite", *words, "--format", "json", root=root).stdout)
        assert ("data set", version, f"sdsc-{version}") == (
            *(found["kind"], found["version"], found["references"][0]["key"]),
        )
        assert "Zoë 2026" == found["references"][1]["text"]
        assert ["Licence: none stated"] == found["notes"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nurmi209"], "did you mean nurmi2009?"),
        (["sdcs"], "did you mean sdsc?"),
        (["KTH-SP2-1996-2.1"], "did you mean KTH-SP2-1996-2.1-cln?"),
        (["§§§"], "nothing to cite is called '§§§'"),
        (["sdsc", "--version", "zzzz"], "data set 'sdsc' has no version 'zzzz'; it has"),
        (["sdcs", "--version", "latest"], "no data set 'sdcs'; there are sdsc"),
    ],
)
def test_what_is_not_there_is_not_cited(root: Path, words: list[str], said: str) -> None:
    """One line, with what is near."""
    result = call("cite", *words, root=root)
    assert (MISSING_INPUT, "", 1) == (result.exit_code, result.stdout, result.stderr.count("\n"))
    assert said in result.stderr


def test_export_says_what_it_made(root: Path, tmp_path: Path) -> None:
    """As JSON too; a second time the folder is not empty."""
    out = tmp_path / "out"
    made = call("export", "sdsc", "--to", out, root=root)
    files = contents(out)
    size = sum(map(len, files.values()))
    assert (0, f"sdsc v2222: {len(files)} files, {size:,} bytes in") == (made.exit_code, made.stdout.splitlines()[0])
    again = call("export", "sdsc", "--to", out, root=root)
    assert (WRONG_COMMAND, "") == (again.exit_code, again.stdout)
    assert "holds files already; name another folder, or empty it first" in again.stderr
    assert files == contents(out)
    told = json.loads(call("export", "sdsc", "--version", "v1111", "--to", tmp_path / "x", "--json", root=root).stdout)
    assert ("sdsc", "v1111", str(tmp_path / "x")) == (told["data_set"], told["version"], told["path"])
    assert {name: hashlib.sha256(data).hexdigest() for name, data in contents(tmp_path / "x").items()} == {
        name: entry["sha256"] for name, entry in told["files"].items()
    }


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["sdcs", "--to", "out"], MISSING_INPUT, "no data set 'sdcs'; there are sdsc"),
        (["sdsc", "--version", "zzzz", "--to", "out"], MISSING_INPUT, "no version 'zzzz'"),
        (["sdsc"], WRONG_COMMAND, "Missing option '-o' / '--output' / '--to'"),
        (["sdsc", "--to", "none/out"], WRONG_COMMAND, "make it first, or mend the path"),
    ],
)
def test_export_of_what_is_not_there(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], status: int, said: str
) -> None:
    """One line, and nothing is made."""
    monkeypatch.chdir(tmp_path)
    result = call("export", *words, root=root)
    assert (status, "", 1) == (result.exit_code, result.stdout, result.stderr.count("\n"))
    assert said in result.stderr
    assert not (tmp_path / "out").exists()


def test_export_of_a_damaged_version(root: Path, tmp_path: Path) -> None:
    """Fails, and says what to do."""
    (root / "sdsc" / "v2222" / "jobs" / "part-0.parquet").write_bytes(b"x")
    result = call("export", "sdsc", "--to", tmp_path / "out", root=root)
    assert (FAILED, 1) == (result.exit_code, result.stderr.count("\n"))
    assert "its content is not what the manifest says; restore it from a copy" in result.stderr
