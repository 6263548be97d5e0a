# SPDX-License-Identifier: BSD-3-Clause
"""YAML as a person writes it: what each text means, which are refused, and on which line a value stands."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from swftools.parameters import strict_yaml
from swftools.parameters.strict_yaml import NotYamlError, lines_of, read_yaml

VALUES: dict[str, Any] = {
    "~ null Null NULL": None,
    "true True TRUE": True,
    "false False FALSE": False,
    "12 +12 1_2 012 0xc 0o14 0xC": 12,
    "-12": -12,
    "1.5 +1.5 15e-1 1.5E+0 1_5.0e-1 0.15e1": 1.5,
    ".5 5e-1 +.5": 0.5,
    "1. 1e0": 1.0,
    ".inf .Inf .INF +.inf": math.inf,
    "-.inf": -math.inf,
}
TEXTS = "no yes on off y N nUll tRue 0b1 0o8 0xg -0x1 1e .e1 . + inf nan 1.2.3 2020-01-01 12:30:00 = <<"


@pytest.fixture(params=["libyaml", "Python"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse by both parsers of PyYAML."""
    if request.param == "Python":
        monkeypatch.setattr(strict_yaml, "_QUICK_LOADER", yaml.SafeLoader)


@pytest.mark.parametrize("words", VALUES)
def test_what_plain_words_mean(words: str) -> None:
    """By YAML 1.2; in quotes each is a text."""
    for word in words.split():
        found, expected = read_yaml(f"[{word}]")[0], VALUES[words]
        assert (found, type(found)) == (expected, type(expected)), word
        assert read_yaml(f"['{word}', \"{word}\"]") == [word, word]


def test_other_words_are_texts() -> None:
    """Also those that were truth values, dates or numbers by YAML 1.1."""
    words = TEXTS.split()
    assert read_yaml("\n".join(f"- {word}" for word in words)) == words
    assert math.isnan(read_yaml(".NaN"))
    assert [read_yaml(text) for text in ("", "# nothing", "---", "a:")] == [None, None, None, {"a": None}]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: 2\na: 3", r"line 3: .* duplicate key .a. in the mapping that begins in line 1; remove one"),
        ("a: 1\nb: &x 2", "line 2: .* anchor or alias 'x'"),
        ("a: 1\nb: *x", "line 2: .* anchor or alias 'x'"),
        ("a: 1\nb: !!str 2", "line 2: .* tag 'tag:yaml.org,2002:str'; leave it out"),
        ("a: 1\n? [b]\n: 2", "line 2: .* unhashable key"),
        ("a: 1\n---\nb: 2", "line 2: .* another document"),
        ("a: 1\n<<: 2", "line 2: .* << stands before what is no mapping"),
        ("a: 1\n" + "b: " + "[" * 13, "line 2: .* more than 12 levels"),
        ("a: 1\nb: [", "line [23]: "),
        ("? " * 30_000, "line 1: .* unhashable key"),
        ("a: \x00", "not readable as YAML"),
        ("9" * 5000, "not readable as YAML: .* 5000 digits"),
    ],
)
def test_what_is_refused(text: str, told: str) -> None:
    """By one error with the line where there is one."""
    with pytest.raises(NotYamlError, match=told):
        read_yaml(text)


def test_twelve_levels_are_read() -> None:
    """Lists and mappings alike."""
    assert read_yaml("[" * 12 + "]" * 12) == [[[[[[[[[[[[]]]]]]]]]]]]
    assert read_yaml("{a: " * 12 + "1" + "}" * 12)["a"]["a"]["a"]


def test_mappings_are_merged() -> None:
    """The mapping's own keys count, then those that were merged first."""
    assert read_yaml("b: 1\n<<: [{a: 2, b: 2}, {a: 3, c: 3}]") == {"a": 2, "b": 1, "c": 3}


def test_lines() -> None:
    """Of a key, of an item of a list, and of the nearest that encloses what is not there."""
    data = b"# a comment\na: 1\nb:\n  - c: 2\n  - d:\n      e: 3\nf: {g: 4,\n  h: 5}\n"
    paths = [(), ("a",), ("b",), ("b", 0), ("b", 1, "d", "e"), ("b", 1, "x", "y"), ("f", "h"), ("z",)]
    assert lines_of(data, paths) == [1, 2, 3, 4, 6, 5, 8, 1]


@given(st.text(alphabet="019_.-+exi~: \n#'\"[]{},?&*!<%|>\té\\=@`\x00\ufeff\x85\r", max_size=40))
def test_whatever_is_typed(text: str) -> None:
    """It is a value, or one error."""
    with suppress(NotYamlError):
        read_yaml(text)
