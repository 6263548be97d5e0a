# SPDX-License-Identifier: BSD-3-Clause
"""Twins: the same text calls other kernels, at any depth, compiled and interpreted; each is kept apart on disk."""

from __future__ import annotations

import dis
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from swftools.kernel import Kernel, kernel
from swftools.kernel.sources import fingerprint
from swftools.kernel.twins import Twins, _globals_of, reached_from
from tests.folders import ROOT
from tests.forked import NUMBA


@kernel
def rule(x: int) -> int:
    """Be exchanged."""
    return x + 1


@kernel
def other_rule(x: int) -> int:
    """Stand in its place."""
    return x + 100


@kernel
def between(x: int) -> int:
    """Call it; call what calls nothing that is exchanged."""
    return 2 * rule(x) + apart(x)


@kernel(allocates=False)
def apart(x: int) -> int:
    """Reach nothing that is exchanged."""
    return x * 0


@kernel(allocates=False, apart=True)
def remote(x: int) -> int:
    """Reach it, and stay apart."""
    return between(x)


@kernel(allocates=False, merges=True)
def outer(x: int, more: int = 3) -> int:
    """Reach it through another one."""
    return between(x) + more


def decide(x: int, *, more: int = 5) -> int:
    """Reach it likewise, as a function of Python."""
    return outer(x) + more


def within(x: int) -> list[int]:
    """Call it in functions within."""

    def once() -> int:
        return rule(x)

    return [*(rule(each) for each in range(x)), once()]


def plain(x: int) -> int:
    """Reach nothing that is exchanged."""
    return apart(x) + 1


@pytest.fixture
def twins() -> Twins:
    """Return what exchanges the rule."""
    return Twins("there", {rule: other_rule})


@contextmanager
def interpreted() -> Iterator[None]:
    """Run kernels as Python, also those that are called by kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "__call__", lambda own, *arguments, **named: own.py_func(*arguments, **named))
        yield


def test_the_other_is_called_at_any_depth(twins: Twins) -> None:
    """Through kernels between; and the first text still calls the first."""
    with interpreted():
        assert (decide(7), twins.of(decide)(7)) == (2 * 8 + 3 + 5, 2 * 107 + 3 + 5)
        assert (outer(7), twins.standing_for(outer)(7)) == (19, 217)
        assert twins.standing_for(rule)(7) == 107


def test_defaults_are_those_of_the_first(twins: Twins) -> None:
    """Of arguments by place and by name; its name tells which one it is."""
    with interpreted():
        assert twins.standing_for(outer)(7, 0) == 214
        assert twins.of(decide)(7, more=0) == 217
    twin = twins.of(decide)
    assert (twin.__module__, twin.__qualname__, twin.__doc__) == (__name__, "decide.there", decide.__doc__)


def test_how_it_is_compiled_is_that_of_the_first(twins: Twins) -> None:
    """Whether it makes arrays, and becomes a part of those that call it."""
    twin = twins.standing_for(outer)
    assert (twin.allocates, twin.merges, twin.signature) == (False, True, None)
    assert twins.standing_for(between).allocates
    assert not twin.apart
    assert twins.standing_for(remote).apart


def test_what_reaches_nothing_exchanged_is_itself(twins: Twins) -> None:
    """Functions, kernels and all else, so that the machine code is shared."""
    assert twins.of(plain) is plain
    assert twins.standing_for(apart) is apart
    assert twins.standing_for(other_rule) is other_rule
    assert twins.standing_for(value := [1]) is value
    assert twins.standing_for(between).py_func.__globals__["apart"] is apart


def test_there_is_one_of_each(twins: Twins) -> None:
    """However it is reached."""
    assert twins.of(decide) is twins.of(decide)
    assert twins.standing_for(outer) is twins.of(decide).__globals__["outer"]
    assert twins.standing_for(between) is twins.standing_for(outer).py_func.__globals__["between"]


def test_functions_within_functions(twins: Twins) -> None:
    """They look names up in the same place."""
    with interpreted():
        assert within(2) == [1, 2, 3]
        assert twins.of(within)(2) == [100, 101, 102]


def test_tuples_that_are_lent_can_be_exchanged() -> None:
    """Any object can stand in the place of another one, by its identity and not because it is equal."""
    scope: dict[str, Any] = {"LENT": (1, 2), "__name__": __name__}
    exec("def first():\n    return LENT[0]\n", scope)
    first = scope["first"]
    assert Twins("there", {scope["LENT"]: (7, 2)}).of(first)() == 7
    assert Twins("there", {(1, *[2]): (7, 2)}).of(first) is first


def test_what_is_reached(twins: Twins) -> None:
    """Kernels at any depth; of the twin the others."""
    assert reached_from(decide) >= {id(outer), id(between), id(rule), id(apart)}
    there = reached_from(twins.of(decide))
    assert there >= {id(other_rule), id(apart)}
    assert not there & {id(outer), id(between), id(rule)}
    assert reached_from(within) == {id(rule)}
    assert reached_from(plain) == {id(apart)}


def test_modules_and_functions_around(twins: Twins) -> None:
    """What a function looks up of a module, and what one around it gives it, are exchanged too."""
    module = ModuleType("rules")
    module.rule, module.more = rule, 5  # type: ignore[attr-defined]

    def made(called: Any) -> Any:
        return lambda x: called(x) + module.rule(x) + module.more

    by_both = made(rule)
    assert twins.of(by_both).__closure__ is not None
    assert by_both(1) == 2 + 2 + 5
    assert twins.of(by_both)(1) == 101 + 101 + 5
    assert module.rule is rule
    scope: dict[str, Any] = {"rules": module, "__name__": __name__}
    exec("def by_module(x):\n    return rules.rule(x)\n", scope)
    assert twins.of(scope["by_module"])(1) == 101
    assert reached_from(scope["by_module"]) >= {id(rule)}


@kernel
def around(x: int) -> int:
    """Call itself, as kernels of one's own may."""
    return rule(x) if x > 3 else around(x + 1)


def test_what_calls_itself_has_a_twin(twins: Twins) -> None:
    """Which calls itself, and is made once."""
    found = twins.standing_for(around)
    assert found is not around
    assert found.py_func.__globals__["around"] is found
    assert found.py_func.__globals__["rule"] is other_rule


def test_fingerprints_differ(twins: Twins) -> None:
    """By what is exchanged, however far away; and not of what is shared."""
    for function in (decide, outer.py_func, between.py_func, within):
        assert fingerprint(twins.of(function)) != fingerprint(function)
        assert fingerprint(twins.of(function)) == fingerprint(Twins("there", {rule: other_rule}).of(function))
    assert fingerprint(twins.of(decide)) != fingerprint(Twins("there", {rule: apart}).of(decide))
    assert fingerprint(twins.of(plain)) == fingerprint(plain)


CASE = """
from swftools.kernel import kernel
from swftools.kernel.twins import Twins

@kernel
def rule(x):
    return x + 1

@kernel
def other_rule(x):
    return x + 100

@kernel
def between(x):
    return 2 * rule(x)

@kernel
def outer(x):
    return between(x) + 3

def twin(name="there"):
    return Twins(name, {rule: other_rule}).standing_for(outer)
"""

TOLD = """
import sys
from swftools.kernel import watch_compiling
import case_of_twins
names = []
with watch_compiling(lambda count, name: names.append(name.rpartition("case_of_twins.")[2])):
    for each in sys.argv[1:]:
        print({"first": case_of_twins.outer, "twin": case_of_twins.twin()}[each](7))
print(*names)
"""


@pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")
def test_both_are_kept_on_disk(tmp_path: Path) -> None:
    """Whichever was first: another process finds its own code of each, and compiles nothing."""
    (tmp_path / "case_of_twins.py").write_text(CASE)

    def run(*which: str) -> list[str]:
        environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
        environment |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        done = NUMBA.run([sys.executable, "-c", TOLD, *which], tmp_path, environment)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    assert run("first") == ["19", "outer between rule"]
    assert run("twin") == ["217", "outer.there between.there other_rule"]
    assert run("first", "twin", "first") == ["19", "217", "19", ""]
    assert run("twin", "first") == ["217", "19", ""]


def test_names_that_are_looked_up_are_those_that_dis_tells() -> None:
    """Of kernels, of functions within functions, and of more names than a byte counts."""
    names: dict[str, Any] = {}
    many = ", ".join(f"n{number}" for number in range(33_000))
    exec(f"def long(own):\n    return own.first, (lambda: inner)(), {many}\n", names)
    for function in (names["long"], decide, outer.py_func, Twins.standing_for, Twins.of):
        codes, found = [function.__code__], set()
        while codes:
            code = codes.pop()
            found |= {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
            codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        assert _globals_of(function.__code__) == tuple(sorted(found))
