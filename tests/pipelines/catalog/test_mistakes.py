# SPDX-License-Identifier: BSD-3-Clause
"""A mistake in a catalogue is reported with its line, card, key and remedy, and all mistakes at once."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.catalog.reader import read_catalog
from swftools.errors import CatalogError
from swftools.parameters.strict_yaml import NotYamlError, read_yaml
from tests.pipelines.catalog.cards import CARD, second_card, with_line

EXCERPT = "SDSC-BLUE-2000-4.2-cln-5000-9999"


@pytest.fixture
def problems(tmp_path: Path) -> Callable[[str | bytes], str]:
    """Return the message that a catalogue is refused with, without its path."""

    def run(text: str | bytes) -> str:
        path = tmp_path / "catalog.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        with pytest.raises(CatalogError) as caught:
            read_catalog(path)
        head, _, rest = str(caught.value).partition("catalog.yaml")
        assert head.startswith("/")
        return rest

    return run


WRONG = {
    "unknown key": ("jbos: 10", "jobs: 10", r"line 10: logs > SITE-1 > jbos: unknown key; did you mean jobs\?"),
    "unknown key of machine": (
        "xyz: 4",
        "processors_per_node: 4",
        "line 15.* > xyz: unknown key; known are name, proc",
    ),
    "nodes and a file": (
        "processors_per_node: 4\n      nodes: [{names: n1, cores: 4}]\n      description: x.yaml",
        "processors_per_node: 4",
        r"2 problems\n  line 17: .*machine > description: the card has nodes too; .*\n  line 17: .*there is no file",
    ),
    "partitions without nodes": (
        "processors_per_node: 4\n      partitions: [{name: p}]",
        "processors_per_node: 4",
        "line 16: .*machine > partitions: the card has partitions and no nodes; describe the nodes, or leave part",
    ),
    "order without nodes": (
        "processors_per_node: 4\n      order: names",
        "processors_per_node: 4",
        "line 16: .*machine > order: the card has order and no nodes",
    ),
    "unknown nodes of a partition": (
        "processors_per_node: 4\n      nodes: [{names: n1, cores: 4}]\n      partitions: [{name: p, nodes: n2}]",
        "processors_per_node: 4",
        "line 17: .*machine > partitions > 0 > nodes: no node 'n2' is in nodes",
    ),
    "wrong nodes": (
        "processors_per_node: 4\n      nodes: [{names: n1, cors: 4}]",
        "processors_per_node: 4",
        r"2 problems\n  line 16: .*cores: missing; add it\n  line 16: .*cors: unknown key; did you mean cores",
    ),
    "unknown key of queue": ("rank: 0", "priority_rank: 0", r"queues > 1 > rank: .* mean priority_rank"),
    "unknown top key": ("log:", "logs:", r"line 1: log: unknown key; did you mean logs"),
    "name inside": ("name: x\n    jobs: 10", "jobs: 10", "SITE-1 > name: unknown key; the card's own key is its name"),
    "missing key": ("", "    title: A log\n", "line 2: logs > SITE-1 > title: missing; add it"),
    "missing key of machine": ("", "      processors: 100\n", "machine > processors: missing"),
    "empty text": ('title: ""', "title: A log", "line 3: .*title: should have at least 1 character, not ''"),
    "nothing": ("title:", "title: A log", "title: should be a valid string, not None$"),
    "number for text": ("title: 3", "title: A log", "title: should be a valid string, not 3; put it in quotes"),
    "text for number": ("jobs: many", "jobs: 10", "jobs: should be a valid integer, not 'many'"),
    "truth for number": ("jobs: true", "jobs: 10", "jobs: should be a valid integer, not True"),
    "fraction": ("jobs: 1.5", "jobs: 10", "jobs: should be a valid integer, not 1.5"),
    "huge number": (f"jobs: {'9' * 50}", "jobs: 10", "jobs: should be less than or equal to 9007199254740992, not 999"),
    "endless number": (f"jobs: {'9' * 5000}", "jobs: 10", "not readable as YAML: .* 5000 digits"),
    "date for text": ("jobs: 2004-03-06", "jobs: 10", "line 10: .*jobs: should be a valid integer, not '2004-03-06'"),
    "hexadecimal for text": (
        "title: 0x10",
        "title: A log",
        "title: should be a valid string, not 16; put it in quotes",
    ),
    "negative": ("jobs: -1", "jobs: 10", "jobs: should be greater than or equal to 0, not -1"),
    "no processors": ("processors: 0", "processors: 100", "processors: should be greater than or equal to 1, not 0"),
    "short sha256": ("sha256: abc", f"sha256: {'a' * 64}", "line 8: .*sha256: should be 64 lower-case hexadecimal"),
    "capital sha256": (f"sha256: {'A' * 64}", f"sha256: {'a' * 64}", "sha256: should be 64 lower-case hexadecimal"),
    "other format": ("format: csv", "format: swf", "format: no log format 'csv'; there are: "),
    "time zone": (
        "time_zone: Europe/Stokholm",
        "time_zone: Europe/Stockholm",
        "Stokholm'.* mean Europe/Stockholm",
    ),
    "time zone like a path": ("time_zone: ../x", "time_zone: Europe/Stockholm", r"no time zone '\.\./x' is known here"),
    "time zone, a directory": ("time_zone: America", "time_zone: Europe/Stockholm", "no time zone 'America'"),
    "machine is a word": (
        "machine: SP2\n    x:",
        "machine:",
        r"line 12: .*machine: should be a mapping \(KEY: VALUE\)",
    ),
    "queue without card": ("2: low\n    #", "2:", r"line 19: .*queues > 2: should be a mapping"),
    "queue name": ("two:", "2:", "line 19: .*queues > two: should be a valid integer, not 'two'"),
    "negative queue": ("-1:", "2:", "queues > -1: should be greater than or equal to 0, not -1"),
    "duplicate rank": (
        "priority_rank: 0, why: b",
        "priority_rank: 1, why: b",
        "2 > priority_rank: rank 0 is queue 1's too",
    ),
    "gap": ("priority_rank: 2,", "priority_rank: 1,", "queues: the ranks are 0, 2; they should be 0 to 1 without gaps"),
    "no rank 0": ("priority_rank: 2,", "priority_rank: 0,", "the ranks are 1, 2; they should be 0 to 1"),
    "no owner": ("priority_rank: 1, shared_rank: true,", "priority_rank: 1,", "shared_rank: no queue owns rank 1"),
    "unsafe name": ("../SITE:", "SITE-1:", r"line 2: logs > \.\./SITE: name '\.\./SITE': use at most"),
    "numeric name": ("7:", "SITE-1:", "line 2: logs > 7: should be a valid string, not 7; put it in quotes"),
    "reserved name": ("LATEST:", "SITE-1:", "logs > LATEST: name 'LATEST': use at most"),
}


@pytest.mark.parametrize("case", WRONG)
def test_one_mistake(problems: Callable[[str | bytes], str], case: str) -> None:
    """A mistake is reported with its line, card, key and remedy."""
    line, instead_of, expected = WRONG[case]
    assert re.search(expected, problems(with_line(line, instead_of)), re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("url: http://example.org/x", "does not begin with https://"),
        ("url: ftp://example.org/x", "does not begin with https://"),
        ("url: file:///etc/passwd", "is not a web address"),
        ("url: example.org/x", "is not a web address"),
        ("url: https://", "is not a web address"),
        ('url: "https://example.org/a b"', "is not a web address"),
        ("url: https://[1/x", "is not a web address"),
        ("url: https://me:secret@example.org/x", "holds a user name or password"),
        ("file: ../../setup.cfg", "leaves pipelines/resources"),
        ("file: /etc/passwd", "leaves pipelines/resources"),
        ("file: logs/absent.swf.gz", "is not shipped"),
        ("file: logs", "is not shipped"),
        (f"file: logs/{EXCERPT}.swf.gz\n    url: https://example.org/x", "has a url too; keep one"),
        ("anomalies: one", r"should be a list \(- ITEM\), not 'one'"),
        ("anomalies: [3]", "anomalies > 0: should be a valid string"),
        ("cleaning: [{days: 3}]", "cleaning > 0 > rule: missing"),
        ("cleaning: [7]", "cleaning > 0: should be a mapping"),
        ("published_filters: [{usr: 3}]", "published_filters > 0 > usr: unknown key; did you mean user"),
        ("alternatives: {b: {whi: x}}", "alternatives > b > whi: unknown key; did you mean why"),
        ("alternatives: {b: {why: x, priority_ranks: {1: no}}}", "priority_ranks > 1: should be a valid integer"),
        ("published_filters: [{user: 3}]", "published_filters > 0 > first_job: missing"),
        ("alternatives: {b: {why: x, priority_ranks: {1: 0, 3: 1}, other_queues: 2}}", "the card has no queue 3"),
        ("alternatives: {b: {why: x, priority_ranks: {1: 0, 2: 0}}}", "rank 0 is queue 1's too"),
        ("alternatives: {b: {why: x, priority_ranks: {1: 0, 2: 2}}}", "alternatives > b: the ranks are 0, 2;"),
        (
            "alternatives: {b: {why: x, priority_ranks: {1: 0}, other_queues: 2}}",
            "alternatives > b: the ranks are 0, 2;",
        ),
        ("alternatives: {b: {why: x, priority_ranks: {1: 0}}}", "no rank for the queues 2; name them"),
        ("based_on: SITE-1", "there is no other card 'SITE-1'"),
        ("based_on: [1]", "based_on: should be a valid string"),
    ],
)
def test_wrong_optional_key(problems: Callable[[str | bytes], str], text: str, expected: str) -> None:
    """A mistake in an optional key is reported with its line, card and key."""
    message = problems(f"{CARD}    {text}\n")
    assert re.search(expected, message)
    assert re.search(r"line 2[01]: logs > SITE-1 > ", message)


def test_secret_is_not_repeated(problems: Callable[[str | bytes], str]) -> None:
    """A password in an address does not appear in the message."""
    assert "secret" not in problems(f"{CARD}    url: https://me:secret@example.org/x\n")


def test_all_at_once(problems: Callable[[str | bytes], str]) -> None:
    """All mistakes of a file are listed in one message, in the order of lines."""
    text = with_line("jbos: ten", "jobs: 10").replace("Stockholm", "Nowhere").replace("rank: 1", "rank: 0")
    message = problems(text + "data_sets:\n  B: {title: t, description: d, log: SITE}\n")
    lines = message.splitlines()
    assert lines[0] == ": 5 problems"
    assert [re.match(r"  line (\d+): ", line)[1] for line in lines[1:]] == ["2", "10", "16", "19", "21"]  # type: ignore[index]
    assert lines[-1].endswith("there is no card 'SITE' under logs; did you mean SITE-1?")


def test_duplicate_checksum(problems: Callable[[str | bytes], str]) -> None:
    """Two cards of one text are refused."""
    assert "line 23: logs > SITE-2 > sha256: the same as in card 'SITE-1'" in problems(
        second_card().replace("b" * 64, "a" * 64)
    )


def test_names_that_differ_in_case(problems: Callable[[str | bytes], str]) -> None:
    """Names that are one file on some systems are refused."""
    assert "differs from 'SITE-1' only in case" in problems(second_card(name="Site-1"))


def test_inherited_mistake_is_told_once(problems: Callable[[str | bytes], str]) -> None:
    """A mistake in the card that another is based on is reported there only."""
    message = problems(
        second_card().replace("processors: 100", "processors: x").replace("priority_rank: 1", "priority_rank: 0")
    )
    assert message.startswith(": 2 problems")
    assert "SITE-2" not in message


@pytest.mark.parametrize(
    ("base", "expected"), [("SITE-3", "no other card 'SITE-3'"), ("SITE-2", "no other card"), ("SITE", "mean SITE-1")]
)
def test_based_on_nothing(problems: Callable[[str | bytes], str], base: str, expected: str) -> None:
    """A card that is based on none that there is, or on itself, is refused in one line."""
    message = problems(second_card().replace("based_on: SITE-1", f"based_on: {base}"))
    assert message.startswith(", line 21: logs > SITE-2 > based_on: ")
    assert expected in message


def test_based_on_in_two_steps(problems: Callable[[str | bytes], str]) -> None:
    """A card may not be based on one that is itself based on another, so that there are no circles."""
    text = (
        second_card()
        + "  SITE-3:\n    based_on: SITE-2\n    title: C\n    sha256: "
        + "c" * 64
        + "\n    bytes: 1\n    jobs: 1\n"
    )
    assert "card 'SITE-2' is itself based on another" in problems(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the file is empty"),
        ("# nothing\n", "the file is empty"),
        ("- a\n", "the file is a list; it must be a mapping with the key logs"),
        ("word\n", "the file is a str"),
        ("data_sets: {}\n", "logs: missing"),
        ("logs: 3\n", "line 1: logs: should be a mapping"),
        ("logs:\n", "logs: should be a mapping"),
        ("logs:\n  A: 3\n", "line 2: logs > A: should be a mapping"),
        ("logs: {}\ndata_sets: {A: 3}\n", "line 2: data_sets > A: should be a mapping"),
        ("logs:\n  A: {\n", "line 3: not readable as YAML: "),
        ("logs:\n  A: 'x\n", "line 3: not readable as YAML: "),
        ("logs:\n\tA: 1\n", "line 2: not readable as YAML: found character"),
        ("logs: 1\n---\nlogs: 2\n", "line 2: not readable as YAML: but found another document"),
        ("a: &x 1\n", "line 1: not readable as YAML: anchor or alias 'x'"),
        ("a: *x\n", "anchor or alias 'x'"),
        ("a: !!python/object:os.system {}\n", "tag 'tag:yaml.org,2002:python/object:os.system'; leave it out"),
        ("a: !!int x\n", "tag .*; leave it out"),
        ("<<: {a: 1}\n", "a: unknown key"),
        ("? [a]\n: 1\n", "line 1: not readable as YAML: found unhashable key"),
        ("? {a: 1}\n: 1\n", "line 1: not readable as YAML: found unhashable key"),
        ("logs: " + "[" * 100_000, "more than 12 levels of nesting"),
        ("logs: " + "{a: " * 50_000, "more than 12 levels of nesting"),
        (b"logs: \xff\xfe", "not readable as YAML"),
        (b"logs: \x00", "not readable as YAML"),
        (b"\x1f\x8b\x08\x00", "not readable as YAML"),
        ("#" * (1 << 20) + "\n", "1,048,577 bytes, more than"),
    ],
)
def test_no_catalogue(problems: Callable[[str | bytes], str], text: str | bytes, expected: str) -> None:
    """What is no catalogue at all is refused with a message that says what it is."""
    assert re.search(expected, problems(text))


@pytest.mark.parametrize(
    ("line", "instead_of", "expected"),
    [
        (
            "jobs: 10\n    jobs: 11",
            "jobs: 10",
            'line 11: .*duplicate key "jobs" in the mapping that begins in line 3;',
        ),
        (
            "1: {name: b, ",
            "2: {name: low, ",
            'line 19: .*duplicate key "1" in the mapping that begins in line 18;',
        ),
    ],
)
def test_duplicate_keys(problems: Callable[[str | bytes], str], line: str, instead_of: str, expected: str) -> None:
    """A key that stands twice is refused, however deep, in one line without the values."""
    message = problems(with_line(line, instead_of))
    assert re.match(", " + expected, message)
    assert "value" not in message


def test_bomb(problems: Callable[[str | bytes], str]) -> None:
    """A file of a few lines that would expand to billions of values is refused at once."""
    layers = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    start = time.monotonic()
    assert "anchor or alias 'a0'" in problems("\n".join(layers))
    assert time.monotonic() - start < 5


def test_no_such_file(tmp_path: Path) -> None:
    """A catalogue that is not there, or a directory, is reported by its path."""
    with pytest.raises(CatalogError, match=r"absent\.yaml: No such file or directory; check the path"):
        read_catalog(tmp_path / "absent.yaml")
    with pytest.raises(CatalogError, match="Is a directory"):
        read_catalog(tmp_path)


def test_plain_values() -> None:
    """The reader gives plain values of YAML 1.2, and refuses duplicate keys and aliases at any depth."""
    text = "a: [1, -2, 3.5, 1e6, 2.5e-3, true, null, yes, 1:30, 'x']\nb: {1: c}\n"
    assert read_yaml(text) == {"a": [1, -2, 3.5, 1e6, 2.5e-3, True, None, "yes", "1:30", "x"], "b": {1: "c"}}
    for wrong in ("a: {b: 1, c: 2, b: 3}", "a: [&x 1, *x]", "a: 1\na: 1", "a: {{}: 2}"):
        with pytest.raises(NotYamlError):
            read_yaml(wrong)


def test_json_is_yaml() -> None:
    """JSON as programs write it, with tabs or without blanks, is read too."""
    for indent, separators in (("\t", None), (None, (",", ":"))):
        value = {"a": {"b": [1e300, -0.5, True, None, "x\u0041/"]}}
        assert read_yaml(json.dumps(value, indent=indent, separators=separators)) == value


TABLES = """\
tables:
  SITE-3:
    title: Polls
    producer: A site
    acknowledgement: Somebody
    citation: A paper
    licence: none stated
    format: queue-polls
    files: list.csv
    url: https://x.org/polls/
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("SITE-3", "SITE-1", r"line 21: tables > SITE-1: a log has this name, too; rename one of them"),
        (
            "list.csv",
            "none.csv",
            r"line 28: tables > SITE-3 > files: there is no file .*none\.csv; the path is from the",
        ),
        (
            "url: https://x.org/polls/",
            "folder: none",
            r"line 29: tables > SITE-3 > folder: there is no folder .*none; ",
        ),
        (
            "url: https:",
            "folder: .\n    url: https:",
            r"line 29: tables > SITE-3 > folder: the card has a url too; keep",
        ),
        ("queue-polls", "swf", r"line 27: tables > SITE-3 > format: "),
        ("https:", "ftp:", r"line 29: tables > SITE-3 > url: 'ftp://x.org/polls/' does not begin with https://"),
        ("title: Polls", "titel: Polls", r"titel: unknown key; did you mean title\?"),
    ],
)
def test_cards_of_tables(
    old: str, new: str, message: str, tmp_path: Path, problems: Callable[[str | bytes], str]
) -> None:
    """Names that a log has, paths that are not there, and what is told twice."""
    (tmp_path / "list.csv").write_text("file,sha256\n")
    path = tmp_path / "sound.yaml"
    path.write_text(CARD + TABLES)
    card = read_catalog(path).tables["SITE-3"]
    assert (card.name, card.files, card.folder) == ("SITE-3", str(tmp_path / "list.csv"), None)
    assert re.search(message, problems(CARD + TABLES.replace(old, new)))
