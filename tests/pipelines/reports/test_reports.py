# SPDX-License-Identifier: BSD-3-Clause
"""Reports of versions of each kind: one file that asks for nothing, says what it shows, and obeys no log."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.history.known_state import find_state
from pipelines.reports import Version, report_page
from pipelines.reports import history as history_report
from pipelines.reports.report import parts_of
from pipelines.store.data_root import DataRoot
from swftools.errors import ParameterError
from swftools.qbets.saved_state import read_state
from tests.pipelines.history.nights import SETTINGS, days
from tests.pipelines.luigi_runs import SWFTOOLS, run

EVIL = "<script>alert(1)</script>\u202e$x^2$"
"""What a queue is called."""

FOREIGN = "\u05ea\u05d5\u05e8 \u65e5\u591c"
"""What another one is called: Hebrew, and a script that few fonts have."""


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.words.append(data)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with a trace, a comparison and an evaluation of waits, of a log with a hostile queue."""
    folder = tmp_path_factory.mktemp("reports")
    header = (
        f"; Computer: {EVIL}\n; UnixStartTime: 946684800\n; MaxProcs: 64\n; Queue: 1 {EVIL}\n; Queue: 0 {FOREIGN}\n"
    )
    (folder / "mine.swf").write_text(header + "".join(days(6)) + "no job\n")
    for command in (
        ["augment", "--augment", "utility"],
        ["compare", "--policies", "fcfs,easy", "--seeds", "0,1", "--schedules"],
        ["evaluate", "--methods", "binomial,lognormal", "--options", "training=5"],
    ):
        done = run([*SWFTOOLS, command[0], "--log", "mine.swf", *command[1:], "--quiet"], folder)
        assert (0, "") == (done.returncode, done.stderr)
    (folder / "inbox").mkdir()
    (folder / "settings.yaml").write_text(SETTINGS)
    for night in (1, 2):
        (folder / "inbox" / f"{night}.swf").write_text(header + "".join(days(6)[(night - 1) * 3 : night * 3]))
        where = ["--inbox", "inbox", "--history", "nights", "--settings", "settings.yaml"]
        done = run([*SWFTOOLS, "reevaluate", *where, "--quiet"], folder)
        assert done.returncode in (0, 3), done.stderr
    return folder / "data"


def version(root: Path, data_set: str) -> Version:
    """Return the latest version of a data set."""
    opened = DataRoot.open(root)
    return Version(opened, opened.manifest(data_set))


@cache
def text_of(root: Path, data_set: str) -> str:
    """Return the report on the latest version of a data set."""
    return report_page(version(root, data_set))


KINDS = {
    "mine": ["What became of the lines", "In figures", "When jobs come", "How long they waited"],
    "mine-policies": ["What was compared", "The schedules", "By policy"],
    "mine-schedules": ["What was assumed", "In figures", "The machine over time", "How long jobs waited"],
    "mine-waits": ["All jobs", "By queue", "By month"],
    "nights": ["What to look at", "The last nights", "What has arrived", "How often bounds of waits were right"],
}
"""Data sets, and headings of their reports."""


@pytest.mark.parametrize("data_set", KINDS)
def test_what_a_report_has(root: Path, data_set: str) -> None:
    """Headings, the terms, pictures with words."""
    text = text_of(root, data_set)
    page = Page(text)
    for heading in ("How it was made", *KINDS[data_set]):
        assert f"<h2>{heading}</h2>" in text
    assert f"data set <code>{data_set}</code>" in text
    figures = [attributes for tag, attributes in page.tags if tag == "figure"]
    assert len(figures) == sum(tag == "svg" for tag, _ in page.tags)
    assert figures
    for figure in figures:
        assert figure["role"] == "img"
        assert figure["aria-label"] in "".join(page.words)
    assert len(text.encode()) < 1_000_000


@pytest.mark.parametrize(
    "data_set", [name if name == "mine-waits" else pytest.param(name, marks=pytest.mark.slow) for name in KINDS]
)
def test_equal_versions_give_equal_pages(root: Path, data_set: str) -> None:
    """Byte for byte; the command says so of the trace, and who compares policies of their report."""
    assert text_of(root, data_set) == report_page(version(root, data_set))


@pytest.mark.parametrize("data_set", KINDS)
def test_it_asks_for_nothing_and_obeys_nothing(root: Path, data_set: str) -> None:
    """No address is loaded, no text of the log becomes an element, none turns round what follows."""
    text = text_of(root, data_set)
    page = Page(text)
    assert [tag for tag, _ in page.tags if tag in ("img", "iframe", "link", "object", "embed")] == []
    scripts = [attributes.get("type") for tag, attributes in page.tags if tag == "script"]
    assert scripts.count(None) == 1
    assert {*scripts} <= {None, "application/json"}
    for _, attributes in page.tags:
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:image/png;base64,"))
        assert not [name for name in attributes if name.startswith("on")]
    assert not re.search(r"url\((?!#)", text)
    assert "\u202e" not in text
    assert (FOREIGN in text) == (data_set in ("mine", "mine-waits"))
    assert "alert(1)</script>" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_names_of_parts_are_those_of_one_picture(root: Path) -> None:
    """Or one picture would take its clips from another."""
    ids = [attributes["id"] for tag, attributes in Page(text_of(root, "mine")).tags if "id" in attributes]
    twice = {each for each in ids if ids.count(each) > 1}
    assert twice == set()


def test_the_balance_is_told(root: Path) -> None:
    """Every line is accounted for."""
    text = text_of(root, "mine")
    account = version(root, "mine").manifest["account"]
    kept, read = account["jobs_kept"], account["job_lines_read"]
    assert (
        f"{read:,} job lines were read: {kept:,} jobs were kept, {read - kept:,} were quarantined, and 0 lines" in text
    )


def test_how_to_cite_it(root: Path) -> None:
    """As BibTeX, of which nothing is markup."""
    text = text_of(root, "mine")
    assert "<h2>BibTeX</h2>" in text
    assert "@misc{mine" in text


def test_what_came_since_the_night_before(root: Path) -> None:
    """Of two nights of three days each with twelve jobs a day; the first night has none before it."""
    newest, oldest = DataRoot.open(root).versions("nights")
    assert f"<p>72 jobs of 2 files.</p>\n<p>+36 jobs since version {oldest.version}.</p>" in text_of(root, "nights")
    first = Version(DataRoot.open(root), DataRoot.open(root).manifest("nights", oldest.version))
    assert "jobs since version" not in report_page(first)
    assert f"<p>-36 jobs since version {newest.version}.</p>" in report_page(first, version(root, "nights"))


def test_states_of_a_history_hold_no_names(root: Path) -> None:
    """They are in its manifest, so a state is the same whatever a header calls its queues."""
    path, names = find_state(str(root), "nights")
    assert read_state(path).names == {}
    assert names == {"queue": {0: FOREIGN, 1: EVIL}}
    asked = ["--history", "nights", "--data-root", str(root), "--requested-time", "1h"]
    by_name, by_number = (call("predict", *asked, "--queue", queue) for queue in (EVIL, "1"))
    assert (by_name.exit_code, by_name.stdout) == (by_number.exit_code, by_number.stdout)
    assert by_name.exit_code in (0, 1), by_name.output


def test_what_is_refused(root: Path) -> None:
    """Versions of two kinds."""
    with pytest.raises(ParameterError, match=r"is of another kind \(comparison\) than .* \(jobs\)"):
        parts_of(version(root, "mine"), version(root, "mine-policies"))
    with pytest.raises(ParameterError, match="no report on versions whose main table is others; there are reports on"):
        parts_of(Version(DataRoot.open(root), {**version(root, "mine").manifest, "main_table": "others"}))


def call(*arguments: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, list(arguments))


def test_the_command(root: Path, tmp_path: Path) -> None:
    """By name or path, beside another; the file says whose it is. Unknown names and wrong suffixes are told."""
    made = call(
        "report", "mine", "--data-root", str(root), "--output", str(tmp_path / "r.html"), "--compare", "mine/latest"
    )
    assert made.exit_code == 0, made.output
    assert re.fullmatch(r"data set mine, version \w+\nreport: \S+r\.html \(\d+ kB\)\n", made.stdout)
    text = (tmp_path / "r.html").read_text()
    assert "<td" in text
    assert f"beside version\n<code>{version(root, 'mine').version}</code>" in text
    by_path = call("report", str(root / "mine"), "--output", str(tmp_path / "p.html"))
    assert by_path.exit_code == 0, by_path.output
    assert (tmp_path / "p.html").read_text() == text_of(root, "mine")
    wrong = call("report", "mine", "--data-root", str(root), "--output", str(tmp_path / "r.pdf"))
    assert (wrong.exit_code, "use .html, .htm" in wrong.output) == (2, True)
    unknown = call("report", "mne", "--data-root", str(root))
    assert unknown.exit_code == 20
    assert "mine" in unknown.stderr


def test_pictures_on_the_console(root: Path, tmp_path: Path) -> None:
    """Of a log; what there is is listed; equal pictures are equal files."""
    log = str(root.parent / "mine.swf")
    for name in ("a.svg", "b.svg"):
        made = call("plot", log, "--picture", "arrivals:by=weekday", "-o", str(tmp_path / name))
        assert made.exit_code == 0, made.output
        assert made.stdout.startswith("Arrivals: most jobs are submitted on ")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    first = call("plot", log, "-o", str(tmp_path / "first.svg"))
    assert first.stdout.startswith("Overview: Arrivals: ")
    several = call("plot", log, "--policy", "fcfs,easy", "-o", str(tmp_path / "several.svg"))
    assert re.sub(r"\s+", " ", several.stdout).count("did not wait") == 3
    for name in ("first.svg", "several.svg"):
        assert "<svg" in (tmp_path / name).read_text()
    typo = call("plot", log, "--picture", "arival", "-o", str(tmp_path / "c.svg"))
    assert typo.exit_code != 0
    assert "did you mean arrivals" in typo.output
    assert not (tmp_path / "c.svg").exists()


def test_pictures_are_listed_and_nothing_is_ignored(tmp_path: Path) -> None:
    """The list needs no log and takes nothing else; a log that is not there is an error."""
    listed = call("plot", "--list")
    assert listed.exit_code == 0
    assert {"arrivals", "gantt", "overview", "differences"} <= set(listed.stdout.split())
    for words in (["some.swf"], ["--picture", "load"], ["--policy", "easy"], ["-o", "x.svg"]):
        refused = call("plot", "--list", *words)
        assert (refused.exit_code, "--list lists all pictures" in refused.stderr) == (2, True)
    assert call("plot").exit_code == 2
    missing = call("plot", str(tmp_path / "none.swf"), "-o", str(tmp_path / "x.svg"))
    assert (missing.exit_code, "is neither a file nor a card" in missing.stderr) == (20, True)
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.parametrize(
    ("findings", "said"), [([], ["Nothing to report."]), ([{"message": "drift: x"}], ["drift: x"])], ids=["none", "one"]
)
def test_a_night_says_what_to_look_at(findings: list[dict[str, str]], said: list[str]) -> None:
    """Or that there is nothing."""
    first = next(history_report._findings(SimpleNamespace(manifest={"findings": findings})))  # type: ignore[arg-type]
    assert (first.heading, list(first.sentences)) == ("What to look at", said)
