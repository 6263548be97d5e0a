# SPDX-License-Identifier: BSD-3-Clause
"""The registry that all kinds of things share: names, duplicates, parameters, versions, modules of one's own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from swftools.errors import ParameterError
from swftools.parameters.registry import Registry, import_own


def area(width: float) -> float:
    """Return the area of a square."""
    return width * width


def length(width: float) -> float:
    """Return the length of its sides."""
    return 4 * width


@pytest.fixture
def shapes() -> Registry[str]:
    """Two things."""
    made: Registry[str] = Registry("shape", ("shape",))
    made.add("round-table", "a table", area)
    made.add("chair", "a chair", length)
    return made


@pytest.mark.parametrize("name", ["round-table", "Round_Table", "ROUND-TABLE"])
def test_found_however_it_is_spelled(shapes: Registry[str], name: str) -> None:
    """And read with parameters behind it."""
    assert shapes.find(name) == "a table"
    assert shapes.name_of(name) == "round-table"
    assert shapes.read(f"{name}:legs=4,wood=oak") == ("a table", {"legs": 4, "wood": "oak"})
    assert shapes.read(name) == ("a table", {})


def test_listed_in_the_order_of_registration(shapes: Registry[str]) -> None:
    """What is done to the list changes no registry."""
    listed = shapes.list()
    assert list(listed.items()) == [("round-table", "a table"), ("chair", "a chair")]
    listed.clear()
    assert shapes.find("chair") == "a chair"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("chairs", "no shape 'chairs'; there are: chair, round-table; did you mean chair?"),
        ("zzz", "no shape 'zzz'; there are: chair, round-table"),
        ("", "no shape ''; there are: chair, round-table"),
        ("sys:chairs", "no shape 'chairs'; there are: chair, round-table; did you mean chair?"),
        ("sys.py:chair", "shape 'sys.py:chair': name the module without .py, as in sys:chair"),
    ],
)
def test_a_name_that_is_unknown(
    shapes: Registry[str], name: str, told: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message lists all, by the alphabet, and says what may be meant."""
    monkeypatch.chdir(tmp_path)
    for use in (shapes.find, shapes.name_of, lambda text: shapes.read(f"{text}:legs=4")):
        with pytest.raises(ParameterError) as caught:
            use(name) if name else shapes.find(name)
        assert str(caught.value) == told


def test_a_name_is_taken_once(shapes: Registry[str]) -> None:
    """By another function it is refused, and all stays as it was; the same one, defined again, replaces itself."""
    with pytest.raises(ParameterError, match=rf"^shape 'chair' is registered already, by {__name__}$"):
        shapes.add("chair", "a stool", area)
    assert shapes.find("chair") == "a chair"
    shapes.add("chair", "a better chair", length)
    assert shapes.find("chair") == "a better chair"


@pytest.mark.parametrize("name", ["", "a b", "a:b", "-a", "a,b", "a=b", "é"])
def test_what_cannot_be_a_name(shapes: Registry[str], name: str) -> None:
    """It could not be read back from a text."""
    with pytest.raises(ParameterError, match=r"a name is of letters, digits and -\._$"):
        shapes.add(name, "a thing", area)
    assert len(shapes.known) == 2


def test_the_decorator_registers_what_is_made(shapes: Registry[str]) -> None:
    """The function behind it stays what it was; what is refused when it is made is not registered."""

    def made(function: Callable[[float], float]) -> str:
        if function(2.0) < 8:
            raise ParameterError("too small")
        return f"of {function(2.0):g}"

    assert shapes.decorator("long", made, version=3)(length) is length
    assert shapes.find("long") == "of 8"
    with pytest.raises(ParameterError, match="too small"):
        shapes.decorator("wide", made)(area)
    assert "wide" not in shapes.known
    with pytest.raises(ParameterError, match="registered already"):
        shapes.decorator("chair", lambda function: "another", version=1)(area)


@pytest.mark.parametrize("version", [0, -1, 1.0, True, "1", None])
def test_a_version_that_is_none(shapes: Registry[str], version: Any) -> None:
    """It is refused before anything is defined."""
    with pytest.raises(ParameterError, match=rf"^shape 'wide': version={version!r} is not an integer of 1 or more$"):
        shapes.decorator("wide", lambda function: "a thing", version=version)


def test_parameters_in_the_text_and_beside_it(shapes: Registry[str]) -> None:
    """Both are given; one that is given twice is refused, whatever its value."""
    beside = {"wood": "oak"}
    assert shapes.read("Chair:legs=4", beside) == ("a chair", {"legs": 4, "wood": "oak"})
    assert beside == {"wood": "oak"}
    with pytest.raises(ParameterError) as caught:
        shapes.read("Chair:wood=oak,legs=4", {"wood": "oak", "legs": 3})
    assert str(caught.value) == "chair: legs, wood is given twice, in 'Chair:wood=oak,legs=4' and beside it"


def test_what_a_file_names_is_not_imported(
    shapes: Registry[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It must be registered already, and by that module."""
    (tmp_path / "never_imported_by_name.py").write_text("raise SystemExit\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert shapes.registered("chair") == shapes.registered(f"{__name__}:chair") == "a chair"
    for name in ("chairs", "never_imported_by_name:chair", "sys:chair"):
        with pytest.raises(ParameterError, match=f"no shape '{name}' is registered here, and nothing is imported"):
            shapes.registered(name)


def test_a_module_of_ones_own_registers_what_is_found(
    shapes: Registry[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By ``module:name``; of one that registers others these are told, and of a file that only lies there too."""
    text = f"from {__name__} import area, SHAPES\n\ndef mine():\n    pass\n\nSHAPES[0].add('bench', 'a bench', mine)\n"
    (tmp_path / "shapes_of_a_test.py").write_text(text, encoding="utf-8")
    (tmp_path / "lies_there.py").write_text("@shape('sofa')\ndef sofa():\n    pass\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules[__name__], "SHAPES", [shapes])
    assert shapes.read("shapes_of_a_test:Bench:legs=2") == ("a bench", {"legs": 2})
    with pytest.raises(ParameterError, match=r"did you mean shapes_of_a_test:bench\?"):
        shapes.find("shapes_of_a_test:stool")
    with pytest.raises(ParameterError, match=r"did you mean lies_there:sofa\?"):
        shapes.find("sofa")
    del sys.modules["shapes_of_a_test"]


SHAPES: list[Registry[str]] = []
"""What the module of a test registers in."""


def test_a_module_of_the_current_folder(tmp_path, monkeypatch):
    """A module of the current folder."""
    (tmp_path / "found_right_here.py").write_text("ANSWER = 7\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.chdir(tmp_path)
    assert import_own("found_right_here").ANSWER == 7
    assert sys.path[-1] == str(tmp_path)


def test_no_file_there_takes_the_place_of_an_installed_module(tmp_path, monkeypatch):
    """No file there takes the place of an installed module."""
    (tmp_path / "wsgiref.py").write_text("raise SystemExit('a file that lies about')\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.delitem(sys.modules, "wsgiref", raising=False)
    monkeypatch.chdir(tmp_path)
    assert hasattr(import_own("wsgiref"), "__path__")


def test_the_error_says_where_it_was_looked_for(tmp_path, monkeypatch):
    """The error says where it was looked for."""
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError) as caught:
        Registry("policy").find("not_here_at_all:mine")
    assert str(tmp_path) in str(caught.value)
    assert "PYTHONPATH" in str(caught.value)
