# SPDX-License-Identifier: BSD-3-Clause
"""What is planted: every kind, as Python, the same by the same seed; and tests are near to every file."""

from __future__ import annotations

import ast
import random

import pytest

from tests.examples import by_day
from tests.folders import ROOT
from tests.mutants.__main__ import HARMLESS, candidates, choose, harmless, lines_of_diff, report
from tests.mutants.changes import KINDS, changes_of, is_real
from tests.mutants.nearest import nearest, room_of, sources

EXAMPLE = b'''
"""Words with 1 < 2 are no code."""
def f(a: int = 3, b=True) -> int:
    """Nor are these: not 1."""
    if a < b and not a is None:
        log(f"{a} \xc3\xa4 record{'s' * (a != 1)}")
    rows = [-x for x in range(a) if x not in b]
    a += rows[a:][0] // 2.5
    return "x" + a if a - 1 >= 0 else a[: len(b)]
'''


def drawn(text: bytes) -> dict[str, set[tuple[str, str]]]:
    """Return the old and new words of the changes of a text, by kind."""
    found: dict[str, set[tuple[str, str]]] = {kind: set() for kind in KINDS}
    for change in changes_of(text):
        assert is_real(text, change)
        found[change.kind].add((text[change.begin : change.end].decode(), change.new.decode()))
    return found


def test_all_kinds_of_changes() -> None:
    """Each is found where it stands, also in the braces of a text and behind letters of several bytes."""
    assert drawn(EXAMPLE) == {
        "comparison": {
            *(("<", "<="), ("<", ">"), ("is", "is not"), ("!=", "=="), ("not in", "in"), (">=", ">"), (">=", "<=")),
        },
        "logic": {("and", "or")},
        "condition": {
            ("a < b and not a is None", "(not (a < b and not a is None))"),
            ("x not in b", "(not (x not in b))"),
            ("a - 1 >= 0", "(not (a - 1 >= 0))"),
        },
        "negation": {("not a is None", "a is None")},
        "sign": {("-x", "x"), ("+", "-"), ("//", "/"), ("-", "+")},
        "constant": {
            *(("3", "4"), ("3", "2"), ("True", "False"), ("1", "2"), ("1", "0"), ("0", "1"), ("0", "(-1)")),
            *(("2.5", "3.5"), ("2.5", "5.0")),
        },
        "bound": {
            *(("a", "(a) + 1"), ("a", "(a) - 1"), ("len(b)", "(len(b)) + 1"), ("len(b)", "(len(b)) - 1")),
        },
        "left out": {(EXAMPLE.decode().splitlines()[5].strip(), "pass")},
    }


def test_a_change_says_its_line() -> None:
    """Of both sides; also where an operator stands on a line of its own."""
    text = b"a = (\n    1\n    < b\n)\n"
    (change,) = [each for each in changes_of(text) if each.new == b"<="]
    assert (change.line, change.lines(text)) == (3, ("< b", "<= b"))


def test_types_and_comments_are_left_alone() -> None:
    """What is not run cannot be caught; an operator behind a comment may be the comment's."""
    text = b"if TYPE_CHECKING:\n    x = 1 < 2\ny: Literal[1]\nz = (a  # <\n    < b)\n"
    assert changes_of(text) == []


@pytest.mark.parametrize("seed", by_day(range(3), 1))
def test_the_same_seed_draws_the_same(seed: int) -> None:
    """None twice, all of them Python, and another seed draws others."""
    found = candidates(ROOT, "swftools/drift", None)
    chosen = choose(ROOT, found, 15, seed)
    assert chosen == choose(ROOT, found, 15, seed)
    assert chosen != choose(ROOT, found, 15, seed + 1)
    assert len(set(chosen)) == 15
    for source, change in chosen:
        assert source.startswith("swftools/drift/")
        text = (ROOT / source).read_bytes()
        assert ast.dump(ast.parse(change.of(text))) != ast.dump(ast.parse(text))


def test_all_kinds_are_drawn() -> None:
    """A kind is as likely as another, however few there are of it."""
    source = "swftools/qbets/evaluation.py"
    found = {source: changes_of((ROOT / source).read_bytes())}
    kinds = {change.kind for change in found[source]}
    assert {change.kind for _, change in choose(ROOT, found, 60, 0)} == kinds
    assert len(kinds) > 4


def test_lines_of_a_difference() -> None:
    """Only what is new; a file that got shorter has none."""
    diff = (
        "--- a.py\n+++ a.py\n@@ -3 +3,2 @@ def f\n+x\n+y\n@@ -9,0 +11 @@\n+z\n--- b.py\n+++ b.py\n@@ -4,2 +3,0 @@\n-u\n"
    )
    assert lines_of_diff(diff) == {"a.py": {3, 4, 11}}
    source = "swftools/qbets/evaluation.py"
    line = changes_of((ROOT / source).read_bytes())[-1].line
    assert {change.line for change in candidates(ROOT, "", {source: {line}})[source]} == {line}
    assert candidates(ROOT, "pipelines", {source: {line}}) == {}


def test_every_file_has_tests_near_it() -> None:
    """Of its room at least, and each once."""
    for source in random.Random(0).sample(sources(ROOT), 6):
        groups = nearest(ROOT, source)
        tests = [test for group in groups for test in group]
        assert tests
        assert len(tests) == len(set(tests))
        assert all((ROOT / test).is_file() for test in tests)


def test_which_tests_are_nearest() -> None:
    """By name, then by import, then of the room; a room without tests has those of the room it is in."""
    by_name, by_import, room = nearest(ROOT, "swftools/simulator/search/objectives.py")
    assert by_name == ["tests/simulator/search/test_objectives.py"]
    assert "tests/simulator/search/test_is_better.py" in by_import
    assert "tests/simulator/search/test_tree_of_orders.py" in room
    assert room_of(ROOT, "swftools/simulator/machine/verbs.py") == "tests/simulator"
    assert room_of(ROOT, "pipelines/history/policy_watch.py") == "tests/pipelines/history"
    assert room_of(ROOT, "swftools/errors.py") == "tests"


def test_what_is_known_to_be_harmless_is_still_there() -> None:
    """A line of the list whose change no file has any more says nothing."""
    for source, before, after in harmless():
        text = (ROOT / source).read_bytes()
        assert (before, after) in {change.lines(text) for change in changes_of(text)}, HARMLESS.name


def test_the_share_and_the_status(capsys: pytest.CaptureFixture[str]) -> None:
    """What times out is caught, and what was not judged does not count."""
    assert report({"caught": 18, "times out": 1, "not caught": 1, "not judged": 5}) == 0
    assert "19 of 20 caught, 95.0%" in capsys.readouterr().out
    assert report({"caught": 18, "not caught": 1}) == 1
    assert report({"not judged": 1}) == 1
