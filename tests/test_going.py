# SPDX-License-Identifier: BSD-3-Clause
"""Public names that go: they warn in the promised words, are in the changelog, and are gone when they should be."""

from __future__ import annotations

import importlib
import inspect
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from typing_extensions import deprecated

import pipelines  # noqa: F401 (luigi takes its configuration from the directory where it is first imported)
from swftools import __version__
from swftools.deprecation import SAYS, renamed
from tests.folders import ROOT
from tests.pages import DOCS

sys.path.append(str(DOCS))

from site_pages import reference

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def number_of(version: str) -> tuple[int, ...]:
    """Return a version to be compared."""
    return tuple(int(part) for part in version.split(".")[:2])


def faults(name: str, each: Any, changelog: str, version: str) -> Iterator[str]:
    """Yield what is wrong with a public name that goes; nothing for one that stays."""
    text = getattr(each, "__deprecated__", None)
    going = {} if text is None else {name: SAYS.fullmatch(text)}
    for old, removed_in in getattr(each, "renamed", {}).items():
        going[f"{name}({old}=)"] = SAYS.fullmatch(f"use something; {removed_in} removes it")
    for what, said in going.items():
        if said is None:
            yield f"{what}: {text!r} does not say what to use, and which version removes it"
            continue
        if number_of(said["version"]) <= number_of(version):
            yield f"{what}: {said['version']} was to remove it"
        if what not in changelog.partition("### Going")[2]:
            yield f"{what}: the changelog does not list it under Going"


def public() -> Iterator[tuple[str, Any]]:
    """Yield every public name, and the methods of public classes."""
    for package in reference.PACKAGES:
        module = importlib.import_module(package)
        for name in reference.public_names(package):
            each = getattr(module, name)
            yield f"{package}.{name}", each
            if inspect.isclass(each):
                yield from ((f"{package}.{name}.{key}", value) for key, value in vars(each).items() if key[0] != "_")


def test_names_that_go_keep_the_promise() -> None:
    """Every public name, function by function."""
    seen = dict(public())
    assert len(seen) > 300
    assert [] == [fault for name, each in seen.items() for fault in faults(name, each, CHANGELOG, __version__)]


@deprecated("use read_log; 2.1 removes it")
def read_old() -> str:
    """Return what the new one returns."""
    return "read"


@deprecated("it is old")
def read_older() -> None:
    """Say too little."""


@renamed("cpus", "processors", "2.1")
def double(processors: int, by: int = 2) -> int:
    """Multiply."""
    return processors * by


def test_a_function_that_goes_warns() -> None:
    """And still works."""
    with pytest.warns(DeprecationWarning, match=r"use read_log; 2\.1 removes it"):
        assert read_old() == "read"


def test_a_parameter_by_its_old_name_warns() -> None:
    """Where it is called, and still works; by its new name nothing is said."""
    with pytest.warns(DeprecationWarning, match=r"^double\(cpus=\): use processors=; 2\.1 removes it$") as told:
        assert double(cpus=4, by=3) == 12  # type: ignore[call-arg]
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert double(4) == double(processors=4) == 8
    with pytest.raises(TypeError, match="give processors= alone"):
        double(cpus=4, processors=5)  # type: ignore[call-arg]
    assert (double.__name__, double.__doc__) == ("double", "Multiply.")


@pytest.mark.parametrize(
    ("each", "changelog", "version", "wrong"),
    [
        (read_old, "### Going\n* read: use read_log", "2.0.3", []),
        (read_old, "### Going\n", "2.0.3", ["read: the changelog does not list it under Going"]),
        (read_old, "read\n### Going\n", "2.0.3", ["read: the changelog does not list it under Going"]),
        (read_old, "### Going\n* read", "2.1.0", ["read: 2.1 was to remove it"]),
        (read_old, "### Going\n* read", "10.0.0", ["read: 2.1 was to remove it"]),
        (read_older, "### Going\n* read", "1.0.0", ["read: 'it is old' does not say what to use, and which"]),
        (double, "### Going\n* read(cpus=)", "2.0.0", []),
        (double, "### Going\n* read", "2.0.0", ["read(cpus=): the changelog does not list it under Going"]),
        (double, "### Going\n* read(cpus=)", "3.0.0", ["read(cpus=): 2.1 was to remove it"]),
        (len, "", "1.0.0", []),
    ],
)
def test_a_broken_promise_is_seen(each: Any, changelog: str, version: str, wrong: list[str]) -> None:
    """Words that say too little, a name that should be gone, a changelog that is silent."""
    found = list(faults("read", each, changelog, version))
    assert len(found) == len(wrong)
    assert all(fault.startswith(start) for fault, start in zip(found, wrong, strict=True))
